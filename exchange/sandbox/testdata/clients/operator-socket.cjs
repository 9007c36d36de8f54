// Walks the WebSocket side of the operator's own package, as it comes from npm, against the exchange at EXCHANGE_URL: every action and every subscription.
// Its privateCancelOrder cannot carry an operatorId, so the exchange must let it be left out. The package calls back by the name of an action.
const assert = require('node:assert/strict')
const path = require('node:path')
const { createRequire } = require('node:module')
const operator = createRequire(path.join(process.env.TIDEMARK_CLIENTS, 'walk.cjs'))('bitvavo')

const { apiKey, secret } = JSON.parse(process.env.CREDENTIALS).demo
const url = process.env.EXCHANGE_URL
const market = 'BTC-EUR'
const x = operator().options({ APIKEY: apiKey, APISECRET: secret, ACCESSWINDOW: 10000, RESTURL: url + '/v2', WSURL: url.replace('http', 'ws') + '/v2/', DEBUGGING: false })
const emitter = x.getEmitter()
const soon = (name, wait) => new Promise((resolve, reject) => {
  const late = setTimeout(() => reject(new Error('nothing came')), 30000)
  wait((value) => {
    clearTimeout(late)
    resolve(value)
  })
})
const step = async (name, walk) => {
  try {
    await walk()
  } catch (err) {
    throw new Error(`step ${name}: ${err.message ?? JSON.stringify(err)}`)
  }
  console.log(`ok ${name}`)
}
// answer sends something and returns the reply of that name.
const answer = (name, send) => soon(name, (resolve) => {
  emitter.once(name, resolve)
  send()
})

async function main () {
  const w = x.websocket
  await w.checkSocket()
  let failure
  emitter.on('error', (err) => { failure = err })
  await step('time', async () => assert.ok(Math.abs((await answer('time', () => w.time())).time - Date.now()) < 5000))
  await step('markets', async () => assert.equal((await answer('markets', () => w.markets({}))).length, 3))
  await step('assets', async () => assert.equal((await answer('assets', () => w.assets({}))).length, 4))
  await step('book', async () => assert.equal((await answer('book', () => w.book(market, { depth: 3 }))).bids.length, 3))
  await step('publicTrades', async () => assert.equal((await answer('publicTrades', () => w.publicTrades(market, { limit: 3 }))).length, 3))
  await step('candles', async () => assert.equal((await answer('candles', () => w.candles(market, '1h', { limit: 3 })))[0].length, 6))
  await step('tickerPrice', async () => assert.equal((await answer('tickerPrice', () => w.tickerPrice({}))).length, 3))
  await step('tickerBook', async () => assert.equal((await answer('tickerBook', () => w.tickerBook({ market }))).market, market))
  await step('ticker24h', async () => assert.equal((await answer('ticker24h', () => w.ticker24h({}))).length, 3))

  await step('subscriptionTicker', async () => {
    assert.equal((await soon('ticker', (resolve) => w.subscriptionTicker(market, resolve))).market, market)
  })
  await step('subscriptionTicker24h', async () => {
    assert.equal((await soon('ticker24h', (resolve) => w.subscriptionTicker24h(market, resolve))).market, market)
  })
  await step('subscriptionCandles', async () => {
    const { candle } = await soon('candles', (resolve) => w.subscriptionCandles(market, '1m', resolve))
    assert.equal(candle[0].length, 6)
  })
  await step('subscriptionTrades', async () => {
    assert.ok((await soon('trades', (resolve) => w.subscriptionTrades(market, resolve))).id)
  })
  await step('subscriptionBookUpdates', async () => {
    assert.ok((await soon('book', (resolve) => w.subscriptionBookUpdates(market, resolve))).nonce > 0)
  })
  await step('subscriptionBook', async () => {
    const book = await soon('book', (resolve) => {
      let heard = 0
      w.subscriptionBook('ETH-EUR', (copy) => { if (++heard === 3) resolve(copy) })
    })
    assert.ok(Number(book.bids[0][0]) < Number(book.asks[0][0]))
  })

  const price = Math.round(Number((await x.tickerPrice({ market })).price) * 0.9)
  let order
  await step('subscriptionAccount', async () => {
    const told = { order: () => {}, fill: () => {} } // orders and fills come to one callback
    w.subscriptionAccount(market, (event) => told[event.event](event))
    await answer('account', () => w.account()) // the subscription is answered
    const entered = await soon('order', (resolve) => {
      told.order = resolve
      answer('placeOrder', () => w.placeOrder(market, 'buy', 'limit', { amount: '0.01', price: String(price), operatorId: 5 })).then((one) => { order = one })
    })
    assert.deepEqual([entered.executionType, entered.status, entered.price], ['new', 'new', String(price)])
    const fill = await soon('fill', (resolve) => {
      told.fill = resolve
      w.placeOrder(market, 'sell', 'market', { amount: '0.01', operatorId: 5 })
    })
    assert.deepEqual([fill.side, fill.amount, fill.taker], ['sell', '0.01', true])
    assert.equal(entered.orderId, order.orderId)
  })
  await step('getOrder', async () => assert.equal((await answer('getOrder', () => w.getOrder(market, order.orderId))).orderId, order.orderId))
  await step('updateOrder', async () => {
    assert.equal((await answer('updateOrder', () => w.updateOrder(market, order.orderId, { amount: '0.02', operatorId: 5 }))).amount, '0.02')
  })
  await step('getOrders', async () => assert.equal((await answer('getOrders', () => w.getOrders(market, {}))).length, 2))
  await step('ordersOpen', async () => assert.equal((await answer('ordersOpen', () => w.ordersOpen({}))).length, 1))
  await step('trades', async () => assert.equal((await answer('trades', () => w.trades(market, {})))[0].side, 'sell'))
  await step('cancelOrder', async () => assert.equal((await answer('cancelOrder', () => w.cancelOrder(market, order.orderId))).orderId, order.orderId))
  await step('cancelOrders', async () => assert.deepEqual(await answer('cancelOrders', () => w.cancelOrders({ market })), []))
  await step('balance', async () => assert.equal((await answer('balance', () => w.balance({ symbol: 'BTC' })))[0].available, '0.99'))
  await step('depositAssets', async () => assert.ok((await answer('depositAssets', () => w.depositAssets('BTC'))).address))
  await step('depositHistory', async () => assert.equal((await answer('depositHistory', () => w.depositHistory({})))[0].amount, '250'))
  await step('withdrawAssets', async () => {
    assert.equal((await answer('withdrawAssets', () => w.withdrawAssets('BTC', '0.1', 'bc1q0000000000000000', {}))).success, true)
  })
  await step('withdrawalHistory', async () => assert.equal((await answer('withdrawalHistory', () => w.withdrawalHistory({})))[0].symbol, 'BTC'))
  assert.equal(failure, undefined, JSON.stringify(failure))
  await step('error', async () => {
    const refusal = await answer('error', () => w.cancelOrder(market, order.orderId))
    assert.equal(refusal.errorCode, 240)
  })
}
main().then(() => process.exit(0), (err) => {
  console.error(err)
  process.exit(1)
})
