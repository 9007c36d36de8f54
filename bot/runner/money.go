package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// fund gives each strategy its allocation where it does not have it yet, and moves what the config
// has changed since. The pool gets what is left of the currency when the first strategy needs it.
// Everything else on the account is unallocated and is left alone.
func (r *runner) fund(ctx context.Context, now market.Time) error {
	before, err := r.allocated()
	if err != nil {
		return err
	}
	if released := r.account.Released(r.plan.Currency.ID); released != 0 {
		r.transfer(now, -released, 0)
		r.log.Info().Str("money", r.inCurrency(released)).
			Msg("strategies that are gone from the config have left money: it is unallocated now")
	}
	for _, p := range r.account.Left() {
		m := r.plan.Catalog.MarketNamed(p.Market)
		r.log.Warn().Str("strategy", p.Strategy).Str("market", p.Market).Str("amount", m.FormatQty(p.Amount)).
			Msg("a strategy that is gone from the config has left dust: no position has it, and it is unallocated now")
	}
	due, pool := r.dueMoney(before), r.poolIsNew(before)
	switch some := pool || slices.ContainsFunc(due, func(money market.Money) bool { return money != 0 }); {
	case some && r.account.CountPending() > 0:
		// what they have come to meanwhile would be taken for money that is unallocated
		r.log.Warn().Msg("orders of the last run are open: allocations change, and new strategies get theirs, " +
			"with the next start after a stop that leaves none")
		return nil
	case some:
		if err := r.move(ctx, now, due, pool); err != nil {
			return err
		}
	}
	given := map[string]market.Money{}
	for i, name := range r.plan.Names() {
		given[name] = r.plan.Allocations[i+1]
	}
	text, _ := json.Marshal(given) // names and numbers
	r.journal.batch.Blob(statedir.AllocationBlob, text)
	return r.engine.Err()
}

// allocated is what the strategies of the last run were given, by name; empty before the first.
func (r *runner) allocated() (before map[string]market.Money, err error) {
	before = map[string]market.Money{}
	if !r.resumed {
		return before, nil
	}
	text, err := r.store.Blob(statedir.AllocationBlob)
	if err != nil {
		return nil, err
	}
	if text != nil {
		if err := json.Unmarshal(text, &before); err != nil {
			return nil, fmt.Errorf("allocations in the state file: %w", err)
		}
	}
	return before, nil
}

// dueMoney is the money that each strategy is to get, by StrategyID − 1; negative: to give back.
func (r *runner) dueMoney(before map[string]market.Money) (due []market.Money) {
	for i, name := range r.plan.Names() {
		due = append(due, r.plan.Allocations[i+1]-before[name])
	}
	return due
}

// poolIsNew reports whether strategies share the pool and none did before.
func (r *runner) poolIsNew(before map[string]market.Money) bool {
	shared := false
	for i, name := range r.plan.Names() {
		if r.plan.Allocations[i+1] != 0 {
			continue
		}
		if _, known := before[name]; known {
			return false
		}
		shared = true
	}
	return shared
}

// move takes money back, gives what is due, and puts the rest into a new pool.
func (r *runner) move(ctx context.Context, now market.Time, due []market.Money, pool bool) error {
	free, err := r.unowned(ctx)
	if err != nil {
		return err
	}
	for i, money := range due {
		if money >= 0 {
			continue
		}
		if has, _ := r.account.Balance(strategyID(i+1), r.plan.Currency.ID); has < -money {
			return r.plan.Config.Source.Place(config.At([]string{"strategies", r.plan.Strategies[i].Name, "allocation"},
				fmt.Errorf("is %s less than before, and the strategy has only %s in money; bot flatten frees what it "+
					"holds", r.inCurrency(-money), r.inCurrency(has))))
		}
		free -= money
		r.give(now, i, money)
	}
	for i, money := range due {
		if money <= 0 {
			continue
		}
		if money > free {
			return fmt.Errorf("strategy %s: its allocation is more than the account has left: %s",
				r.plan.Strategies[i].Name, r.inCurrency(free))
		}
		free -= money
		r.give(now, i, money)
	}
	if pool && free > 0 {
		r.transfer(now, free, 0)
	}
	return nil
}

// unowned is the account's balance of the currency that is in no position of the bot's books.
func (r *runner) unowned(ctx context.Context) (free market.Money, err error) {
	var held []exchange.Holding
	err = live.RetryUntilReached(ctx, r.log, func() (err error) {
		held, err = r.trading.Holdings(ctx)
		return err
	})
	for _, h := range held {
		if h.Asset != r.plan.Currency.ID {
			continue
		}
		free = h.Available
		if r.resumed {
			free += h.Orders - r.account.Total(h.Asset).Total
		}
	}
	return free, err
}

// give moves money to a strategy, or from it where it is negative. It is logged in later runs only.
func (r *runner) give(now market.Time, i int, money market.Money) {
	r.transfer(now, money, strategyID(i+1))
	if !r.resumed {
		return
	}
	line, said := r.log.Info().Str("strategy", r.plan.Strategies[i].Name), "the strategy is given more money"
	if money < 0 {
		money, said = -money, "the strategy gives money back"
	}
	line.Str("money", r.inCurrency(money)).Msg(said)
}

func (r *runner) transfer(at market.Time, money market.Money, owner market.StrategyID) {
	r.given += money
	ev := market.Event{At: max(at, r.engine.Now()), Kind: market.KindTransfer, Asset: r.plan.Currency.ID, Money: money,
		Owner: owner}
	r.door.Enter(&market.Input{Kind: market.InputBooking, Event: &ev})
	r.journal.Event(&ev)
}

// inCurrency formats an amount.
func (r *runner) inCurrency(money market.Money) string {
	return market.FormatFixed(int64(money), r.plan.Currency.Digits) + " " + r.plan.Currency.Symbol
}
