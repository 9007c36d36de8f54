package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/poll"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/strategy"
)

// A rehearsal lets a strategy decide on so many candles after its warm-up, and fetches at most
// maxCandles of a series.
const (
	rehearsed  = 500
	maxCandles = 10_000
)

// rehearse lets each strategy trade over the latest candles of the exchange, in a backtest with its
// own parameters, money and limits. It reports the strategy's orders and returns those that passed
// the gate.
func (d *doctor) rehearse(ctx context.Context, deposits []backtest.Deposit) (placed []backtest.Placed) {
	for i := range d.plan.Strategies {
		id, s := market.StrategyID(i+1), &d.plan.Strategies[i]
		needs, err := s.Kind.Needs(s.Values)
		if err != nil {
			d.fail("rehearsal", fmt.Sprintf("%s: %v", s.Name, err), "correct its parameters")
			continue
		}
		got, err := d.rehearseOne(ctx, s, &needs, ownDeposits(deposits, id, s.Own))
		switch {
		case errors.Is(err, backtest.ErrNoCandles):
			d.warn("rehearsal", fmt.Sprintf("%s: the exchange has no candles of its markets yet", s.Name),
				"a rehearsal is possible once the markets have candles")
		case err != nil:
			d.fail("rehearsal", fmt.Sprintf("%s: %v", s.Name, err), "bot backtest over fetched candles shows more")
		default:
			d.judge(s, got)
			for _, note := range got.Notes[0] {
				d.ok("rehearsal", "%s: %s", s.Name, note)
			}
			for _, one := range got.Placed {
				one.Strategy = id
				placed = append(placed, one)
			}
		}
	}
	return placed
}

// ownDeposits are the deposits that a strategy may use, as if it were the only one.
func ownDeposits(all []backtest.Deposit, id market.StrategyID, own bool) (deposits []backtest.Deposit) {
	for _, one := range all {
		if own && one.Owner == id {
			one.Owner = 1
			deposits = append(deposits, one)
		} else if !own && one.Owner == 0 {
			deposits = append(deposits, one)
		}
	}
	return deposits
}

// rehearseOne runs one strategy.
func (d *doctor) rehearseOne(ctx context.Context, s *backtest.StrategyPlan, needs *strategy.Needs,
	deposits []backtest.Deposit) (*backtest.Rehearsal, error) {
	p := d.plan
	plan := &backtest.Plan{Catalog: p.Catalog, Currency: p.Currency, Deposits: deposits,
		Strategies: []backtest.StrategyPlan{*s}, Account: p.Limits,
		Fees: p.Fees, SyntheticBook: true, Log: zerolog.Nop()}
	if d.lacksCloses(s, needs) > 0 {
		plan.Account.VolatilityTarget = 0 // the rehearsal is about the time after those closes
	}
	series := needs.Of(s.Interval)
	slices.SortFunc(series, func(a, b strategy.Candles) int { return cmp.Compare(a.Interval, b.Interval) })
	length := s.Interval.End(0).Sub(0) * rehearsed
	stored := map[backtest.Feed][]market.Candle{}
	heard := &hearing{MarketData: d.client}
	source, now := poll.New(poll.Config{Data: heard, Catalog: p.Catalog, Log: zerolog.Nop()}), d.client.Now()
	for i, c := range series {
		for _, m := range p.Offered(s) {
			feed := backtest.Feed{Market: m, Interval: c.Interval, Drive: i == 0, Deliver: true}
			count := min(maxCandles, c.Warmup+int(length/c.Interval.End(0).Sub(0))+1)
			series := poll.Series{Market: m.ID, Interval: c.Interval}
			candles, err := source.History(ctx, series, now, count)
			if err != nil {
				return nil, err
			}
			d.tellCandles(series, candles, now, heard)
			plan.Feeds, stored[feed] = append(plan.Feeds, feed), candles
		}
	}
	slices.SortFunc(plan.Feeds, func(a, b backtest.Feed) int {
		return cmp.Or(cmp.Compare(a.Interval, b.Interval), cmp.Compare(a.Market.ID, b.Market.ID))
	})
	plan.Open = func(f backtest.Feed, _, _ market.Time) (backtest.Source, error) {
		return &candlesAtHand{stored[f]}, nil
	}
	return backtest.Rehearse(ctx, plan)
}

// candlesAtHand is a backtest.Source of candles in memory.
type candlesAtHand struct{ rest []market.Candle }

