package sandbox

import (
	"cmp"
	"fmt"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// listedStatuses are the statuses of a market that the exchange lists.
func listedStatuses() []string { return market.Words[market.MarketStatus]()[:market.Delisted-1] }

// setStatus changes a market's status (specification 3.2). opening is the price of auctionMatching;
// 0: the venue finds it. A market that trades again takes up the price that its source has come to
// meanwhile.
func (ex *Exchange) setStatus(l *listing, status market.MarketStatus, opening market.Price, at market.Time) {
	before := l.Status
	ex.touch(l)
	if err := ex.venue.Advance(&market.Event{At: at, Kind: market.KindMarketStatus, Market: l.ID, Status: status,
		Price: opening}); err != nil {
		ex.fail(err)
		return
	}
	if status == market.AuctionMatching && opening != 0 {
		l.price = opening
	}
	if status == market.Trading && before != market.Trading && l.price != 0 {
		ex.move(l, &prices.Movement{At: at, Price: l.price, Side: market.Buy})
	}
}

// adminStatus answers POST /admin/status with the market's record.
func (ex *Exchange) adminStatus(c *api.Call) *exchange.Error {
	l := ex.named(c)
	status, err := market.ParseMarketStatus(c.Text("status")) // nil: the table has the words
	opening := market.Price(0)
	if c.Has("price") {
		if status != market.AuctionMatching {
			return invalid(fmt.Errorf("price: only status auctionMatching has an opening price"))
		}
		if opening, err = prices.Parse(l.Market, c.Text("price")); err != nil {
			return invalid(err)
		}
	}
	ex.setStatus(l, status, opening, c.Now)
	return ex.answerMarket(c, l)
}

// answerMarket answers with the record of GET /markets.
func (ex *Exchange) answerMarket(c *api.Call, l *listing) *exchange.Error {
	return respond(c, func(w *wire.Writer) { ex.writeMarket(w, l) })
}

// setTick changes a market's tickSize. The house offers anew; orders that rest stay where they are.
func (ex *Exchange) setTick(l *listing, tick market.Price) {
	l.TickSize = tick
	ex.touch(l)
	ex.venue.Requote(l.ID)
}

// applyRules gives a market other rules. Its fee category stays: the config decides the fees.
func (ex *Exchange) applyRules(l *listing, rules *market.Rules) {
	tick, category := l.TickSize, l.FeeCategory
	l.Rules = *rules
	l.TickSize, l.FeeCategory = tick, category
	if rules.TickSize != tick {
		ex.setTick(l, rules.TickSize)
	}
}

// adminRules answers POST /admin/rules with the market's record. All rules are changed or none.
func (ex *Exchange) adminRules(c *api.Call) *exchange.Error {
	l := ex.named(c)
	m := *l.Market
	var err error
	for _, rule := range [...]struct {
		name string
		read func(string) error
	}{
		{"tickSize", func(text string) error { m.TickSize, err = m.ParsePrice(text); return err }},
		{"minOrderInBaseAsset", func(text string) error { m.MinOrderInBase, err = m.ParseQty(text); return err }},
		{"minOrderInQuoteAsset", func(text string) error { m.MinOrderInQuote, err = m.ParseMoney(text); return err }},
		{"maxOrderInBaseAsset", func(text string) error { m.MaxOrderInBase, err = m.ParseQty(text); return err }},
		{"maxOrderInQuoteAsset", func(text string) error { m.MaxOrderInQuote, err = m.ParseMoney(text); return err }},
	} {
		if !c.Has(rule.name) {
			continue
		}
		if err := rule.read(c.Text(rule.name)); err != nil {
			return exchange.Invalid(rule.name)
		}
	}
	m.QuantityDecimals = uint8(c.Integer("quantityDecimals", int64(m.QuantityDecimals)))
	m.NotionalDecimals = uint8(c.Integer("notionalDecimals", int64(m.NotionalDecimals)))
	m.MaxOpenOrders = int(c.Integer("maxOpenOrders", int64(m.MaxOpenOrders)))
	switch {
	case c.Has("tickSize") && m.TickSize == 0:
		return exchange.Invalid("tickSize")
	case m.QuantityDecimals > m.AmountDigits:
		return exchange.Invalid("quantityDecimals")
	case m.NotionalDecimals > m.QuoteDigits:
		return exchange.Invalid("notionalDecimals")
	}
	ex.applyRules(l, &m.Rules)
	return ex.answerMarket(c, l)
}

// adminPrice answers POST /admin/price. In a market that is not trading the price is taken up when
// it trades again. A source goes on from its own price with its next movement.
func (ex *Exchange) adminPrice(c *api.Call) *exchange.Error {
	l := ex.named(c)
	to, err := prices.Parse(l.Market, c.Text("price"))
	if err != nil {
		return invalid(err)
	}
	amount := market.Qty(0)
	if c.Has("amount") {
		if amount, err = l.ParseQty(c.Text("amount")); err != nil {
			return exchange.Invalid("amount")
		}
	}
	side := market.Buy
	if to < l.price {
		side = market.Sell
	}
	ex.move(l, &prices.Movement{At: c.Now, Price: to, Amount: amount, Side: side})
	return object(c, func(w *wire.Writer) {
		w.Text("market", l.Name)
		w.Text("price", l.FormatPrice(l.price))
	})
}

// cancelAll ends the open orders of a market, those of one account or of all (nil), by account,
// oldest first. It calls tell with each before its end.
func (ex *Exchange) cancelAll(l *listing, of *account, reason market.RestatementReason, at market.Time,
	tell func(*account, *record)) {
	for _, a := range ex.accounts {
		if of != nil && a != of {
			continue
		}
		for r := a.recordsOf(l.ID).open.oldest; r != nil; {
			next := r.links[byState].newer
			ex.end(a, r, reason, at, tell)
			r = next
		}
	}
}

// end ends an open order for a reason of the operator's.
func (ex *Exchange) end(a *account, r *record, reason market.RestatementReason, at market.Time,
	tell func(*account, *record)) {
	if tell != nil {
		tell(a, r)
	}
	ex.venue.Cancel(r.id, at, reason)
}

// canceledOrder is an element of the answer of POST /admin/cancelOrders.
type canceledOrder struct {
	Account string `json:"account"`
	Market  string `json:"market"`
	OrderID string `json:"orderId"`
}

// adminCancelOrders answers POST /admin/cancelOrders with the orders that it has ended. The status
// of the market does not matter.
func (ex *Exchange) adminCancelOrders(c *api.Call) *exchange.Error {
	ended := []canceledOrder{}
	tell := func(a *account, r *record) {
		ended = append(ended, canceledOrder{a.name, ex.catalog.Market(r.market).Name,
			ex.orderOf(r).ExchangeID.String()})
	}
	reason, _ := market.ParseRestatementReason(cmp.Or(c.Text("reason"), fault.Reasons[1])) // the table has the words
	var of *account
	if c.Has("account") {
		if of = ex.accounts.named(c.Text("account")); of == nil {
			return exchange.Invalid("account")
		}
	}
	if c.Has("orderId") {
		r, refused := ex.openOrder(c, of)
		if refused != nil {
			return refused
		}
		ex.end(ex.accounts[r.account], r, reason, c.Now, tell)
	} else {
		for _, l := range ex.listings[1:] {
			if !c.Has("market") || l.Name == c.Text("market") {
				ex.cancelAll(l, of, reason, c.Now, tell)
			}
		}
	}
	answerJSON(c, ended)
	return nil
}

// openOrder returns the open order that market and orderId name, whose account is of where that is
// not nil; 240 where there is none.
func (ex *Exchange) openOrder(c *api.Call, of *account) (*record, *exchange.Error) {
	if !c.Has("market") {
		return nil, exchange.Required("market")
	}
	l := ex.named(c)
	count, ok := countOf(c.UUID("orderId"), l.ID, nameOfOrder)
	if r := l.orders.Get(market.OrderID(count)); ok && count != 0 && r != nil && !r.closed() &&
		(of == nil || of.id == r.account) {
		return r, nil
	}
	return nil, exchange.ErrCode(exchange.CodeNotFound)
}
