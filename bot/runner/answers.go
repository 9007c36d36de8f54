package runner

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/strategy"
)

// status answers `bot status`.
func (c *control) status(ctx context.Context, _ *operator.Request) (any, error) {
	s := c.newStatus()
	var failed error
	err := c.query(ctx, func(at market.Time) { failed = c.statusAt(s, at) })
	if errors.As(err, new(blockedError)) {
		return c.blockedStatus(s)
	}
	if err = cmp.Or(err, failed); err != nil {
		return nil, err
	}
	return s, c.finishStatus(s)
}

// newStatus is a status with what the loop does not know better.
func (c *control) newStatus() *operator.Status {
	r := c.r
	return &operator.Status{State: operator.Trading, Folder: r.plan.Config.Bot.State, PID: os.Getpid(),
		Exchange: r.plan.Config.Exchange.BaseURL, Mode: r.plan.Config.Bot.Mode, Run: r.run.String(),
		Currency:      r.plan.Currency.Symbol,
		ClockOffsetMS: time.Duration(r.client.Offset()).Milliseconds(),
		RoundTripMS:   float64(r.client.RoundTrip()) / float64(time.Millisecond)}
}

// statusAt fills in what the loop knows. Only the loop's goroutine may call it.
func (c *control) statusAt(s *operator.Status, at market.Time) error {
	s.AtMS = at.Millis()
	err := c.statusOfLoop(s)
	switch {
	case c.r.loop.Stopping():
		s.State = operator.Stopping
	case !slices.ContainsFunc(s.Strategies,
		func(x operator.StrategyStatus) bool { return x.State != operator.Halted }):
		s.State = operator.Halted
	}
	return err
}

// finishStatus fills in what weight budget and state file know.
func (c *control) finishStatus(s *operator.Status) error {
	r := c.r
	for _, payer := range [...]rest.Payer{rest.PaidByKey, rest.PaidByIP} {
		left, reset := r.weights.Left(payer)
		s.Weight = append(s.Weight, operator.Weight{Of: payer.String(), Left: left, ResetMS: reset.Millis(),
			BannedUntilMS: r.weights.BannedUntil(payer).Millis(), HeldUntilMS: r.weights.HeldUntil(payer).Millis()})
	}
	return s.FromStore(r.store)
}

// blockedStatus is the status as of the last commit, while a strategy blocks the loop.
func (c *control) blockedStatus(running *operator.Status) (*operator.Status, error) {
	s, err := operator.StoppedStatus(c.r.store, running.Folder)
	if err != nil {
		return nil, err
	}
	s.State, s.PID, s.Exchange, s.Mode = operator.Blocked, running.PID, running.Exchange, running.Mode
	s.ClockOffsetMS, s.RoundTripMS = running.ClockOffsetMS, running.RoundTripMS
	if b := c.r.dog.blockage(); b != nil {
		s.Blocked = b.text(c.r.dog.now())
	}
	for i := range s.Strategies {
		if s.Strategies[i].State == operator.Stopped {
			s.Strategies[i].State = operator.Blocked
		}
	}
	return s, nil
}

