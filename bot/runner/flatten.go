package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// enoughTries is how many sales of a position have to fail before flatten answers; the bot goes on.
const enoughTries = 2

// dustShare is the share of what was bought that counts as dust where it is too small to be sold.
const dustShare = 10

// feeTimeout is how long flatten waits for the fees of its sales: the result is final only with
// them.
const feeTimeout = market.Duration(10e9)

// flatten halts strategies, and leaves all their positions as Close does: an exit goes when a sale
// replaces it. What cannot be sold now is sold when it can, also after the answer.
func (c *control) flatten(ctx context.Context, ask *operator.Request) (*operator.ActResult, error) {
	ids, names, err := c.strategies(ask.Strategy)
	if err != nil {
		return nil, err
	}
	report := operator.NewReport(names)
	f := flattening{control: c, ids: ids, reason: reasonOf(ask, "flattened"), progress: make([]flatProgress, len(ids)),
		report: report}
	report.Done, err = c.until(ctx, f.step)
	if err != nil {
		return report, err
	}
	if err := f.tellUnsold(); err != nil {
		return report, err
	}
	if err := c.query(c.ctx, func(market.Time) { report.Unprotected = c.r.bare(ids) }); err != nil {
		return report, err
	}
	if err := f.findSales(); err != nil {
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
	report    *operator.ActResult
	sells     []market.OrderID // the orders that sell
	last      market.OrderID   // before the command
	feesUntil market.Time      // deadline for the fees; 0: an order is still open
}

// flatProgress is the progress of one strategy.
type flatProgress struct {
	begun  bool
	open   []market.OrderID // at the begin
	next   market.Time      // next attempt
	unsold []engine.Unsold  // at the latest attempt
}

// step moves every strategy one step towards holding nothing.
func (f *flattening) step(at market.Time) (commands []market.Command, done bool) {
	r, done := f.r, true
	report := f.report
	report.Open, report.Protecting, report.Held = []operator.OrderRow{}, []operator.OrderRow{}, []operator.Position{}
	report.Cancelled = 0
	for i, id := range f.ids {
		s := &f.progress[i]
		commands = append(commands, f.stepOne(s, at, id)...)
		done = f.settled(s, id) && done
		for _, ended := range s.open {
			if r.account.Own(ended) == nil {
				report.Cancelled++
			}
		}
		report.Held = append(report.Held, f.held(id)...)
	}
	return commands, f.feesKnown(at) && done && r.loop.Proven()
}

// settled lists the open orders of a strategy, and reports whether it holds nothing, or nothing
// that could be sold now.
func (f *flattening) settled(s *flatProgress, id market.StrategyID) bool {
	done := true
	for _, o := range f.r.account.Open(nil, id, 0) {
		row := operator.OrderOf(f.r.plan.Catalog, f.row(f.r.account.Own(o.ID)))
		if f.r.engine.Brackets().IsExit(o.ID) && !engine.Liquidates(o) {
			f.report.Protecting = append(f.report.Protecting, row)
			continue
		}
		f.report.Open = append(f.report.Open, row)
		done = false
	}
	for _, m := range f.r.plan.Catalog.Markets() {
		if f.r.account.Position(id, m.ID).Amount > 0 {
			done = done && slices.ContainsFunc(s.unsold, func(u engine.Unsold) bool {
				return u.Market == m.ID && (u.Refused || u.Tries >= enoughTries)
			})
		}
	}
	return done
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
	if !s.begun {
		s.begun = true
		f.last = max(f.last, r.engine.LastOrder())
		for _, o := range r.account.Open(nil, id, 0) {
			s.open = append(s.open, o.ID)
			if engine.Liquidates(o) { // a sale of an earlier flatten
				f.sells = append(f.sells, o.ID)
			}
		}
	}
	if at < s.next {
		return nil
	}
	answer := r.door.Enter(&market.Input{Kind: market.InputFlatten, At: at, Strategy: id, Reason: f.reason})
	s.next, s.unsold = at.Add(retryAfter), answer.Unsold
	return answer.Commands
}

// tellUnsold says of each position that is left why it was not sold, and takes the command for done
// where the rest is dust.
func (f *flattening) tellUnsold() error {
	r, holders := f.r, ""
	for i, id := range f.ids {
		for _, u := range f.progress[i].unsold {
			m := r.plan.Catalog.Market(u.Market)
			text := fmt.Sprintf("%s: %s %s: %s", r.nameOf(id), m.FormatQty(u.Amount), m.Name, u.Why)
			dust, err := f.dust(id, &u)
			switch {
			case err != nil:
				return err
			case dust:
				f.report.Unsold = append(f.report.Unsold, text+"; the rest of a sale, which counts as nothing")
				continue
			case u.Code == exchange.CodeInsufficientBalance && holders == "":
				holders = f.holders(u.Market)
			}
			if u.Code == exchange.CodeInsufficientBalance {
				text += holders
			}
			f.report.Done = false
			f.report.Unsold = append(f.report.Unsold,
				text+"; the bot sells it when the exchange takes it, until bot resume")
		}
	}
	return nil
}

// dust reports whether a position is what sales have left of it, too small to be sold.
func (f *flattening) dust(id market.StrategyID, u *engine.Unsold) (bool, error) {
	if !u.Small {
		return false, nil
	}
	name, held, bought := f.r.nameOf(id), u.Amount, market.Qty(0)
	err := f.r.store.FillsBack(func(fill *journal.FillRow) (more bool) {
		switch {
		case fill.StrategyName != name || fill.Market != u.Market:
		case fill.Side == market.Buy:
			bought, held = bought+fill.Amount, held-fill.Amount
		default:
			held += fill.Amount
		}
		return held > 0 && bought/dustShare < u.Amount
	})
	return bought/dustShare >= u.Amount, err
}

// holders names the sells of others that hold the base of a market. The time of the command may be
// over: the exchange has that of a question to answer.
func (f *flattening) holders(m market.ID) string {
	ctx, cancel := context.WithTimeout(f.ctx, operator.AnswerTimeout)
	defer cancel()
	foreign, err := f.foreign(ctx)
	if err != nil {
		return "; the open orders of others could not be asked for: " + err.Error()
	}
	var texts []string
	for i := range foreign {
		o := &foreign[i].Order
		in := f.r.plan.Catalog.Market(o.Market)
		if o.Side == market.Sell && in.Base == f.r.plan.Catalog.Market(m).Base {
			texts = append(texts, fmt.Sprintf("order %s in %s holds %s", o.ExchangeID, in.Name,
				in.FormatQty(o.AmountRemaining)))
		}
	}
	if len(texts) == 0 {
		return "; the account has less than the bot holds"
	}
	return "; of others, " + strings.Join(texts, ", ")
}

// findSales finds the orders by which the command has sold, also those that ended between two
// steps.
func (f *flattening) findSales() error {
	before := len(f.sells)
	err := f.r.store.Orders(f.last+1, func(row *journal.OrderRow) error {
		if engine.Liquidates(&row.Order) && slices.Contains(f.ids, row.Strategy) {
			f.sells = append(f.sells, row.ID)
		}
		return nil
	})
	f.report.Sold = len(f.sells) - before
	return err
}
