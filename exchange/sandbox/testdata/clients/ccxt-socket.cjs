// Walks the WebSocket side of ccxt's class for this exchange, as it comes from npm, against the exchange at EXCHANGE_URL: everything that it watches and
// every action that it sends over the socket. Each step asserts what a user of ccxt sees, and prints its name.
const assert = require('node:assert/strict')
const path = require('node:path')
const { createRequire } = require('node:module')
const ccxt = createRequire(path.join(process.env.TIDEMARK_CLIENTS, 'walk.cjs'))('ccxt')

const url = process.env.EXCHANGE_URL
const keys = JSON.parse(process.env.CREDENTIALS)
const symbol = 'BTC/EUR'
const client = (name) => {
  const one = new ccxt.pro.bitvavo({ ...keys[name], enableRateLimit: false, options: { operatorId: 4711 } })
  Object.assign(one.urls.api, { public: url, private: url, ws: url.replace('http', 'ws') + '/v2' })
  return one
}
const step = async (name, walk) => {
  let late
  try {
    await Promise.race([walk(), new Promise((resolve, reject) => { late = setTimeout(() => reject(new Error('nothing came')), 30000) })])
  } catch (err) {
    err.message = `step ${name}: ${err.message}`
    throw err
  }
  clearTimeout(late)
  console.log(`ok ${name}`)
}
const refused = (kind, walk) => assert.rejects(walk, (err) => {
  assert.equal(err.constructor.name, kind.name, err.message)
  return true
})
const round = (x) => Math.round(x) // a multiple of the tick

async function watchPublic (x) {
  await step('watchTicker', async () => {
    const t = await x.watchTicker(symbol)
    assert.ok(t.symbol === symbol && t.last > 0 && t.bid < t.ask && t.timestamp > 0)
  })
  await step('watchTickers', async () => {
    assert.deepEqual(Object.keys(await x.watchTickers([symbol, 'ETH/EUR'])).sort(), [symbol, 'ETH/EUR'])
  })
  await step('watchBidsAsks', async () => {
    const t = (await x.watchBidsAsks([symbol]))[symbol]
    assert.ok(t.bid > 0 && t.bidVolume > 0 && t.bid < t.ask)
  })
  await step('watchTrades', async () => {
    const [t] = await x.watchTrades(symbol)
    assert.ok(t.symbol === symbol && t.price > 0 && t.amount > 0 && t.id && ['buy', 'sell'].includes(t.side) && Math.abs(t.timestamp - Date.now()) < 60000)
  })
  await step('watchOHLCV', async () => {
    const [[at, open, high, low, close, volume]] = await x.watchOHLCV(symbol, '1m')
    assert.ok(at % 60000 === 0 && low <= open && close <= high && volume > 0)
  })
  await step('watchOrderBook', async () => {
    let book = await x.watchOrderBook(symbol)
    const first = book.nonce
    for (let n = 0; n < 3; n++) {
      book = await x.watchOrderBook(symbol)
    }
    assert.ok(book.nonce > first)
    assert.ok(book.bids[0][0] > book.bids[1][0] && book.asks[0][0] < book.asks[1][0] && book.bids[0][0] < book.asks[0][0])
  })
  await step('unWatch', async () => {
    await x.unWatchTrades(symbol)
    await x.unWatchOrderBook(symbol)
  })
}

async function trade (x) {
  const price = (await x.fetchTicker(symbol)).last
  let limit
  await step('watchOrders', async () => {
    const hears = x.watchOrders(symbol)
    await x.fetchBalanceWs() // the subscription is answered
    limit = await x.createOrderWs(symbol, 'limit', 'buy', 0.01, round(price * 0.9))
    assert.deepEqual([limit.status, limit.amount, limit.filled], ['open', 0.01, 0])
    const [order] = await hears
    assert.deepEqual([order.id, order.status, order.side, order.price], [limit.id, 'open', 'buy', round(price * 0.9)])
  })
  await step('watchMyTrades', async () => {
    const hears = x.watchMyTrades(symbol)
    await x.fetchBalanceWs()
    const order = await x.createOrderWs(symbol, 'market', 'buy', 0.001)
    assert.deepEqual([order.status, order.filled], ['closed', 0.001])
    const [fill] = await hears
    assert.deepEqual([fill.order, fill.amount, fill.side, fill.takerOrMaker, fill.fee.currency], [order.id, 0.001, 'buy', 'taker', 'EUR'])
  })
  await step('editOrderWs', async () => {
    const moved = await x.editOrderWs(limit.id, symbol, 'limit', 'buy', 0.02, round(price * 0.8))
    assert.deepEqual([moved.id, moved.amount, moved.price], [limit.id, 0.02, round(price * 0.8)])
  })
  await step('fetchOrderWs', async () => assert.equal((await x.fetchOrderWs(limit.id, symbol)).amount, 0.02))
  await step('fetchOpenOrdersWs', async () => assert.equal((await x.fetchOpenOrdersWs(symbol))[0].id, limit.id))
  await step('cancelOrderWs', async () => assert.equal((await x.cancelOrderWs(limit.id, symbol)).id, limit.id))
  await step('cancelAllOrdersWs', async () => {
    await x.createOrderWs(symbol, 'limit', 'buy', 0.01, round(price * 0.9))
    assert.equal((await x.cancelAllOrdersWs(symbol)).length, 1)
  })
  await step('fetchOrdersWs', async () => assert.equal((await x.fetchOrdersWs(symbol)).length, 3))
  await step('fetchMyTradesWs', async () => assert.equal((await x.fetchMyTradesWs(symbol)).length, 1))
}

async function ask (x) {
  await step('fetchBalanceWs', async () => assert.equal((await x.fetchBalanceWs()).BTC.total, 1.001))
  await step('fetchMarketsWs', async () => assert.equal((await x.fetchMarketsWs()).length, 3))
  await step('fetchCurrenciesWs', async () => assert.equal((await x.fetchCurrenciesWs()).BTC.precision, 1e-8))
  await step('fetchTradingFeesWs', async () => assert.equal((await x.fetchTradingFeesWs())[symbol].taker, 0.0025))
  await step('fetchOHLCVWs', async () => assert.equal((await x.fetchOHLCVWs(symbol, '1h', undefined, 5)).length, 5))
  await step('fetchDepositsWs', async () => assert.equal((await x.fetchDepositsWs('EUR'))[0].amount, 250))
  await step('withdrawWs', async () => assert.equal((await x.withdrawWs('BTC', 0.1, 'bc1q0000000000000000')).amount, 0.1))
  await step('fetchWithdrawalsWs', async () => assert.equal((await x.fetchWithdrawalsWs('BTC'))[0].status, 'pending'))
  await step('InsufficientFunds', () => refused(ccxt.InsufficientFunds, () => x.createOrderWs(symbol, 'limit', 'buy', 100, 50000)))
  await step('OrderNotFound', () => refused(ccxt.OrderNotFound, () => x.cancelOrderWs('00000000-0000-0001-0100-0000000000ff', symbol)))
  await step('AuthenticationError', async () => {
    const wrong = client('demo')
    wrong.secret = 'wrong'
    await wrong.loadHttpProxyAgent()
    await refused(ccxt.AuthenticationError, () => wrong.fetchBalanceWs())
    await wrong.close()
  })
}

async function main () {
  const x = client('demo')
  await x.loadHttpProxyAgent() // it refuses ws:// before
  await x.loadMarkets()
  await watchPublic(x)
  await trade(x)
  await ask(x)
  await x.close()
}
main().then(() => process.exit(0), (err) => {
  console.error(err)
  process.exit(1)
})