// statusOfLoop fills in the loop's fields.
func (c *control) statusOfLoop(s *operator.Status) error {
	r, digits := c.r, c.r.plan.Currency.Digits
	for i, name := range r.plan.Names() {
		id := strategyID(i + 1)
		info := operator.StrategyStatus{Name: name, Kind: r.plan.Strategies[i].Kind.Name, State: operator.Trading,
			OpenOrders: r.account.OpenBy(id), Waiting: r.loop.Waiting(id),
			Warming: r.engine.Lacking(id), Universe: r.universeStatus(id, r.engine.Now())}
		if r.engine.Warming(id) {
			info.State = operator.WarmingUp
		}
		if halt, halted := r.engine.Halted(id); halted {
			info.State, info.Reason, info.HaltedMS = operator.Halted, halt.Reason, halt.At.Millis()
		}
		s.Strategies = append(s.Strategies, info)
	}
	equity, err := r.account.Equity(r.plan.Currency.ID)
	if err != nil {
		return err
	}
	exposure, err := r.account.Exposure(r.plan.Currency.ID)
	if err != nil {
		return err
	}
	s.Equity, s.Exposure = market.FormatFixed(int64(equity), digits), market.FormatFixed(int64(exposure), digits)
	if stand, followed := r.gate.Standing(); followed {
		s.DayResult = market.FormatFixed(int64(equity-stand.DayStart), digits)
		s.Drawdown = market.FormatFixed(int64(stand.Drawdown()), market.RateDigits)
	}
	s.Opening = c.opening()
	if r.journal.shadow != nil {
		canary := r.journal.canaryStatus()
		s.Canary = &canary
	}
	s.OpenOrders, s.ForeignOrders = len(r.account.Open(nil, 0, 0)), r.loop.Foreign()
	s.Unprotected, s.ChangedByOthers = r.bare(nil), r.loop.ChangedByOthers()
	s.StreamAside = r.loop.ChannelAside()
	for _, g := range r.loop.NotGuarded() {
		s.NotGuarded = append(s.NotGuarded, operator.NotGuarded{Group: g.Group, Strategies: r.plan.InGroup(g.Group),
			Cause: g.Cause, SinceMS: g.Since.Millis()})
	}
	s.Unallocated = operator.Unallocated(r.plan.Catalog, r.journal.agreed.balances)
	for _, asset := range r.plan.Catalog.Assets() {
		total, others := r.account.Total(asset.ID), max(r.journal.agreed.balances[asset.Symbol].Surplus, 0)
		if total.Total != 0 || others != 0 {
			s.Balances = append(s.Balances, operator.BalanceOf(asset, total.Total, total.Held, others))
		}
	}
	s.Signals = r.listening.status()
	for _, m := range r.journal.notes.rules {
		if m.Status != market.Trading {
			s.Markets = append(s.Markets, operator.MarketStatus{Market: m.Name, Status: m.Status.String()})
		}
	}
	slices.SortFunc(s.Markets, func(a, b operator.MarketStatus) int { return strings.Compare(a.Market, b.Market) })
	for feed, at := range r.journal.received {
		s.Feeds = append(s.Feeds, operator.Feed{Feed: feed.name(r.plan.Catalog), LastMS: at.Millis()})
	}
	slices.SortFunc(s.Feeds, func(a, b operator.Feed) int { return strings.Compare(a.Feed, b.Feed) })
	return nil
}

// bare lists the positions of strategies, nil for all, that should have an exit and have none. Only
// the loop's goroutine may call it.
func (r *runner) bare(ids []market.StrategyID) (list []operator.Unprotected) {
	for _, u := range r.bareExits() {
		if ids != nil && !slices.Contains(ids, u.Strategy) {
			continue
		}
		m := r.plan.Catalog.Market(u.Market)
		list = append(list, operator.Unprotected{Strategy: r.nameOf(u.Strategy), Market: m.Name,
			Amount: m.FormatQty(u.Amount), Cause: u.Cause.String(), SinceMS: u.Since.Millis()})
	}
	return list
}

// bareExits are the positions that should have an exit and have none. Only the loop's goroutine may
// call it.
func (r *runner) bareExits() []strategy.Unprotected {
	all := r.engine.Brackets().Bare()
	for _, u := range r.loop.UnknownExits() {
		all = append(all, strategy.Unprotected{Strategy: u.Strategy, Market: u.Market, Amount: u.Amount,
			Cause: strategy.CauseUnknown, Since: u.Since})
	}
	return all
}

// opening is the account limit that refuses new positions, as a sentence; empty: none does. A
// resume does not change it.
func (c *control) opening() string {
	stand, _ := c.r.gate.Standing()
	switch {
	case stand.Drawn:
		return "max_drawdown was reached: nothing is opened until bot halt and bot resume"
	case stand.Lost:
		return "max_daily_loss is used up: nothing is opened until tomorrow, UTC"
	}
	return ""
}

