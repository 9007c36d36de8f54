// Walks ccxt's class for this exchange, as it comes from npm, through everything that it has against the exchange at EXCHANGE_URL. Each step asserts
// what a user of ccxt sees, and prints its name. The keys come as CREDENTIALS, JSON of name to {apiKey, secret}.
const assert = require('node:assert/strict')
const path = require('node:path')
const { createRequire } = require('node:module')
const ccxt = createRequire(path.join(process.env.TIDEMARK_CLIENTS, 'walk.cjs'))('ccxt')

const url = process.env.EXCHANGE_URL
const credentials = JSON.parse(process.env.CREDENTIALS)
const client = (name) => {
  const one = new ccxt.bitvavo({ ...credentials[name], enableRateLimit: false, options: { operatorId: 4711 } })
  one.urls.api = { public: url, private: url }
  return one
}
const step = async (name, walk) => {
  try {
    await walk()
  } catch (err) {
    err.message = `step ${name}: ${err.message}`
    throw err
  }
  console.log(`ok ${name}`)
}
const refused = (kind, walk) => assert.rejects(walk, (err) => {
  assert.equal(err.constructor.name, kind.name, err.message)
  return true
})
const symbol = 'BTC/EUR'
const round = (x) => Math.round(x) // a multiple of the tick

async function publicSide (x) {
  await step('loadMarkets', async () => {
    const markets = await x.loadMarkets()
    assert.deepEqual(Object.keys(markets).sort(), ['ADA/EUR', 'BTC/EUR', 'ETH/EUR'])
    const m = markets[symbol]
    assert.equal(m.active, true)
    assert.equal(m.precision.price, 1)
    assert.equal(m.precision.amount, 1e-8)
    assert.equal(m.limits.cost.min, 5)
    assert.equal(m.limits.amount.min, 0.00006)
  })
  await step('fetchTime', async () => {
    assert.ok(Math.abs(await x.fetchTime() - Date.now()) < 5000)
  })
  await step('fetchCurrencies', async () => {
    const all = await x.fetchCurrencies()
    assert.deepEqual(Object.keys(all).sort(), ['ADA', 'BTC', 'ETH', 'EUR'])
    assert.equal(all.BTC.precision, 1e-8)
    assert.equal(all.BTC.fee, 0.0000032)
    assert.equal(all.EUR.active, true)
  })
  await step('fetchTicker', async () => {
    const t = await x.fetchTicker(symbol)
    for (const field of ['last', 'bid', 'ask', 'high', 'low', 'open', 'baseVolume', 'quoteVolume', 'bidVolume', 'askVolume', 'timestamp']) {
      assert.ok(t[field] > 0, `${field} is ${t[field]}`)
    }
    assert.ok(t.bid < t.ask && t.low <= t.last && t.last <= t.high)
  })
  await step('fetchTickers', async () => {
    assert.equal(Object.keys(await x.fetchTickers()).length, 3)
  })
  await step('fetchOrderBook', async () => {
    const book = await x.fetchOrderBook(symbol, 5)
    assert.equal(book.bids.length, 5)
    assert.equal(book.asks.length, 5)
    assert.ok(book.bids[0][0] > book.bids[4][0] && book.asks[0][0] < book.asks[4][0] && book.bids[0][0] < book.asks[0][0])
    assert.ok(Number.isInteger(book.nonce))
  })
  await step('fetchTrades', async () => {
    const trades = await x.fetchTrades(symbol, undefined, 10)
    assert.equal(trades.length, 10)
    assert.ok(trades.every((t) => t.price > 0 && t.amount > 0 && ['buy', 'sell'].includes(t.side) && t.timestamp > 0 && t.id))
    assert.ok(trades[0].timestamp <= trades[9].timestamp)
  })
  await step('fetchOHLCV', async () => {
    const candles = await x.fetchOHLCV(symbol, '1h', undefined, 5)
    assert.equal(candles.length, 5)
    assert.ok(candles.every(([at, open, high, low, close, volume]) => at % 3600000 === 0 && low <= open && close <= high && volume > 0))
    assert.ok(candles[0][0] < candles[4][0])
    const since = candles[2][0]
    assert.equal((await x.fetchOHLCV(symbol, '1h', since, 2))[0][0], since)
    for (const timeframe of Object.keys(x.timeframes)) {
      assert.ok((await x.fetchOHLCV(symbol, timeframe, undefined, 3)).length > 0, timeframe)
    }
  })
}

