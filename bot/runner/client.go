package runner

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
)

// openClient makes the client and its weight budget, learns the markets, and binds the state file
// to them.
func (r *runner) openClient(ctx context.Context) (err error) {
	r.budget = plan.NewWeightBudget(&r.plan.Config.Exchange, func() market.Time { return r.client.Now() },
		r.warnOfBudget)
	if r.client, err = r.plan.Client(r.budget); err != nil {
		return err
	}
	if err := r.restoreLedger(); err != nil {
		return err
	}
	r.log.Info().Str("exchange", r.plan.Config.Exchange.Origin()).Msg("asking the exchange for its markets")
	offered, err := r.plan.AwaitListing(ctx, r.client, r.log)
	if err != nil {
		return err
	}
	if r.plan.Held, err = statedir.Held(r.store); err != nil {
		return err
	}
	r.plan.Known = r.store.Catalog()
	rules, err := statedir.LatestRules(r.store)
	if err != nil {
		return err
	}
	r.plan.Least = func(name string) (market.Qty, market.Money) { return rules[name].MinBase, rules[name].MinQuote }
	if err := r.restoreRankings(); err != nil {
		return err
	}
	if err := r.plan.Finish(offered); err != nil {
		return err
	}
	for _, note := range r.plan.Notes {
		r.log.Info().Msg(note)
	}
	if err := r.plan.Polling(r.client).Check(int(r.plan.Config.Exchange.PerKey),
		int(r.plan.Config.Exchange.PerIP)); err != nil {
		return config.Errorf("%s: %w", r.plan.Config.Source.Name(), err)
	}
	r.client.Use(r.plan.Catalog)
	return r.store.Bind(r.plan.Catalog, r.plan.Names())
}

// warnOfBudget logs a warning of the weight budget.
func (r *runner) warnOfBudget(w rest.Warning) {
	r.log.Warn().Msg(w.String())
	if w.Kind == rest.WarnBan {
		r.banned.Store(true)
	}
	r.watch.warned(w)
}

// restoreLedger loads an earlier run's weight budgets and bans.
func (r *runner) restoreLedger() error {
	data, err := r.store.Blob(statedir.WeightBudgetBlob)
	if err != nil || data == nil {
		return err
	}
	var kept rest.WeightBudgetState
	if err := json.Unmarshal(data, &kept); err != nil {
		return fmt.Errorf("weight budget in the state file: %w", err)
	}
	r.budget.Restore(kept)
	return nil
}

// weights is the weight budget for the state file.
func (r *runner) weights() []byte {
	data, _ := json.Marshal(r.budget.Snapshot()) // plain numbers and names
	return data
}
