package runner

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/tidemark-trading/tidemark/bot/alert"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/seal"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/bot/version"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// openSeal reads the bot's seal and the days that were held against it.
func (r *runner) openSeal() error {
	k := seal.NewKeeper(r.account, r.plan.Currency.ID, seal.StrategiesOf(r.plan.Strategies),
		version.Of(debug.ReadBuildInfo()))
	r.journal.seal = k
	rows, err := r.store.Kept()
	if err != nil {
		return err
	}
	saved, err := r.store.Blob(statedir.SealBlob)
	if err != nil {
		return err
	}
	if err := k.Load(rows, saved); err != nil {
		return fmt.Errorf("seal of the bot: %w", err)
	}
	for _, line := range k.Changes() {
		r.log.Warn().Str("changed", line).Msg("not what was sealed: bot verify judges it all the same")
	}
	return nil
}

// judge journals the verdict on the day that has ended, if one has.
func (j *botJournal) judge(at market.Time) error {
	_, before, _ := j.seal.Evidence()
	verdict, err := j.seal.Minute(at)
	if err != nil || verdict == nil {
		return err
	}
	j.batch.Verdict(at, verdict)
	if verdict.Broken && !before {
		text := j.seal.Standing().Sentence()
		j.log.Warn().Msg(text)
		j.watch.raise(alert.Seal, "%s", text)
	}
	return nil
}

// saveSeal saves the day so far, where it has changed.
func (j *botJournal) saveSeal() {
	if text := j.seal.Pending(); text != nil {
		j.batch.Blob(statedir.SealBlob, text)
	}
}

// verify answers `bot verify`.
func (c *control) verify(context.Context, *operator.Request) (any, error) {
	return seal.StatusOf(c.r.store)
}

// seal journals a seal and begins to hold the days against it.
func (c *control) seal(ctx context.Context, ask *operator.Request) (any, error) {
	if err := seal.Check(ask.Document); err != nil {
		return nil, config.Usagef("%w", err)
	}
	err := c.do(ctx, func(at market.Time) []market.Command {
		c.r.journal.batch.Seal(at, &journal.Seal{Scope: seal.Scope, By: ask.By, Document: ask.Document})
		return nil
	})
	if err != nil {
		return nil, err
	}
	var failed error
	err = c.query(ctx, func(market.Time) { // the turn of the seal has been committed
		var rows []journal.KeptRow
		if rows, failed = c.r.store.Kept(); failed == nil {
			failed = c.r.journal.seal.Load(rows, nil)
		}
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return nil, err
	}
	return seal.StatusOf(c.r.store)
}
