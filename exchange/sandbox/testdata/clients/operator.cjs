// Walks the operator's own package, as it comes from npm, through its REST side against the exchange at EXCHANGE_URL. Its DELETE requests cannot carry an
// operatorId, so the exchange must let it be left out.
const assert = require('node:assert/strict')
const path = require('node:path')
const { createRequire } = require('node:module')
const operator = createRequire(path.join(process.env.TIDEMARK_CLIENTS, 'walk.cjs'))('bitvavo')

const { apiKey, secret } = JSON.parse(process.env.CREDENTIALS).demo
const client = (key) => operator().options({ APIKEY: key, APISECRET: secret, ACCESSWINDOW: 10000, RESTURL: process.env.EXCHANGE_URL + '/v2' })
const market = 'BTC-EUR'
const step = async (name, walk) => {
  try {
    await walk()
  } catch (err) { // a refusal is thrown as its text
    throw new Error(`step ${name}: ${err.message ?? err}`)
  }
  console.log(`ok ${name}`)
}

async function main () {
  const x = client(apiKey)
  await step('time', async () => assert.ok(Math.abs((await x.time()).time - Date.now()) < 5000))
  await step('markets', async () => {
    assert.equal((await x.markets()).length, 3)
    assert.equal((await x.markets({ market })).market, market)
  })
  await step('assets', async () => assert.equal((await x.assets({ symbol: 'BTC' })).symbol, 'BTC'))
  await step('book', async () => assert.equal((await x.book(market, { depth: 3 })).bids.length, 3))
  await step('publicTrades', async () => assert.equal((await x.publicTrades(market, { limit: 3 })).length, 3))
  await step('candles', async () => assert.equal((await x.candles(market, '1h', { limit: 3 }))[0].length, 6))
  await step('tickers', async () => {
    assert.ok(Number((await x.tickerPrice({ market })).price) > 0)
    assert.equal((await x.tickerBook()).length, 3)
    assert.ok(Number((await x.ticker24h({ market })).last) > 0)
  })
  const price = Math.round(Number((await x.tickerPrice({ market })).price) * 0.9)
  let order
  await step('placeOrder', async () => {
    order = await x.placeOrder(market, 'buy', 'limit', { amount: '0.01', price: String(price), operatorId: 5 })
    assert.equal(order.status, 'new')
    const taken = await x.placeOrder(market, 'sell', 'market', { amount: '0.01', operatorId: 5 })
    assert.equal(taken.status, 'filled')
    assert.equal(taken.fills[0].settled, true)
  })
  await step('getOrder', async () => assert.equal((await x.getOrder(market, order.orderId)).orderId, order.orderId))
  await step('updateOrder', async () => {
    const short = await x.updateOrder(market, order.orderId, { amount: '0.02', operatorId: 5, responseRequired: false })
    assert.equal(short.orderId, order.orderId)
    assert.equal((await x.getOrder(market, { orderId: order.orderId })).amount, '0.02')
  })
  await step('getOrders', async () => assert.equal((await x.getOrders(market)).length, 2))
  await step('ordersOpen', async () => assert.equal((await x.ordersOpen()).length, 1))
  await step('trades', async () => assert.equal((await x.trades(market))[0].side, 'sell'))
  await step('cancelOrder', async () => assert.equal((await x.cancelOrder(market, order.orderId)).orderId, order.orderId))
  await step('cancelOrders', async () => assert.deepEqual(await x.cancelOrders({ market }), []))
  await step('account', async () => assert.equal((await x.account()).fees.taker, '0.0025'))
  await step('fees', async () => assert.equal((await x.fees(market)).maker, '0.0015'))
  await step('balance', async () => assert.equal((await x.balance({ symbol: 'BTC' }))[0].available, '0.99'))
  await step('depositAssets', async () => assert.ok((await x.depositAssets('BTC')).address))
  await step('withdrawAssets', async () => assert.equal((await x.withdrawAssets('BTC', '0.1', 'bc1q0000000000000000')).success, true))
  await step('histories', async () => {
    assert.equal((await x.depositHistory())[0].symbol, 'EUR')
    assert.equal((await x.withdrawalHistory({ symbol: 'BTC' }))[0].status, 'awaiting_processing')
  })
  await step('refusals', async () => {
    await assert.rejects(() => x.placeOrder(market, 'buy', 'limit', { amount: '1', price: '1' }), (text) => text === 'operatorId parameter is required.')
    await assert.rejects(() => client('short').balance(), (text) => text === 'API Key must be of length 64.')
  })
}

main().catch((err) => {
  console.error(err)
  process.exit(1)
})
