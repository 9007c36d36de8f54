package runner

import (
	"context"
	"fmt"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// sellRounds is how often flatten tries to sell a strategy's positions.
const sellRounds = 5

// feeTimeout is how long flatten waits for the fees of its sales: the result is final only with
// them.
const feeTimeout = market.Duration(10e9)

// flatten halts strategies, cancels all their orders, and sells their positions.
func (c *control) flatten(ctx context.Context, ask *operator.Request) (*operator.Report, error) {
	ids, names, err := c.strategies(ask.Strategy)
	if err != nil {
		return nil, err
	}
	report := operator.NewReport(names)
	f := flattening{control: c, ids: ids, reason: reasonOf(ask, "flattened"), progress: make([]flatProgress, len(ids)),
		report: report}
	report.Done, err = c.until(ctx, f.step)
	report.Done = report.Done && len(report.Held) == f.dust && len(report.Open) == 0
	if err != nil {
		return report, err
	}
	report.Sales, err = c.sales(c.ctx, f.sells)
	return report, err
}

// flattening is a flatten under way.
type flattening struct {
	*control
	ids       []market.StrategyID
	reason    string
	progress  []flatProgress // by place in ids
	report    *operator.Report
	sells     []market.OrderID // the orders that sell
	dust      int              // positions below the market's minimum
	feesUntil market.Time      // deadline for the fees; 0: an order is still open
}

// flatProgress is the progress of one strategy.
type flatProgress struct {
	begun  bool
	open   []market.OrderID // must end first
	next   market.Time      // next attempt while orders are open
	rounds int              // rounds with a sale
}

// step moves every strategy one step towards holding nothing.
func (f *flattening) step(at market.Time) (commands []market.Command, done bool) {
	r, done := f.r, true
	f.report.Open, f.report.Held, f.report.Unsold = []operator.Order{}, []operator.Position{}, []string{}
	f.report.Cancelled, f.dust = 0, 0
	for i, id := range f.ids {
		asked := f.stepOne(&f.progress[i], at, id)
		commands = append(commands, asked...)
		open := r.account.Open(nil, id, 0)
		done = done && len(open) == 0
		for _, o := range open {
			f.report.Open = append(f.report.Open, operator.OrderOf(r.plan.Catalog, f.row(r.account.Own(o.ID))))
		}
		for _, ended := range f.progress[i].open {
			if r.account.Own(ended) == nil {
				f.report.Cancelled++
			}
		}
		f.report.Held = append(f.report.Held, f.held(id)...)
	}
	return commands, f.feesKnown(at) && done && r.loop.Proven()
}

// feesKnown reports whether the fees of all orders are settled, or feeTimeout is over.
func (f *flattening) feesKnown(at market.Time) bool {
	f.report.Unsettled = 0
	for _, id := range f.ids {
		f.report.Unsettled += f.r.account.UnsettledBy(id)
	}
	if len(f.report.Open) > 0 {
		f.feesUntil = 0
	} else if f.feesUntil == 0 {
		f.feesUntil = at.Add(feeTimeout)
	}
	return f.report.Unsettled == 0 || f.feesUntil != 0 && at >= f.feesUntil
}

func (f *flattening) stepOne(s *flatProgress, at market.Time, id market.StrategyID) []market.Command {
	r := f.r
	open := r.account.Open(nil, id, 0)
	if !s.begun {
		for _, o := range open {
			s.open = append(s.open, o.ID)
			if engine.Liquidates(o) { // a sale of an earlier flatten
				f.sells = append(f.sells, o.ID)
			}
		}
		s.begun = true
	}
	switch {
	case len(open) > 0 && at < s.next:
		return nil
	case len(open) == 0 && s.rounds >= sellRounds && len(f.held(id)) > 0:
		f.report.Unsold = append(f.report.Unsold, fmt.Sprintf("%s: not all could be sold in %d rounds", r.nameOf(id),
			sellRounds))
		return nil
	}
	answer := r.door.Enter(&market.Input{Kind: market.InputFlatten, At: at, Strategy: id, Reason: f.reason})
	asked := answer.Commands
	s.next = at.Add(retryAfter)
	for _, u := range answer.Unsold {
		if u.Refusal.Code == exchange.CodeMinBase || u.Refusal.Code == exchange.CodeMinQuote {
			f.dust++
		}
		m := r.plan.Catalog.Market(u.Market)
		f.report.Unsold = append(f.report.Unsold, fmt.Sprintf("%s: %s %s: %s", r.nameOf(id), m.FormatQty(u.Amount),
			m.Name, u.Refusal.Error()))
	}
	sold := 0
	for i := range asked {
		if asked[i].Kind == market.CommandPlace {
			f.sells = append(f.sells, asked[i].Order.ID)
			sold++
		}
	}
	f.report.Sold += sold
	s.rounds += min(sold, 1)
	return asked
}
