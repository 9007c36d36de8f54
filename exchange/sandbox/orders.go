package sandbox

import (
	"math"
	"strconv"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/market"
)

// dayMillis is how wide a range of times may be where it is bounded (venue-facts 1.3).
const dayMillis = 24 * 60 * 60 * 1000

// listedOrder is an order as a list shows it.
type listedOrder struct {
	market.Order
	latest bool // no later order of the account carries its clientOrderId
}

// getOrdersOpen is GET /ordersOpen (specification 4.5): open orders of one market, of the markets
// of one base or of all, by market, latest first, without their fills.
func (ex *Exchange) getOrdersOpen(c *api.Call) *exchange.Error {
	open := new(snapshot[listedOrder])
	for _, m := range ex.catalog.Markets() {
		switch {
		case c.Has("market") && m.Name != c.Text("market"):
			continue
		case c.Has("base") && ex.catalog.Asset(m.Base).Symbol != c.Text("base"):
			continue
		}
		for r := ex.accounts.caller(c).recordsOf(m.ID).open.newest; r != nil; r = r.links[byState].older {
			row := open.add()
			ex.copyOrder(&row.Order, r, c.Now)
			row.latest = !r.reused
		}
	}
	c.More = open.list(func(dst []byte, o *listedOrder) []byte {
		return exchange.AppendListed(dst, ex.catalog, &o.Order, nil, o.latest)
	})
	return nil
}

// getOrders is GET /orders (specification 4.3): orders of a market, latest first, with their fills,
// from start to end of their creation and from orderIdFrom to orderIdTo, all inclusive. An orderId
// bounds by its place among the market's orders, whether or not there is such an order of the
// account.
func (ex *Exchange) getOrders(c *api.Call) *exchange.Error {
	m := ex.catalog.MarketNamed(c.Text("market"))
	times, refused := timesOf(c, ex.config.Rules.DayWindow)
	if refused != nil {
		return refused
	}
	places, refused := placesOf(c, "orderIdFrom", "orderIdTo", m.ID, nameOfOrder)
	if refused != nil {
		return refused
	}
	rows := c.Integer("limit", defaultRows)
	c.Out = append(c.Out, '[')
	for r := ex.accounts.caller(c).recordsOf(m.ID).all.newest; r != nil && rows > 0; r = r.links[byCreation].older {
		created := ex.orderOf(r).Created.Millis()
		if created < times.from || int64(r.count) < places.from {
			break
		}
		if created > times.to || int64(r.count) > places.to {
			continue
		}
		ex.appendListed(c, r, r.fills())
		rows--
	}
	c.Out = append(c.Out, ']')
	return nil
}

// getTrades is GET /trades (venue-facts 1.3): the account's trades of a market, latest first, from
// start to end (at most 24 hours later) and from tradeIdFrom to tradeIdTo, all inclusive. fee and
// feeCurrency are left out until the trade is settled.
func (ex *Exchange) getTrades(c *api.Call) *exchange.Error {
	m := ex.catalog.MarketNamed(c.Text("market"))
	times, refused := timesOf(c, true)
	if refused != nil {
		return refused
	}
	places, refused := placesOf(c, "tradeIdFrom", "tradeIdTo", m.ID, nameOfFill)
	if refused != nil {
		return refused
	}
	rows := c.Integer("limit", defaultRows)
	trades := ex.accounts.caller(c).recordsOf(m.ID).trades
	trades = trades[max(0, len(trades)-ex.config.Retention.Trades):]
	c.Out = append(c.Out, '[')
	for i := len(trades) - 1; i >= 0 && rows > 0; i-- {
		at := trades[i].Time.Millis()
		count, _ := countOf(trades[i].ID, m.ID, nameOfFill) // the venue made it
		if at < times.from || int64(count) < places.from {
			break
		}
		if at > times.to || int64(count) > places.to {
			continue
		}
		ex.appendTrade(c, m, &trades[i])
		rows--
	}
	c.Out = append(c.Out, ']')
	return nil
}

// appendTrade appends a trade to a list of them.
func (ex *Exchange) appendTrade(c *api.Call, m *market.Market, t *trade) {
	told := t.at(c.Now)
	dst := c.Out
	if dst[len(dst)-1] != '[' {
		dst = append(dst, ',')
	}
	dst = append(append(dst, `{"id":"`...), told.ID.String()...)
	dst = append(append(dst, `","orderId":"`...), t.OrderID.String()...)
	if t.ClientOrderID != uuid.Nil {
		dst = append(append(dst, `","clientOrderId":"`...), t.ClientOrderID.String()...)
	}
	dst = strconv.AppendInt(append(dst, `","timestamp":`...), told.Time.Millis(), 10)
	dst = append(append(dst, `,"market":"`...), m.Name...)
	dst = append(append(dst, `","side":"`...), told.Side.String()...)
	dst = market.AppendFixed(append(dst, `","amount":"`...), int64(told.Amount), m.AmountDigits)
	dst = market.AppendFixed(append(dst, `","price":"`...), int64(told.Price), m.PriceDigits)
	dst = strconv.AppendBool(append(dst, `","taker":`...), told.Taker)
	if told.Settled {
		dst = told.Fee.Append(append(dst, `,"fee":"`...), m.ValueDigits)
		dst = append(append(dst, `","feeCurrency":"`...), ex.catalog.Asset(told.FeeCurrency).Symbol...)
		dst = append(dst, '"')
	}
	dst = strconv.AppendBool(append(dst, `,"settled":`...), told.Settled)
	c.Out = append(strconv.AppendInt(append(dst, `,"operatorId":`...), t.OperatorID, 10), '}')
}

// span is a range of numbers, both ends included.
type span struct{ from, to int64 }

// timesOf reads start and end, in Unix milliseconds. An end before the start is 205; so is one more
// than a day after it, where the range is bounded and both are given.
func timesOf(c *api.Call, bounded bool) (span, *exchange.Error) {
	s := span{c.Integer("start", 0), c.Integer("end", math.MaxInt64)}
	if s.to < s.from || bounded && c.Has("start") && c.Has("end") && s.to-s.from > dayMillis {
		return s, exchange.Invalid("end")
	}
	return s, nil
}

// placesOf reads two identifiers as places among those of their kind in a market. What names
// nothing of that kind there is 205.
func placesOf(c *api.Call, from, to string, id market.ID, kind byte) (s span, refused *exchange.Error) {
	if s.from, refused = placeOf(c, from, 0, id, kind); refused != nil {
		return s, refused
	}
	s.to, refused = placeOf(c, to, math.MaxInt64, id, kind)
	return s, refused
}

// placeOf reads one of them; otherwise is the place where it was not sent.
func placeOf(c *api.Call, parameter string, otherwise int64, id market.ID, kind byte) (int64, *exchange.Error) {
	sent := c.Arg(parameter)
	if !sent.Set {
		return otherwise, nil
	}
	count, ok := placeNamed(sent.Text, id, kind)
	if !ok {
		return 0, exchange.Invalid(parameter)
	}
	return int64(count), nil
}
