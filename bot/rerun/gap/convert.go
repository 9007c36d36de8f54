package gap

import (
	"cmp"
	"slices"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// convert scales an answer about a live order to the order of this run, and gives its fills the
// model's prices and fees where these are no facts of the run.
func (r *run) convert(p *pair, ev *market.Event) *market.Event {
	if ev.Report == nil {
		return r.settle(p, ev)
	}
	known := r.session.Account().Known(p.order.ID)
	if known == nil || ev.Report.Exec == market.ExecRejected || ev.Report.Exec == market.ExecUnknown {
		return ev
	}
	report := *ev.Report
	o := known.Order
	own := ev.Fills[:0]
	for _, f := range ev.Fills {
		if r.convertFill(p, &o, &report, &f) {
			own = append(own, f)
		}
	}
	ev.Fills = own
	o.Status, o.RestatementReason, o.ExchangeID, o.Updated = report.Status, report.RestatementReason,
		report.ExchangeID, max(report.Updated, known.Updated)
	o.Triggered = o.Triggered || report.Triggered
	o.FilledAmount, o.FilledAmountQuote, o.FeePaid = p.sum.amount, p.sum.value, p.sum.fee
	o.AmountRemaining = max(0, o.Amount-o.FilledAmount)
	if o.ByQuote() {
		o.AmountRemaining, o.AmountQuoteRemaining = 0, report.AmountQuoteRemaining
	}
	if o.OnHold = 0; o.Done() {
		p.done = true
	} else {
		o.OnHold = r.hold(&o)
	}
	exec := report.Exec
	ev.Report.Describe(&o, exec)
	return ev
}

// settle converts fees that were settled late. The model knows them at once.
func (r *run) settle(p *pair, ev *market.Event) *market.Event {
	if !r.facts.Has(Fees) {
		return nil
	}
	own := ev.Fills[:0]
	for _, f := range ev.Fills {
		at := slices.IndexFunc(p.fills, func(s scaled) bool { return s.id == f.ID })
		if at < 0 {
			continue
		}
		f.Fee, f.Amount = partOf(f.Fee, p.fills[at].own, p.fills[at].was), p.fills[at].own
		own = append(own, f)
	}
	if ev.Fills = own; len(own) == 0 {
		return nil
	}
	return ev
}

// convertFill converts a fill; false: nothing of it remains.
func (r *run) convertFill(p *pair, o *market.Order, live *market.Report, f *market.Fill) bool {
	m := r.survey.first.made.Catalog.Market(o.Market)
	p.live += f.Amount
	price := f.Price
	if !r.facts.Has(Prices) {
		price = r.modelPrice(p, o, f)
	}
	amount, was := r.share(p, o, live, m, price), f.Amount
	if amount <= 0 {
		return false
	}
	gross, err := m.Value(price, amount)
	if err != nil {
		return false
	}
	switch {
	case !r.facts.Has(Fees):
		f.Fee = r.modelFee(p, o, m, gross, f.Taker)
		f.Settled = true
	case amount != was || price != f.Price:
		f.Fee = partOf(f.Fee, amount, was)
	}
	if f.Price, f.Amount = price, amount; !f.Settled {
		p.fills = append(p.fills, scaled{f.ID, amount, was})
	}
	p.sum.amount += amount
	p.sum.value, _ = p.sum.value.Add(gross)
	p.sum.fee, _ = p.sum.fee.Add(f.Fee)
	return true
}

// share is how much of the run's order fills with the next live fill: the same part of it.
func (r *run) share(p *pair, o *market.Order, live *market.Report, m *market.Market, price market.Price) market.Qty {
	have, of := int64(o.Amount), int64(live.Amount)
	if o.ByQuote() {
		have, of = int64(o.AmountQuote), int64(live.AmountQuote)
	}
	if of == 0 || have == of && r.facts.Has(Prices) {
		return p.live - p.sum.amount
	}
	product, err := market.Product(int64(p.live), have, 0)
	if err != nil {
		return 0
	}
	whole, err := product.FloorQuo(of, 0)
	if err != nil {
		return 0
	}
	target := market.FloorDigits(market.Qty(whole), m.AmountDigits, m.QuantityDecimals)
	if o.ByQuote() {
		rate := r.fees().Taker
		return min(target-p.sum.amount, exchange.BaseForMoney(m, o.AmountQuoteRemaining, price, rate))
	}
	if p.live >= live.Amount {
		target = o.Amount
	}
	return min(target, o.Amount) - p.sum.amount
}

// modelPrice is the price at which the model fills an order that the record says has filled: a
// resting one at its limit, a taker at what was offered when it reached the exchange, with the
// assumed slippage, or at its trigger.
func (r *run) modelPrice(p *pair, o *market.Order, f *market.Fill) market.Price {
	limit := cmp.Or(p.limit, o.Price)
	if !f.Taker && limit != 0 {
		return limit
	}
	if p.offered == 0 {
		p.offered = r.offered(o.Market, o.Side)
	}
	spread := exchange.Spread{Half: r.model.Venue.HalfSpread, Slippage: r.model.Venue.Slippage}
	price := spread.Taken(o.Side, p.offered)
	if o.TriggerAmount != 0 { // it took when its trigger fired
		price = spread.Paid(o.Side, o.TriggerAmount, 1)
	}
	if limit != 0 && (o.Side == market.Buy) == (price > limit) && price != limit {
		price = limit
	}
	if price <= 0 {
		price = f.Price
	}
	return price
}

// offered is what a taker of a side meets now: the recorded quote, or the latest price with the
// assumed spread.
func (r *run) offered(id market.ID, side market.Side) market.Price {
	if t := r.quotes[id]; r.facts.Has(Data) && side == market.Buy && t.Ask != 0 {
		return t.Ask
	} else if r.facts.Has(Data) && side == market.Sell && t.Bid != 0 {
		return t.Bid
	}
	return exchange.Spread{Half: r.model.Venue.HalfSpread}.Offered(side, r.session.Account().Last(id))
}

// modelFee is the fee of the bot's settings.
func (r *run) modelFee(p *pair, o *market.Order, m *market.Market, gross market.Value, taker bool) market.Value {
	rate := r.fees().Maker
	if taker {
		rate = r.fees().Taker
	}
	_, fee, err := p.settled.Fill(m, o.Side, gross, rate, r.model.Venue.FeeRounding)
	if err != nil {
		return market.Value{}
	}
	return fee
}

// partOf is fee·amount/of, rounded down.
func partOf(fee market.Value, amount, of market.Qty) market.Value {
	product, err := fee.MulInt(int64(amount))
	if err != nil || of == 0 {
		return fee
	}
	return product.QuoInt(int64(of))
}
