package runner

import (
	"time"

	"github.com/tidemark-trading/tidemark/bot/alert"
	"github.com/tidemark-trading/tidemark/market"
)

// How often a part of the journal may go.
const (
	trimEvery = market.Duration(200 * time.Millisecond) // while there is more
	trimAgain = market.Duration(time.Minute)            // from when nothing was old enough
)

// trimming removes what is older than the bot keeps, a little with a commit.
type trimming struct {
	keep  market.Duration // 0: everything is kept
	next  market.Time     // nothing is removed before
	asked bool            // with the commit under way
}

// trim lets the commit of a turn that sends nothing remove old entries.
func (j *botJournal) trim(at market.Time) {
	t := &j.trimming
	if t.asked = t.keep > 0 && !j.commands && at >= t.next; t.asked {
		j.batch.Trim(at.Add(-t.keep))
	}
}

// trimmed takes what the commit has removed.
func (j *botJournal) trimmed(at market.Time) {
	t := &j.trimming
	if !t.asked {
		return
	}
	done := j.store.Trimmed()
	switch {
	case done.Damaged != nil:
		t.keep = 0
		j.log.Error().Err(done.Damaged).Msg("the journal is not trimmed any more; bot state check says what is damaged")
		j.watch.raise(alert.Difference, "bot.db is damaged: %v; nothing more is removed from it", done.Damaged)
	case done.More:
		t.next = at.Add(trimEvery)
	default:
		t.next = at.Add(trimAgain)
	}
	if done.Entries > 0 {
		j.log.Debug().Int64("entries", done.Entries).Int64("orders", done.Orders).
			Msg("removed what is older than bot.keep")
	}
}
