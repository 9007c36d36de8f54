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

// funding moves money between the account and the strategies.
type funding struct {
	*books
	given market.Money // of the currency, to strategies and the pool at this start
}

// fund gives each strategy its allocation where it does not have it yet, and moves what the config
// has changed since. The pool gets what is left of the currency when the first strategy needs it.
// Everything else on the account is unallocated and is left alone.
func (f *funding) fund(ctx context.Context, now market.Time) error {
	before, err := f.allocated()
	if err != nil {
		return err
	}
	if released := f.account.Released(f.plan.Currency.ID); released != 0 {
		f.transfer(now, -released, 0)
		f.log.Info().Str("money", f.inCurrency(released)).
			Msg("strategies that are gone from the config have left money: it is unallocated now")
	}
	for _, p := range f.account.Left() {
		m := f.plan.Catalog.MarketNamed(p.Market)
		f.log.Warn().Str("strategy", p.Strategy).Str("market", p.Market).Str("amount", m.FormatQty(p.Amount)).
			Msg("a strategy that is gone from the config has left dust: no position has it, and it is unallocated now")
	}
	due, pool := f.dueMoney(before), f.poolIsNew(before)
	switch some := pool || slices.ContainsFunc(due, func(money market.Money) bool { return money != 0 }); {
	case some && f.account.CountPending() > 0:
		// what they have come to meanwhile would be taken for money that is unallocated
		f.log.Warn().Msg("orders of the last run are open: allocations change, and new strategies get theirs, " +
			"with the next start after a stop that leaves none")
		return nil
	case some:
		if err := f.move(ctx, now, due, pool); err != nil {
			return err
		}
	}
	given := map[string]market.Money{}
	for i, name := range f.plan.Names() {
		given[name] = f.plan.Allocations[i+1]
	}
	text, _ := json.Marshal(given) // names and numbers
	f.journal.batch.Blob(statedir.AllocationBlob, text)
	return f.engine.Err()
}

// allocated is what the strategies of the last run were given, by name; empty before the first.
func (f *funding) allocated() (before map[string]market.Money, err error) {
	before = map[string]market.Money{}
	if !f.resumed {
		return before, nil
	}
	text, err := f.store.Blob(statedir.AllocationBlob)
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
func (f *funding) dueMoney(before map[string]market.Money) (due []market.Money) {
	for i, name := range f.plan.Names() {
		due = append(due, f.plan.Allocations[i+1]-before[name])
	}
	return due
}

// poolIsNew reports whether strategies share the pool and none did before.
func (f *funding) poolIsNew(before map[string]market.Money) bool {
	shared := false
	for i, name := range f.plan.Names() {
		if f.plan.Allocations[i+1] != 0 {
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
func (f *funding) move(ctx context.Context, now market.Time, due []market.Money, pool bool) error {
	free, err := f.unowned(ctx)
	if err != nil {
		return err
	}
	for i, money := range due {
		if money >= 0 {
			continue
		}
		if has, _ := f.account.Balance(strategyID(i+1), f.plan.Currency.ID); has < -money {
			path := []string{"strategies", f.plan.Strategies[i].Name, "allocation"}
			return f.plan.Config.Source.Place(config.Keyf(path, "is %s less than before, and the strategy has only %s "+
				"in money; bot flatten frees what it holds", f.inCurrency(-money), f.inCurrency(has)))
		}
		free -= money
		f.give(now, i, money)
	}
	for i, money := range due {
		if money <= 0 {
			continue
		}
		if money > free {
			return fmt.Errorf("strategy %s: its allocation is more than the account has left: %s",
				f.plan.Strategies[i].Name, f.inCurrency(free))
		}
		free -= money
		f.give(now, i, money)
	}
	if pool && free > 0 {
		f.transfer(now, free, 0)
	}
	return nil
}

// unowned is the account's balance of the currency that is in no position of the bot's books.
func (f *funding) unowned(ctx context.Context) (free market.Money, err error) {
	var held []exchange.Holding
	err = live.RetryUntilReached(ctx, f.log, func() (err error) {
		held, err = f.trading.Holdings(ctx)
		return err
	})
	for _, h := range held {
		if h.Asset != f.plan.Currency.ID {
			continue
		}
		free = h.Available
		if f.resumed {
			free += h.Orders - f.account.Total(h.Asset).Total
		}
	}
	return free, err
}

// give moves money to a strategy, or from it where it is negative. It is logged in later runs only.
func (f *funding) give(now market.Time, i int, money market.Money) {
	f.transfer(now, money, strategyID(i+1))
	if !f.resumed {
		return
	}
	line, said := f.log.Info().Str("strategy", f.plan.Strategies[i].Name), "the strategy is given more money"
	if money < 0 {
		money, said = -money, "the strategy gives money back"
	}
	line.Str("money", f.inCurrency(money)).Msg(said)
}

func (f *funding) transfer(at market.Time, money market.Money, owner market.StrategyID) {
	f.given += money
	f.carry(max(at, f.engine.Now()), &market.Event{Asset: f.plan.Currency.ID, Money: money, Owner: owner})
}

// inCurrency formats an amount.
func (f *funding) inCurrency(money market.Money) string {
	return market.FormatFixed(int64(money), f.plan.Currency.Digits) + " " + f.plan.Currency.Symbol
}
