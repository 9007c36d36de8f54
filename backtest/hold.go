package backtest

import (
	"fmt"
	"math"

	"github.com/tidemark-trading/tidemark/backtest/report"
	"github.com/tidemark-trading/tidemark/market"
)

// hold is the benchmark: the markets of the strategies, bought with equal parts of the start equity
// once trading begins, and held. One market is followed candle by candle. Several are looked at
// once a day, which costs nothing between; each is bought at the first look at which it has a
// price.
type hold struct {
	trading bool // a strategy has ended its warm-up

	// One market.
	track  track        // its closes
	open   market.Price // what it was bought at, with spread and slippage
	fee    market.Rate  // of that buy
	seen   bool
	length market.Duration // of a candle; 0: it varies
	shared *benchmark      // of runs that step the same candles; nil: track has the closes
	joint  *heldSince      // what shared has of this hold; nil until it has begun

	// Several markets.
	parts   []holdPart
	cash    float64 // not invested yet, in units of the currency
	due     market.Time
	samples []report.Sample

	from market.Time // when it began
}

// holdPart is one of several markets. worth is what a unit of its price is worth; 0: not bought.
type holdPart struct {
	market *market.Market
	worth  float64
}

// bought is the price that a market order pays around a price.
func (c *recorderConfig) bought(price market.Price) market.Price {
	return c.Spread.Paid(market.Buy, price, 1)
}

// several reports whether the benchmark has more than one market.
func (h *hold) several() bool { return len(h.parts) > 1 }

// look marks several markets at a close.
func (h *hold) look(at market.Time, cfg *recorderConfig, last func(market.ID) market.Price) {
	if h.from == 0 {
		h.from, h.cash = at, float64(cfg.Start)
		h.track.start(at, int64(cfg.Start))
	}
	share := float64(cfg.Start) / float64(len(h.parts))
	equity := 0.0
	for i := range h.parts {
		p := &h.parts[i]
		price := last(p.market.ID)
		if p.worth == 0 && price > 0 {
			p.worth = share / (float64(cfg.bought(price)) * (1 + rate(cfg.Fees[p.market.ID].Taker)))
			h.cash -= share
		}
		equity += float64(p.worth * float64(price))
	}
	equity = min(max(equity+max(h.cash, 0), 0), math.MaxInt64/2)
	if at > h.track.dayEnd {
		h.track.roll(at)
	}
	h.track.add(at, int64(equity))
	h.due = endOfDay(at + 1)
	h.samples = append(h.samples, report.Sample{At: at, Equity: equity / math.Pow10(int(cfg.Currency.Digits))})
}

// rate is a rate as a number.
func rate(r market.Rate) float64 { return float64(r) / float64(market.Pow10(market.RateDigits)) }

// buyAndHold computes the figures of the benchmark.
func (r *recorder) buyAndHold(to market.Time) Hold {
	h := &r.hold
	if !h.seen && h.from == 0 {
		return Hold{Markets: []string{}, Final: r.amount(r.cfg.Start), Ratios: undefinedRatios()}
	}
	names := make([]string, len(h.parts))
	for i := range h.parts {
		names[i] = h.parts[i].market.Name
	}
	final, name := market.Money(h.track.last), fmt.Sprintf("%d markets", len(names))
	if !h.several() {
		final, name = holdEquity(r.cfg.Start, h.open, market.Price(h.track.last), h.fee), names[0]
	}
	growth, cost := float64(final)/float64(r.cfg.Start), float64(h.open)*(1+rate(h.fee))
	return Hold{Market: name, Markets: names, From: Moment(h.from), Final: r.amount(final),
		Ratios: h.track.ratios(growth, cost, to.Sub(h.from), to)}
}

// holdText says how the benchmark was computed.
func (res *Result) holdText() string {
	h := &res.Hold
	if h.Market == "" {
		return "There is no buy and hold to compare with: no strategy could trade."
	}
	text := fmt.Sprintf("Buy and hold buys %s with all of the start equity", h.Market)
	if len(h.Markets) > 1 {
		text = fmt.Sprintf("Buy and hold buys the %d markets of the strategies with equal parts of the start equity, "+
			"each once it is listed, and does not rebalance; it is marked once a day", len(h.Markets))
	}
	text += fmt.Sprintf(", from %s on", h.From.Date())
	if h.From.Date() != res.From.Date() {
		text += ", when the first strategy could trade"
	}
	return text + ". It pays the taker's fee, the spread and the slippage."
}