// Next returns all candles, once.
func (c *candlesAtHand) Next() ([]market.Candle, error) {
	if len(c.rest) == 0 {
		return nil, io.EOF
	}
	batch := c.rest
	c.rest = nil
	return batch, nil
}

// Close does nothing.
func (c *candlesAtHand) Close() error { return nil }

// judge makes the finding of a rehearsal.
func (d *doctor) judge(s *backtest.StrategyPlan, r *backtest.Rehearsal) {
	const check = "rehearsal"
	refused, why, met := int64(0), []string(nil), ""
	for _, c := range r.Refusals[0] {
		if c.Reason == risk.ReasonDailyLoss.String() || c.Reason == risk.ReasonDrawdown.String() {
			met = c.Reason
		}
		if c.Reason != risk.ReasonWarmUp.String() {
			refused += c.N
			why = append(why, fmt.Sprintf("%s %d", exchange.Explained(c.Reason), c.N))
		}
	}
	reasons := strings.Join(why, ", ")
	over := fmt.Sprintf("%s over the latest %d %s candles", s.Name, rehearsed, s.Interval)
	switch untradable := slices.ContainsFunc(s.Markets,
		func(m *market.Market) bool { return m.Status != market.Trading }); {
	case len(r.Halts) > 0:
		d.fail(check, fmt.Sprintf("%s: it was halted at %s: %s", over, r.Halts[0].At, r.Halts[0].Reason),
			"correct the strategy; bot backtest over fetched candles shows the same")
	case len(r.Placed) == 0 && refused > 0 && !untradable:
		d.fail(check, fmt.Sprintf("%s: all %d orders that it asked for were refused: %s", over, refused, reasons),
			"change its parameters, its allocation or the limit: as they are it cannot trade")
	case len(r.Placed) == 0 && refused > 0:
		d.warn(check, fmt.Sprintf("%s: all %d orders that it asked for were refused: %s", over, refused, reasons),
			"the bot waits until the market trades")
	case len(r.Placed) == 0:
		d.ok(check, "%s, behind a warm-up of %s: it asked for no order", over,
			backtest.Declared([]backtest.StrategyPlan{*s}))
	case met != "":
		d.warn(check, fmt.Sprintf("%s: its loss met %s: %d orders, and %d refused: %s", over, met, len(r.Placed),
			refused, reasons), "the limit did its work, and the bot would have opened nothing more; if that is too "+
			"early, make the orders smaller, or the limit larger")
	case int64(len(r.Placed)) < refused:
		d.warn(check, fmt.Sprintf("%s: %d orders, and %d refused: %s", over, len(r.Placed), refused, reasons),
			"look whether its parameters and the limits fit each other")
	case refused > 0:
		d.ok(check, "%s: %d orders, and %d refused: %s", over, len(r.Placed), refused, reasons)
	default:
		d.ok(check, "%s: %d orders", over, len(r.Placed))
	}
}

// smallestBuy is the buy order of the smallest value that a strategy placed in a market; nil: none.
func smallestBuy(placed []backtest.Placed, id market.StrategyID, m *market.Market) (least *backtest.Placed) {
	for i := range placed {
		one := &placed[i]
		if one.Strategy == id && one.Market == m.ID && one.Side == market.Buy &&
			(least == nil || valueOf(m, one).Cmp(valueOf(m, least)) < 0) {
			least = one
		}
	}
	return least
}

// valueOf is the value of an order at the time of its decision.
func valueOf(m *market.Market, p *backtest.Placed) market.Value {
	if p.AmountQuote != 0 {
		return m.MoneyValue(p.AmountQuote)
	}
	price := p.Price
	if price == 0 {
		price = p.Last
	}
	value, _ := m.Value(price, p.Amount) // the gate has computed it already
	return value
}

// describe is an order in words.
func (d *doctor) describe(m *market.Market, p *backtest.Placed) string {
	quote := d.plan.Catalog.Asset(m.Quote).Symbol
	if p.AmountQuote != 0 {
		return fmt.Sprintf("%s %s for %s %s", p.Type, p.Side, m.FormatMoney(p.AmountQuote), quote)
	}
	text := fmt.Sprintf("%s %s of %s", p.Type, p.Side, m.FormatQty(p.Amount))
	if p.Price != 0 {
		return text + " at " + m.FormatPrice(p.Price)
	}
	return text + " at about " + m.FormatPrice(p.Last)
}