async function trading (x) {
  const price = (await x.fetchTicker(symbol)).last
  let limit, stop
  await step('fetchBalance', async () => {
    const balance = await x.fetchBalance()
    assert.deepEqual([balance.EUR.free, balance.EUR.used, balance.BTC.total], [100000, 0, 1])
  })
  await step('createOrder limit', async () => {
    limit = await x.createOrder(symbol, 'limit', 'buy', 0.01, round(price * 0.9), { clientOrderId: '11111111-2222-4333-8444-555555555555' })
    assert.deepEqual([limit.status, limit.type, limit.side, limit.amount, limit.remaining, limit.filled, limit.price, limit.timeInForce, limit.postOnly],
      ['open', 'limit', 'buy', 0.01, 0.01, 0, round(price * 0.9), 'GTC', false])
    assert.equal(limit.info.clientOrderId, '11111111-2222-4333-8444-555555555555')
    assert.ok((await x.fetchBalance()).EUR.used > 0)
  })
  await step('createOrder postOnly', async () => {
    const order = await x.createOrder(symbol, 'limit', 'buy', 0.01, round(price * 1.1), { postOnly: true })
    assert.equal((await x.fetchOrder(order.id, symbol)).status, 'canceled')
  })
  await step('createOrder market', async () => {
    const order = await x.createOrder(symbol, 'market', 'buy', 0.001)
    assert.deepEqual([order.status, order.type, order.filled, order.remaining], ['closed', 'market', 0.001, 0])
    assert.equal(order.trades.length, 1)
    assert.equal(order.fee.currency, 'EUR')
    assert.ok(order.fee.cost > 0 && order.cost > 0)
    assert.equal((await x.fetchBalance()).BTC.total, 1.001)
  })
  await step('createOrder market by cost', async () => {
    const order = await x.createOrder(symbol, 'market', 'buy', undefined, undefined, { cost: 50 })
    assert.equal(order.status, 'closed')
    assert.ok(Math.abs(order.cost + order.fee.cost - 50) < 1e-9)
  })
  await step('createOrder stop', async () => {
    stop = await x.createOrder(symbol, 'limit', 'sell', 0.01, round(price * 0.7), { stopLossPrice: round(price * 0.75) })
    assert.deepEqual([stop.status, stop.type, stop.triggerPrice], ['open', 'stopLossLimit', round(price * 0.75)])
    const profit = await x.createOrder(symbol, 'market', 'sell', 0.01, undefined, { takeProfitPrice: round(price * 1.5) })
    assert.deepEqual([profit.status, profit.type], ['open', 'takeProfit'])
  })
  await step('editOrder', async () => {
    const moved = await x.editOrder(limit.id, symbol, 'limit', 'buy', 0.02, round(price * 0.8))
    assert.deepEqual([moved.id, moved.amount, moved.price, moved.status], [limit.id, 0.02, round(price * 0.8), 'open'])
  })
  await step('fetchOrder', async () => {
    const order = await x.fetchOrder(limit.id, symbol)
    assert.deepEqual([order.id, order.amount, order.status], [limit.id, 0.02, 'open'])
    assert.equal((await x.fetchOrder(undefined, symbol, { clientOrderId: limit.info.clientOrderId })).id, limit.id)
  })
  await step('fetchOpenOrders', async () => {
    assert.equal((await x.fetchOpenOrders(symbol)).length, 3)
    assert.equal((await x.fetchOpenOrders()).length, 3)
    assert.equal((await x.fetchOpenOrders('ETH/EUR')).length, 0)
  })
  await step('fetchOrders', async () => {
    const orders = await x.fetchOrders(symbol)
    assert.equal(orders.length, 6)
    assert.deepEqual(new Set(orders.map((o) => o.status)), new Set(['open', 'closed', 'canceled']))
    assert.equal((await x.fetchOrders(symbol, undefined, 2)).length, 2)
  })
  await step('fetchMyTrades', async () => {
    const trades = await x.fetchMyTrades(symbol)
    assert.equal(trades.length, 2)
    assert.ok(trades.every((t) => t.order && t.side === 'buy' && t.takerOrMaker === 'taker' && t.fee.cost > 0))
  })
  await step('cancelOrder', async () => {
    assert.equal((await x.cancelOrder(limit.id, symbol)).id, limit.id)
    assert.equal((await x.fetchOrder(limit.id, symbol)).status, 'canceled')
  })
  await step('cancelAllOrdersAfter', async () => {
    assert.equal((await x.cancelAllOrdersAfter(10000)).codGroupId, 1)
    await x.cancelAllOrdersAfter(0)
  })
  await step('cancelAllOrders', async () => {
    assert.equal((await x.cancelAllOrders(symbol)).length, 2)
    assert.equal((await x.cancelAllOrders()).length, 0)
  })
}

