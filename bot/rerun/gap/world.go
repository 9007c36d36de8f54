package gap

import (
	"cmp"
	"slices"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/rerun/core"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
)

// observer is an observer of an engine with all optional methods.
type observer interface {
	engine.Observer
	engine.Approver
	engine.Guard
	engine.CloseGuard
	engine.Mover
	engine.Parter
}

// relay is the observer of an engine that goes on in another session.
type relay struct {
	observer
	run *run
}

// Refused keeps what the gate refuses: an engine.Refuser.
func (r *relay) Refused(asked, _ *market.Command, why *risk.Refusal) {
	if !r.run.leading && !r.run.over && why.Reason != risk.ReasonWarmUp {
		r.run.refuse(asked, why.Reason.String())
	}
}

// newSession makes the engine of a start, and a session around it.
func (r *run) newSession(made *core.Config) error {
	r.made, r.core, r.relay = made, nil, &relay{run: r}
	return r.around()
}

// around makes a session around the engine of the start. With Data inputs come as the bot received
// them, else as a store has them.
func (r *run) around() (err error) {
	live, made := r.facts.Has(Data), r.made
	p := &backtest.Plan{Catalog: made.Catalog, Currency: made.Catalog.Asset(made.Limits.Currency),
		Strategies: made.Strategies, Feeds: r.survey.feeds(made.Catalog), Venue: r.model.Venue,
		Account: made.Limits, Fees: backtest.Fees(r.fees()), SyntheticBook: r.model.SyntheticBook}
	if !live {
		p.DataLatency = r.model.DataLatency
	}
	r.session, err = backtest.NewSession(p, backtest.SessionOptions{Options: backtest.Options{Observer: r},
		WholeGroups: !live, Unrecorded: true, Facts: r, Timers: live, Others: r.others,
		Seat: func(o engine.Observer) (*state.Account, *risk.Gate, *engine.Engine, error) {
			if r.relay.observer = o.(observer); r.core == nil {
				made.Observer = r.relay
				if r.core, err = core.New(made); err != nil {
					return nil, nil, nil, err
				}
			}
			return r.core.Account, r.core.Gate, r.core.Engine, nil
		}})
	return err
}

// feeds are the series of the candles. The finest of a market drives it.
func (v *survey) feeds(catalog *market.Catalog) (all []backtest.Feed) {
	for i := range v.candles.all {
		c := &v.candles.all[i]
		if !slices.ContainsFunc(all, func(f backtest.Feed) bool {
			return f.Market.ID == c.Market && f.Interval == c.Interval
		}) {
			all = append(all, backtest.Feed{Market: catalog.Market(c.Market), Interval: c.Interval, Deliver: true})
		}
	}
	slices.SortFunc(all, func(a, b backtest.Feed) int {
		return cmp.Or(cmp.Compare(a.Interval, b.Interval), cmp.Compare(a.Market.ID, b.Market.ID))
	})
	for i := range all {
		all[i].Drive = !slices.ContainsFunc(all[:i], func(f backtest.Feed) bool { return f.Market == all[i].Market })
	}
	return all
}
