# A client in Python of nothing but its standard library, written from the specification and not from any package. It signs as Python clients of
# this exchange do: over compact JSON, while the JSON that it sends has spaces; over nothing with GET and DELETE, while it sends {}; over a
# query that it does not encode. It walks the whole life of an account at EXCHANGE_URL and reckons its money beside it.
import hashlib
import hmac
import http.client
import json
import os
import time
import urllib.parse
import uuid
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

MARKET, BRAND = 'BTC-EUR', 'Bitvavo'
INTERVALS = ['1m', '5m', '15m', '30m', '1h', '2h', '4h', '6h', '8h', '12h', '1d', '1W', '1M']
ORDER = {'orderId', 'market', 'created', 'updated', 'createdNs', 'updatedNs', 'status', 'side', 'orderType', 'onHold', 'onHoldCurrency', 'filledAmount',
         'filledAmountQuote', 'feePaid', 'feeCurrency', 'fills', 'selfTradePrevention', 'visible', 'timeInForce', 'postOnly', 'disableMarketProtection', 'operatorId'}


class Refused(Exception):
    def __init__(self, status, body):
        super().__init__(f'{status} {body}')
        self.status, self.code, self.text = status, body['errorCode'], body['error']


class Client:
    def __init__(self, key='', secret='', shift=0):
        self.key, self.secret, self.shift = key, secret, shift
        self.address = urllib.parse.urlsplit(os.environ['EXCHANGE_URL']).netloc
        self.remaining = self.resets = None

    def ask(self, method, path, query=None, body=None, signature=None):
        if query:
            path += '?' + '&'.join(f'{k}={v}' for k, v in query.items())
        signed = json.dumps(body, separators=(',', ':')) if body is not None else ''
        headers = {'Content-Type': 'application/json'}
        if self.key:
            stamp = str(int(time.time() * 1000) + self.shift)
            digest = hmac.new(self.secret.encode(), (stamp + method + '/v2' + path + signed).encode(), hashlib.sha256).hexdigest()
            headers.update({f'{BRAND}-Access-Key': self.key, f'{BRAND}-Access-Signature': signature or digest, f'{BRAND}-Access-Timestamp': stamp, f'{BRAND}-Access-Window': '10000'})
        connection = http.client.HTTPConnection(self.address, timeout=20)
        connection.request(method, '/v2' + path, json.dumps(body if body is not None else {}), headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        assert answer.getheader('Content-Type') == 'application/json'
        self.remaining, self.resets = int(answer.getheader(f'{BRAND}-Ratelimit-Remaining')), int(answer.getheader(f'{BRAND}-Ratelimit-Resetat'))
        assert int(answer.getheader(f'{BRAND}-Ratelimit-Limit')) >= self.remaining >= 0 and self.resets % 60000 == 0
        if answer.status != 200:
            raise Refused(answer.status, json.loads(text))
        return json.loads(text) if text else None

    def get(self, path, **query):
        return self.ask('GET', path, query)

    def place(self, **body):
        order = self.ask('POST', '/order', None, {'market': MARKET, 'operatorId': 7, **body})
        if order is not None:
            check_order(order)
        return order


def check_order(o):
    assert ORDER <= o.keys(), ORDER - o.keys()
    by_quote = 'amountQuote' in o
    assert ('amount' in o) != by_quote and ('amountRemaining' in o) != by_quote and ('amountQuoteRemaining' in o) == by_quote
    assert ('price' in o) == (o['orderType'] in ('limit', 'stopLossLimit', 'takeProfitLimit'))
    assert all(('trigger' + name in o) == (o['orderType'] not in ('limit', 'market')) for name in ('Price', 'Amount', 'Type', 'Reference'))
    for name in ('amount', 'amountRemaining', 'price', 'amountQuote', 'amountQuoteRemaining', 'onHold', 'filledAmount', 'filledAmountQuote', 'feePaid', 'triggerAmount', 'triggerPrice'):
        assert name not in o or isinstance(o[name], str) and Decimal(o[name]).is_finite(), name
    for name in ('created', 'updated', 'createdNs', 'updatedNs', 'operatorId'):
        assert type(o[name]) is int, name
    assert o['createdNs'] // 1_000_000 == o['created'] and o['createdNs'] % 1000 == 0
    assert sum((Decimal(f['amount']) for f in o['fills']), Decimal(0)) == Decimal(o['filledAmount'])
    assert sum((Decimal(f['amount']) * Decimal(f['price']) for f in o['fills']), Decimal(0)) == Decimal(o['filledAmountQuote'])
    uuid.UUID(o['orderId'])


def refused(status, code, call, *words):
    try:
        answer = call()
    except Refused as refusal:
        assert (refusal.status, refusal.code) == (status, code), refusal
        assert all(word in refusal.text for word in words), refusal
        return refusal
    raise AssertionError(f'{code} was expected, not {answer}')


def step(walk):
    walk()
    print('ok', walk.__name__)


keys = json.loads(os.environ['CREDENTIALS'])
demo, reader, hasty, public = Client(keys['demo']['apiKey'], keys['demo']['secret']), Client(keys['reader']['apiKey'], keys['reader']['secret']), Client(keys['hasty']['apiKey'], keys['hasty']['secret']), Client()


def balances():
    return {b['symbol']: (Decimal(b['available']), Decimal(b['inOrder'])) for b in demo.get('/balance')}


def times_and_lists():
    now = public.get('/time')
    assert abs(now['time'] - time.time() * 1000) < 5000 and now['timeNs'] // 1_000_000 == now['time']
    markets = public.get('/markets')
    assert len(markets) == 3 and public.get('/markets', market=MARKET) == next(m for m in markets if m['market'] == MARKET)
    for m in markets:
        assert m['pricePrecision'] is None and m['status'] == 'trading' and type(m['quantityDecimals']) is int and type(m['maxOpenOrders']) is int
        assert all(Decimal(m[name]) > 0 for name in ('tickSize', 'minOrderInBaseAsset', 'minOrderInQuoteAsset', 'maxOrderInBaseAsset', 'maxOrderInQuoteAsset'))
    for a in public.get('/assets'):
        assert a['networks'] and type(a['decimals']) is int and a['depositStatus'] == a['withdrawalStatus'] == 'OK'
    assert public.get('/assets', symbol='EUR')['networks'] == ['SEPA']


def prices():
    book = public.get(f'/{MARKET}/book', depth=5)
    bids, asks = [[Decimal(x) for x in level] for level in book['bids']], [[Decimal(x) for x in level] for level in book['asks']]
    assert bids == sorted(bids, reverse=True) and asks == sorted(asks) and bids[0][0] < asks[0][0] and type(book['nonce']) is int
    best, last = public.get('/ticker/book', market=MARKET), public.get('/ticker/price', market=MARKET)
    assert Decimal(best['bid']) < Decimal(best['ask']) and Decimal(last['price']) > 0
    assert len(public.get('/ticker/price')) == len(public.get('/ticker/book')) == len(public.get('/ticker/24h')) == 3
    day = public.get('/ticker/24h', market=MARKET)
    assert len(day) == 15 and Decimal(day['low']) <= Decimal(day['open']) <= Decimal(day['high']) and day['timestamp'] - day['startTimestamp'] == 86_400_000
    report = public.get(f'/report/{MARKET}/book', depth=2)
    assert report['bids'][0]['side'] == 'BUYI' and report['assetCode'] == 'BTC'
    assert public.get(f'/report/{MARKET}/trades', limit=2)[0]['quantityCurrency'] == 'BTC'


def candles_of_all_intervals():
    end = public.get('/time')['time'] // 86_400_000 * 86_400_000
    minutes = public.get(f'/{MARKET}/candles', interval='1m', end=end + 3_600_000 * 24, limit=1440)
    for interval in INTERVALS:
        rows = public.get(f'/{MARKET}/candles', interval=interval, limit=3)
        starts = [row[0] for row in rows]
        assert 1 <= len(rows) <= 3 and starts == sorted(starts, reverse=True) and all(type(row[0]) is int and all(isinstance(x, str) for x in row[1:]) for row in rows)
        for _, o, high, low, c, volume in rows:
            assert Decimal(low) <= min(Decimal(o), Decimal(c)) <= max(Decimal(o), Decimal(c)) <= Decimal(high) and Decimal(volume) > 0
    hour = public.get(f'/{MARKET}/candles', interval='1h', limit=2)[1]
    inside = [m for m in minutes if hour[0] <= m[0] < hour[0] + 3_600_000]
    assert (inside[-1][1], inside[0][4]) == (hour[1], hour[4]) and sum(Decimal(m[5]) for m in inside) == Decimal(hour[5])
    assert max(Decimal(m[2]) for m in inside) == Decimal(hour[2]) and min(Decimal(m[3]) for m in inside) == Decimal(hour[3])
    some = public.get(f'/{MARKET}/candles', interval='1m', start=inside[4][0], end=inside[0][0])
    assert [row[0] for row in some] == [row[0] for row in inside[1:5]], 'start inclusive, end exclusive'


def public_trades_by_pages():
    whole = public.get(f'/{MARKET}/trades', limit=7)
    pages, last = [], None
    while len(pages) < 7:
        page = public.get(f'/{MARKET}/trades', limit=3, tradeIdTo=last or whole[0]['id'])
        pages += page if last is None else page[1:]
        last = page[-1]['id']
    assert pages == whole and all(t['side'] in ('buy', 'sell') and type(t['timestamp']) is int for t in whole)


def life_of_a_limit_order():
    global far
    far = int(Decimal(public.get('/ticker/price', market=MARKET)['price']) * Decimal('0.9'))
    before, name = balances(), str(uuid.uuid4())
    o = demo.place(side='buy', orderType='limit', amount='0.01', price=str(far), clientOrderId=name, postOnly=True)
    hold = (Decimal('0.01') * far * Decimal('1.0025')).quantize(Decimal('0.01'), ROUND_CEILING)
    assert (o['status'], o['visible'], Decimal(o['onHold']), o['onHoldCurrency']) == ('new', True, hold, 'EUR')
    assert balances()['EUR'] == (before['EUR'][0] - hold, hold)
    assert demo.get('/order', market=MARKET, clientOrderId=name)['orderId'] == o['orderId']
    assert [(x['orderId'], x['fills']) for x in demo.get('/ordersOpen', market=MARKET)] == [(o['orderId'], [])]
    refused(400, 220, lambda: demo.place(side='buy', orderType='limit', amount='0.01', price=str(far), clientOrderId=name))
    changed = demo.ask('PUT', '/order', None, {'market': MARKET, 'clientOrderId': name, 'operatorId': 8, 'amount': '0.02', 'postOnly': True})
    assert (changed['amount'], changed['created'], changed['orderId'], changed['operatorId']) == ('0.02', o['created'], o['orderId'], 8)
    short = demo.ask('PUT', '/order', None, {'market': MARKET, 'orderId': o['orderId'], 'operatorId': 8, 'price': str(far - 1), 'responseRequired': False})
    assert set(short) == {'market', 'orderId', 'clientOrderId', 'created', 'updated', 'createdNs', 'updatedNs'}
    refused(400, 232, lambda: demo.ask('PUT', '/order', None, {'market': MARKET, 'orderId': o['orderId'], 'operatorId': 8}))
    gone = demo.ask('DELETE', '/order', {'market': MARKET, 'clientOrderId': name, 'operatorId': 7})
    assert gone == {'orderId': o['orderId'], 'clientOrderId': name, 'operatorId': 7}
    refused(404, 240, lambda: demo.ask('DELETE', '/order', {'market': MARKET, 'orderId': o['orderId'], 'operatorId': 7}))
    assert balances() == before


def market_orders_pay_their_fees():
    before = balances()
    bought = demo.place(side='buy', orderType='market', amountQuote='250')
    assert bought['status'] == 'filled' and Decimal(bought['filledAmountQuote']) + Decimal(bought['feePaid']) == 250
    sold = demo.place(side='sell', orderType='market', amount='0.002')
    gross = Decimal(sold['filledAmountQuote'])
    got = (gross * Decimal('0.9975')).quantize(Decimal('0.01'), ROUND_FLOOR)
    assert sold['status'] == 'filled' and Decimal(sold['feePaid']) == gross - got and all(f['taker'] and f['settled'] and f['feeCurrency'] == 'EUR' for f in sold['fills'])
    after = balances()
    assert after['EUR'][0] == before['EUR'][0] - 250 + got
    assert after['BTC'][0] == before['BTC'][0] + Decimal(bought['filledAmount']) - Decimal('0.002')
    assert demo.place(side='buy', orderType='limit', amount='0.01', price=str(far), timeInForce='IOC')['status'] == 'expired'
    assert demo.place(side='buy', orderType='limit', amount='0.01', price=str(far * 2), postOnly=True)['restatementReason'] == 'cancelPostOnly'
    assert demo.place(side='sell', orderType='market', amount='0.001', responseRequired=False) is None


def stops_wait_and_are_cancelled():
    for kind, side, trigger in (('stopLoss', 'sell', far), ('stopLossLimit', 'buy', far * 2), ('takeProfit', 'sell', far * 2), ('takeProfitLimit', 'buy', far)):
        extra = {'price': str(trigger)} if kind.endswith('Limit') else {}
        o = demo.place(side=side, orderType=kind, amount='0.001', triggerAmount=str(trigger), triggerType='price', triggerReference='bestBid', codGroupId=3, **extra)
        assert (o['status'], o['visible'], o['triggerPrice'], o['codGroupId']) == ('awaitingTrigger', False, str(trigger), 3)
    armed = demo.ask('POST', '/cancelOrdersAfter', None, {'codGroupId': 3, 'expiryAfterSeconds': 60})
    assert armed['codGroupId'] == 3 and abs(armed['timeOfExpirySeconds'] - time.time() - 60) < 5
    demo.ask('POST', '/cancelOrdersAfter', None, {'codGroupId': 3, 'expiryAfterSeconds': 0})
    gone = demo.ask('DELETE', '/orders', {'market': MARKET, 'operatorId': 7})
    assert len(gone) == 4 and demo.get('/ordersOpen') == [] == demo.ask('DELETE', '/orders', {'market': MARKET, 'operatorId': 7})


def own_lists_by_pages():
    orders, trades = demo.get('/orders', market=MARKET), demo.get('/trades', market=MARKET)
    for o in orders:
        check_order(o)
    assert [o['created'] for o in orders] == sorted((o['created'] for o in orders), reverse=True)
    assert demo.get('/orders', market=MARKET, orderIdFrom=orders[-1]['orderId'], orderIdTo=orders[2]['orderId'], limit=2) == orders[2:4]
    assert demo.get('/trades', market=MARKET, tradeIdTo=trades[1]['id'], limit=1) == trades[1:2]
    assert sum(len(o['fills']) for o in orders) == len(trades)
    assert {t['orderId'] for t in trades} <= {o['orderId'] for o in orders}


def account_and_fees():
    account, fees = demo.get('/account'), demo.get('/account/fees', market=MARKET)
    assert {**account['fees'], 'tier': '0'} == fees and type(account['fees']['tier']) is int and 'buy' in account['capabilities']
    assert demo.get('/balance', symbol='BTC')[0]['symbol'] == 'BTC'
    first = demo.get('/account/history', maxItems=2, page=1)
    assert first['currentPage'] == 1 and first['maxItems'] == 2 and first['totalPages'] == -(-len(demo.get('/account/history')['items']) // 2)
    for item in demo.get('/account/history', type='buy')['items']:
        assert item['type'] == 'buy' and item['executedAt'].endswith('Z') and item['address'] is None and item['receivedCurrency'] == 'BTC'


def money_in_and_out():
    assert set(demo.get('/deposit', symbol='BTC')) == {'address', 'paymentId'} and set(demo.get('/deposit', symbol='EUR')) == {'iban', 'bic', 'description'}
    assert demo.get('/depositHistory', symbol='EUR')[0]['status'] == 'completed'
    before = balances()
    out = demo.ask('POST', '/withdrawal', None, {'symbol': 'EUR', 'amount': '100', 'address': 'NL91ABNA0417164300'})
    assert out == {'success': True, 'symbol': 'EUR', 'amount': '100'} and balances()['EUR'][0] == before['EUR'][0] - 100
    assert demo.get('/withdrawalHistory', symbol='EUR', limit=1)[0]['status'] == 'awaiting_processing'
    refused(400, 408, lambda: demo.ask('POST', '/withdrawal', None, {'symbol': 'BTC', 'amount': '500', 'address': 'bc1q0'}))
    refused(400, 409, lambda: demo.ask('POST', '/withdrawal', None, {'symbol': 'EUR', 'amount': '100', 'address': 'NL91ABNA0417164301'}))


def refusals_of_orders():
    limit = {'side': 'buy', 'orderType': 'limit', 'amount': '0.01', 'price': str(far)}
    for change, code, words in (({'operatorId': None}, 203, 'operatorId parameter is required.'), ({'amount': '0.0000000001'}, 429, 'amount'), ({'price': str(far) + '.5'}, 422, ''),
                                ({'amount': '0.000001'}, 212, ''), ({'side': 'hold'}, 205, 'side'), ({'amount': '900'}, 216, ''), ({'orderType': 'market', 'price': None, 'amountQuote': '5'}, 206, ''),
                                ({'orderType': 'stopLoss', 'price': None}, 237, ''), ({'colour': 'red'}, 204, 'colour'), ({'codGroupId': 1001}, 205, 'codGroupId'), ({'market': 'NO-EUR'}, 205, 'market')):
        body = {'market': MARKET, 'operatorId': 7, **limit, **change}
        body = {k: v for k, v in body.items() if v is not None}
        refused(400, code, lambda: demo.ask('POST', '/order', None, body), words)
    refused(400, 203, lambda: demo.get('/orders'), 'market')
    refused(400, 205, lambda: demo.get('/orders', market=MARKET, limit=1001), 'limit')


def refusals_of_credentials():
    refused(403, 300, lambda: public.get('/balance'))
    refused(403, 301, lambda: Client('short', 's').get('/balance'))
    refused(403, 304, lambda: Client(demo.key, demo.secret, shift=-60_000).get('/balance'))
    refused(403, 305, lambda: Client('f' * 64, 's').get('/balance'))
    refused(403, 308, lambda: demo.ask('GET', '/balance', signature='00'))
    refused(403, 309, lambda: Client(demo.key, 'wrong').get('/balance'))
    refused(403, 310, lambda: reader.place(side='buy', orderType='market', amountQuote='5'))
    refused(403, 312, lambda: reader.ask('POST', '/withdrawal', None, {'symbol': 'EUR', 'amount': '100', 'address': 'NL91ABNA0417164300'}))
    assert reader.get('/balance')


def a_budget_that_is_used_up():
    ban = refused(429, 105, lambda: hasty.get('/balance'), ' at ')
    assert int(ban.text.split(' at ')[1].rstrip('.')) > time.time() * 1000 and hasty.remaining == 0 and hasty.resets > time.time() * 1000


for walk in (times_and_lists, prices, candles_of_all_intervals, public_trades_by_pages, life_of_a_limit_order, market_orders_pay_their_fees, stops_wait_and_are_cancelled,
             own_lists_by_pages, account_and_fees, money_in_and_out, refusals_of_orders, refusals_of_credentials, a_budget_that_is_used_up):
    step(walk)