async function account (x) {
  await step('fetchTradingFees', async () => {
    const fees = await x.fetchTradingFees()
    assert.deepEqual([fees[symbol].maker, fees[symbol].taker], [0.0015, 0.0025])
    assert.equal((await x.fetchTradingFee(symbol)).taker, 0.0025)
  })
  await step('fetchDepositWithdrawFees', async () => {
    assert.equal((await x.fetchDepositWithdrawFees(['ETH'])).ETH.withdraw.fee, 0.000035)
  })
  await step('fetchDepositAddress', async () => {
    const where = await x.fetchDepositAddress('BTC')
    assert.ok(where.address.length > 20 && where.tag)
  })
  await step('withdraw', async () => {
    const gone = await x.withdraw('BTC', 0.1, 'bc1q0000000000000000')
    assert.deepEqual([gone.amount, gone.currency, gone.type], [0.1, 'BTC', 'withdrawal'])
  })
  await step('fetchWithdrawals', async () => {
    const [gone] = await x.fetchWithdrawals('BTC')
    assert.deepEqual([gone.status, gone.address, gone.type, gone.fee.cost], ['pending', 'bc1q0000000000000000', 'withdrawal', 0.0000032])
  })
  await step('fetchDeposits', async () => {
    const [came] = await x.fetchDeposits('EUR')
    assert.deepEqual([came.status, came.amount, came.type], ['ok', 250, 'deposit'])
  })
  await step('fetchLedger', async () => {
    const entries = await x.fetchLedger()
    assert.deepEqual(new Set(entries.map((e) => e.type)), new Set(['trade', 'transaction']))
    assert.ok(entries.every((e) => e.timestamp > 0 && e.amount > 0 && e.id))
  })
}

async function errors (x) {
  const price = (await x.fetchTicker(symbol)).last
  await step('InsufficientFunds', () => refused(ccxt.InsufficientFunds, () => x.createOrder(symbol, 'limit', 'buy', 100, round(price * 0.9))))
  await step('InvalidOrder', async () => {
    await refused(ccxt.InvalidOrder, () => x.createOrder(symbol, 'limit', 'buy', 0.00007, 10)) // below the minimum in quote
    await refused(ccxt.InvalidOrder, () => x.fetchOrder('nonsense', symbol))
  })
  await step('OrderNotFound', async () => {
    await refused(ccxt.OrderNotFound, () => x.fetchOrder('99999999-2222-4333-8444-555555555555', symbol))
    await refused(ccxt.OrderNotFound, () => x.cancelOrder('99999999-2222-4333-8444-555555555555', symbol))
  })
  await step('BadSymbol', () => refused(ccxt.BadSymbol, () => x.privateGetDeposit()))
  await step('BadRequest', () => refused(ccxt.BadRequest, () => x.publicGetMarkets({ nonsense: 1 })))
  await step('InvalidAddress', () => refused(ccxt.InvalidAddress, () => x.privatePostWithdrawal({ symbol: 'EUR', amount: '10', address: 'NL00' })))
  await step('AuthenticationError', async () => {
    for (const wrong of [{ apiKey: 'short' }, { secret: 'wrong' }, { apiKey: 'f'.repeat(64) }]) {
      const stranger = client('demo')
      Object.assign(stranger, wrong)
      await refused(ccxt.AuthenticationError, () => stranger.fetchBalance())
    }
  })
  await step('PermissionDenied', () => refused(ccxt.PermissionDenied, () => client('reader').createOrder(symbol, 'market', 'buy', 0.001)))
  await step('RateLimitExceeded', async () => {
    await refused(ccxt.RateLimitExceeded, () => client('hasty').fetchBalance())
  })
}

async function main () {
  const x = client('demo')
  await publicSide(x)
  await trading(x)
  await account(x)
  await errors(x)
}

main().catch((err) => {
  console.error(err)
  process.exit(1)
})
