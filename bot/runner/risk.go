package runner

import (
	"context"
	"errors"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
)

// limitUses are the limits of account and strategies with their use, as numbers: the loop reads
// them, and they become text beside it.
type limitUses struct {
	at  market.Time
	all []risk.LimitUse
	of  []int // where the account and each strategy end in all
}

// uses reads the limits. Only the loop's goroutine may call it.
func (b *books) uses(at market.Time) *limitUses {
	strategies := b.plan.Strategies
	u := &limitUses{at: at, all: make([]risk.LimitUse, 0, 16+16*len(strategies)), of: make([]int, 0, len(strategies)+1)}
	u.all = b.gate.AccountUse(u.all, b.account)
	u.of = append(u.of, len(u.all))
	for i := range strategies {
		u.all = b.gate.StrategyUse(u.all, b.account, strategyID(i+1), strategies[i].Markets, at)
		u.of = append(u.of, len(u.all))
	}
	return u
}

// risk answers `bot risk`.
func (c *control) risk(ctx context.Context, _ *operator.Request) (any, error) {
	var uses *limitUses
	err := c.query(ctx, func(at market.Time) { uses = c.r.uses(at) })
	if errors.As(err, new(blockedError)) { // a strategy blocks: answer as of the last minute
		return operator.StoppedRisk(c.r.store)
	}
	if err != nil {
		return nil, err
	}
	info := c.r.riskOf(uses)
	return info, info.AddHalts(c.r.store)
}

// riskOf is the document of the limits, without halts.
func (b *books) riskOf(u *limitUses) *operator.Risk {
	info := &operator.Risk{AtMS: u.at.Millis(), Currency: b.plan.Currency.Symbol,
		Limits: make([]operator.Limit, 0, len(u.all))}
	scope, names, group := "account", b.plan.Names(), 0
	for i := range u.all {
		for i >= u.of[group] {
			scope = operator.HaltScope(names[group])
			group++
		}
		info.Limits = append(info.Limits, b.limitOf(scope, &u.all[i]))
	}
	return info
}

// limitOf is a limit as text.
func (b *books) limitOf(scope string, u *risk.LimitUse) operator.Limit {
	text := func(n int64) string { return u.Unit.Text(n, b.plan.Currency.Digits) }
	l := operator.Limit{Scope: scope, Name: u.Name, Unit: u.Unit, Reached: u.Reached, UntilMS: u.Until.Millis()}
	if u.Market != 0 {
		l.Market = b.plan.Catalog.Market(u.Market).Name
	}
	if u.Limit != 0 {
		l.Max = text(u.Limit)
	}
	if u.Unknown || u.Unit == risk.UnitSwitch {
		return l
	}
	l.Used = text(u.Used)
	if u.Mark != 0 {
		l.From = text(u.Mark)
		if u.Unit == risk.UnitRate {
			l.From = risk.UnitMoney.Text(u.Mark, b.plan.Currency.Digits)
		}
	}
	if u.Limit > 0 {
		part := float64(u.Used) / float64(u.Limit)
		l.Left, l.Part = text(max(0, u.Limit-u.Used)), &part
	}
	return l
}

// saveLimits saves the limits with their use: the answer to `bot risk` of a bot that has stopped.
func (j *botJournal) saveLimits(at market.Time) error {
	text, err := operator.AppendRisk(nil, j.riskOf(j.uses(at)))
	if err != nil {
		return err
	}
	j.batch.Blob(statedir.RiskBlob, text)
	return nil
}