// name is a feed's name for a person.
func (k feedKey) name(c *market.Catalog) string {
	text := operator.FeedName(c, k.kind, k.market)
	if k.kind == market.KindCandles {
		text += " " + k.interval.String()
	}
	return text
}

// orders answers `bot orders`.
func (c *control) orders(ctx context.Context, ask *operator.Request) (any, error) {
	list, err := operator.OrdersOf(c.r.store, ask.All)
	if err != nil {
		return nil, err
	}
	return list, c.query(ctx, func(market.Time) {
		for i := range list.Orders {
			o := &list.Orders[i]
			o.Waits = o.InFlight != "" && c.r.loop.Waits(market.OrderID(o.Number))
		}
	})
}

// positions answers `bot positions`.
func (c *control) positions(ctx context.Context, _ *operator.Request) (any, error) {
	var prices map[market.ID]market.Price
	err := c.query(ctx, func(market.Time) { prices = c.prices() })
	if err != nil && !errors.As(err, new(blockedError)) {
		return nil, err
	}
	if err != nil { // a strategy blocks: answer as of the last commit
		return operator.StoppedPositions(c.r.store)
	}
	return operator.PositionsOf(c.r.store, func(id market.ID) market.Price { return prices[id] })
}

// prices are the latest prices. Only the loop's goroutine may call it.
func (c *control) prices() map[market.ID]market.Price {
	prices := map[market.ID]market.Price{}
	for _, m := range c.r.plan.Catalog.Markets() {
		prices[m.ID] = c.r.account.Last(m.ID)
	}
	return prices
}

// explain answers `bot explain`.
func (c *control) explain(ctx context.Context, ask *operator.Request) (any, error) {
	if ask.Order == "" {
		return c.refusals(ctx, ask)
	}
	return operator.StoryOf(c.r.store, ask.Order)
}

// refusals answers `bot explain --refused`.
func (c *control) refusals(ctx context.Context, ask *operator.Request) (any, error) {
	if ask.SinceMS <= 0 {
		return nil, config.Usagef("want an order, or refusals since a time")
	}
	var counted []journal.Refusal
	var now market.Time
	notes := map[string][]string{}
	err := c.query(ctx, func(at market.Time) {
		now, counted = at, c.r.journal.counted()
		for i, name := range c.r.plan.Names() {
			notes[name] = c.r.engine.Notes(strategyID(i + 1))
		}
	})
	if err != nil {
		return nil, err
	}
	told, err := operator.RefusedOf(c.r.store, ask.Strategy,
		now.Add(-market.Duration(ask.SinceMS)*market.Duration(time.Millisecond)), counted)
	if err != nil {
		return nil, err
	}
	for i := range told.Strategies {
		told.Strategies[i].Notes = notes[told.Strategies[i].Strategy]
	}
	return told, nil
}

// backup writes a copy of the state file, and notes when, unless the copy is removed again. Behind
// it the recording is flushed: who reads the copy finds every record up to it.
func (c *control) backup(ctx context.Context, ask *operator.Request) (any, error) {
	if !filepath.IsAbs(ask.File) {
		return nil, config.Usagef("%q is no absolute path", config.Clip(ask.File))
	}
	if statedir.SameFile(ask.File, c.r.store.Path()) {
		return nil, config.Usagef("%s is the state file itself; name another", ask.File)
	}
	if err := c.r.store.Backup(ask.File); err != nil {
		return nil, err
	}
	_ = c.do(ctx, func(at market.Time) []market.Command { // a loop that does not answer leaves the copy as good
		if !ask.Passing {
			c.r.journal.batch.Blob(statedir.BackupBlob, operator.AppendBackup(nil, at.Millis()))
		}
		c.r.journal.flushRecording()
		return nil
	})
	return struct{}{}, nil
}
