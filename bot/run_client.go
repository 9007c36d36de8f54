package bot

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
)

// openClient makes the client with its budget, learns the markets, and binds the state file to them.
func (r *runner) openClient(ctx context.Context) (err error) {
	r.ledger = newLedger(&r.plan.config.Exchange, func() market.Time { return r.client.Now() }, r.warnOfBudget)
	if r.client, err = r.plan.client(r.ledger); err != nil {
		return err
	}
	if err := r.restoreLedger(); err != nil {
		return err
	}
	r.log.Info().Str("exchange", r.plan.config.Exchange.Origin()).Msg("asking the exchange for its markets")
	offered, err := r.plan.askUntil(ctx, r.client, r.log)
	if err != nil {
		return err
	}
	if err := r.plan.learn(offered); err != nil {
		return err
	}
	if err := r.plan.pollPlan(r.client).Check(int(r.plan.config.Exchange.PerKey), int(r.plan.config.Exchange.PerIP)); err != nil {
		return config.Errorf("%s: %w", r.plan.config.Source.Name(), err)
	}
	r.client.Use(r.plan.Catalog)
	return r.store.Bind(r.plan.Catalog, r.plan.names())
}

// warnOfBudget says what the ledger finds.
func (r *runner) warnOfBudget(w rest.Warning) {
	r.log.Warn().Msg(w.String())
	if w.Kind == rest.WarnBan {
		r.banned.Store(true)
	}
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

// clockEvery is the time between two measurements of the exchange's clock, sooner where the last one was poor.
const clockEvery = 5 * time.Minute

// pollPlan is what the bot asks for again and again, in weight points.
func (p *runPlan) pollPlan(client *rest.Client) (plan rest.Plan) {
	every, public := &p.config.Poll, rest.PaidByIP
	if p.config.Exchange.SignMarketData && p.key != "" {
		public = rest.PaidByKey
	}
	poll := func(name string, every market.Duration, payer rest.Payer) rest.Poll {
		weight := client.Weight(name)
		return rest.Poll{Name: name, Weight: cmp.Or(weight.All, weight.One), Every: every, Payer: payer}
	}
	clock := poll("GET /time", clockEvery, rest.PaidByIP)
	clock.Weight *= rest.TimeSamples
	plan = append(plan,
		poll("GET /ticker/price", market.Duration(every.Tickers), public),
		poll("GET /ticker/book", market.Duration(every.Tickers), public),
		poll("GET /markets", market.Duration(every.Rules), public), clock)
	if p.config.Bot.Mode == config.ModeLive {
		plan = append(plan, poll("GET /ordersOpen", market.Duration(every.Orders), rest.PaidByKey), poll("GET /balance", market.Duration(every.Balances), rest.PaidByKey))
	}
	for i := range p.Strategies {
		s := &p.Strategies[i]
		needs, err := s.Kind.Needs(s.Values)
		if err != nil {
			continue // it is told when the strategy is made
		}
		for _, m := range s.Markets {
			plan = append(plan, named(poll("GET /{market}/candles", s.Interval.Fixed(), public), m.Name))
			if needs.Book {
				plan = append(plan, named(poll("GET /{market}/book", market.Duration(every.Books), public), m.Name))
			}
		}
	}
	return plan
}

// named is a poll with its market's name.
func named(poll rest.Poll, name string) rest.Poll {
	poll.Name = strings.Replace(poll.Name, "{market}", name, 1)
	return poll
}
