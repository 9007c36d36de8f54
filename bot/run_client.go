package bot

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
)

// openClient makes the client with its budget, learns the markets, and binds the state file to them.
func (r *runner) openClient(ctx context.Context) (err error) {
	r.ledger = rest.NewLedger(rest.LedgerConfig{
		Now: func() market.Time { return r.client.Now() }, After: after, Prefix: r.plan.Exchange.Prefix,
		PerKey: int(r.plan.Exchange.PerKey), PerIP: int(r.plan.Exchange.PerIP), Warn: r.warnOfBudget,
	})
	if r.client, err = r.plan.client(r.ledger); err != nil {
		return err
	}
	if err := r.restoreLedger(); err != nil {
		return err
	}
	r.log.Info().Str("exchange", r.plan.Exchange.BaseURL).Msg("asking the exchange for its markets")
	var offered listing
	err = live.Insist(ctx, r.log, func() (err error) {
		offered, err = r.plan.ask(ctx, r.client)
		return err
	})
	if err != nil {
		return err
	}
	if err := r.plan.learn(offered); err != nil {
		return err
	}
	if err := r.pollPlan().Check(int(r.plan.Exchange.PerKey), int(r.plan.Exchange.PerIP)); err != nil {
		return usagef("%s: %w", r.plan.source.name(), err)
	}
	r.client.Use(r.plan.catalog)
	return r.store.Bind(r.plan.catalog, r.plan.names())
}

// warnOfBudget says what the ledger finds.
func (r *runner) warnOfBudget(w rest.Warning) {
	r.log.Warn().Msg(w.String())
	r.watch.warned(w)
}

// restoreLedger takes over what an earlier run knew of budgets and bans.
func (r *runner) restoreLedger() error {
	data, err := r.store.Blob(ledgerBlob)
	if err != nil || data == nil {
		return err
	}
	var kept rest.LedgerState
	if err := json.Unmarshal(data, &kept); err != nil {
		return fmt.Errorf("weight ledger in the state file: %w", err)
	}
	r.ledger.Restore(kept)
	return nil
}

// weights is the weight ledger for the state file.
func (r *runner) weights() []byte {
	data, _ := json.Marshal(r.ledger.Snapshot()) // plain numbers and names
	return data
}

// pollPlan is what the bot asks for again and again, in weight points.
func (r *runner) pollPlan() (plan rest.Plan) {
	p, public := &r.plan.Poll, rest.PaidByIP
	if r.plan.Exchange.SignMarketData && r.plan.key != "" {
		public = rest.PaidByKey
	}
	plan = append(plan,
		rest.Poll{Name: "GET /ticker/price", Weight: 1, Every: market.Duration(p.Tickers), Payer: public},
		rest.Poll{Name: "GET /ticker/book", Weight: 1, Every: market.Duration(p.Tickers), Payer: public},
		rest.Poll{Name: "GET /markets", Weight: 1, Every: market.Duration(p.Rules), Payer: public},
		rest.Poll{Name: "GET /time", Weight: rest.TimeSamples, Every: clockEvery})
	if r.plan.Bot.Mode == modeLive {
		plan = append(plan,
			rest.Poll{Name: "GET /ordersOpen", Weight: 100, Every: market.Duration(p.Orders), Payer: rest.PaidByKey},
			rest.Poll{Name: "GET /balance", Weight: 5, Every: market.Duration(p.Balances), Payer: rest.PaidByKey})
	}
	for i := range r.plan.strategies {
		s := &r.plan.strategies[i]
		needs, err := s.Kind.Needs(s.Values)
		if err != nil {
			continue // it is told when the strategy is made
		}
		for _, m := range s.Markets {
			plan = append(plan, rest.Poll{Name: "GET /" + m.Name + "/candles", Weight: 1, Every: s.Interval.Fixed(), Payer: public})
			if needs.Book {
				plan = append(plan, rest.Poll{Name: "GET /" + m.Name + "/book", Weight: 1, Every: market.Duration(p.Books), Payer: public})
			}
		}
	}
	return plan
}
