package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tidemark-trading/tidemark/bot/alert"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/rerun/canary"
	"github.com/tidemark-trading/tidemark/bot/rerun/replay"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// shadow is the canary of a bot: a child that decides beside it.
type shadow struct {
	*canary.Process
	wanted   int              // equal commands for its promotion
	commands []replay.Command // of this turn
	decided  string           // accepted or refused; empty: not yet
	reported bool             // its end or its first difference is logged
	dropped  int              // frames, as logged
}

// checkCanary refuses a canary that would be given nothing.
func (r *runner) checkCanary(context.Context) error {
	if r.Canary != nil && r.plan.Config.Bot.RecordMB == 0 {
		return config.Usagef("--canary replays what the bot records, and bot.record_mb is 0; want a recording")
	}
	return nil
}

// openCanary connects the canary with the recording.
func (r *runner) openCanary() (tee func([]byte)) {
	if r.Canary == nil {
		return nil
	}
	r.journal.shadow = &shadow{Process: r.Canary, wanted: r.CanaryCommands}
	return r.Canary.Blocks
}

// endCanary lets the canary answer all that it has been given.
func (r *runner) endCanary() {
	if r.Canary == nil {
		return
	}
	r.Canary.Wait()
	if state := r.Canary.State(); state.Progress.Verdict != nil {
		r.log.Info().Int("equal", state.Equal).Int("unchecked", state.Unchecked).Bool("differs", state.First != nil).
			Msg("the canary has ended")
	}
}

// intend journals an intent, and keeps its command for the canary.
func (j *botJournal) intend(at market.Time, intent *journal.Intent) {
	j.batch.Journal(at, intent)
	j.commands = true
	if j.shadow == nil {
		return
	}
	if id := intent.Command.Order.Strategy; id > 0 {
		intent.Strategy = j.names[id-1]
	}
	j.shadow.commands = append(j.shadow.commands,
		replay.CommandOf(j.entries+uint64(j.batch.Entries()), intent, j.account.Catalog()))
}

// turn hands the commands of a turn to the canary.
func (s *shadow) turn(to uint64) {
	if s != nil {
		s.Turn(to, s.commands)
		s.commands = s.commands[:0]
	}
}

// judgeCanary looks, once a minute, how far the canary is. After so many equal commands it is
// promoted.
func (j *botJournal) judgeCanary(at market.Time) {
	s := j.shadow
	if s == nil {
		return
	}
	state := s.State()
	if state.Dropped > s.dropped {
		s.dropped = state.Dropped
		j.log.Warn().Int("dropped", state.Dropped).
			Msg("the canary does not keep up: it is not given all records, and what follows from them is unchecked")
	}
	if state.Progress.Verdict == nil || s.decided != "" {
		return
	}
	switch {
	case state.First != nil && !s.reported:
		s.reported = true
		j.tellCanary("the canary decides otherwise after %d equal commands: %s; bot canary --accept or --refuse",
			state.Equal, differenceText(state.First))
	case state.First == nil && state.Ended != nil && !s.reported:
		s.reported = true
		j.tellCanary("%v; %d commands were equal", state.Ended, state.Equal)
	case state.First == nil && state.Equal >= s.wanted:
		j.decide(at, &state, true, fmt.Sprintf("%d equal commands", s.wanted))
	}
}

// tellCanary logs something about the canary and raises an alert.
func (j *botJournal) tellCanary(format string, args ...any) {
	j.log.Warn().Msgf(format, args...)
	j.watch.raise(alert.Difference, format, args...)
}

// decide journals that the canary is accepted or refused.
func (j *botJournal) decide(at market.Time, state *canary.State, accepted bool, by string) {
	p := journal.Promotion{Accepted: accepted, By: by, Version: state.Program, ConfigHash: state.Config,
		Compared: int64(state.Equal), Equal: int64(state.Equal)}
	if d := state.First; d != nil {
		p.Compared++
		p.Difference = differenceText(d)
	}
	j.batch.Journal(at, &p)
	if j.shadow.decided = "refused"; accepted {
		j.shadow.decided = "accepted"
	}
	j.log.Info().Str("program", state.Program).Str("by", by).Int("equal", state.Equal).
		Msgf("the canary is %s: stop the bot and start what was tested", j.shadow.decided)
}

// differenceText is a difference in one line.
func differenceText(d *replay.Difference) string {
	text := fmt.Sprintf("event %d, %s: ", d.Record, d.Event)
	if what, _, _ := strings.Cut(d.Then, ":"); len(d.Fields) > 0 {
		return text + what + ": " + strings.Join(d.Fields, "; ")
	}
	return text + "the bot asked for " + cmp.Or(d.Then, "nothing") + ", the canary for " + cmp.Or(d.Now, "nothing")
}

// canary answers `bot canary`: how far it is, and what a person decides about it.
func (c *control) canary(ctx context.Context, ask *operator.Request) (any, error) {
	if c.r.Canary == nil {
		return nil, config.Usagef("this bot has no canary; start it with bot run --canary NEW")
	}
	var answer operator.Canary
	var refused error
	err := c.do(ctx, func(at market.Time) []market.Command {
		if ask.As != "" {
			refused = c.decide(at, ask)
		}
		answer = c.r.journal.canaryStatus()
		return nil
	})
	return &answer, errors.Join(err, refused)
}

// decide carries out what a person decides.
func (c *control) decide(at market.Time, ask *operator.Request) error {
	j := c.r.journal
	state := j.shadow.State()
	accept := ask.As == operator.CanaryAccept
	switch {
	case j.shadow.decided != "":
		return fmt.Errorf("the canary was %s before", j.shadow.decided)
	case state.Progress.Verdict == nil:
		return errors.New("the canary has not compared anything yet")
	case accept && state.First == nil && state.Equal < j.shadow.wanted:
		return fmt.Errorf("the canary has decided %d commands, all as the bot; it is accepted after %d, or with a "+
			"difference that a person accepts", state.Equal, j.shadow.wanted)
	}
	j.decide(at, &state, accept, reasonOf(ask, "decided"))
	return nil
}

// canaryStatus is the canary for a person.
func (j *botJournal) canaryStatus() operator.Canary {
	state := j.shadow.State()
	c := operator.Canary{Program: state.Program, Config: state.Config, Wanted: j.shadow.wanted, Dropped: state.Dropped,
		Decided: j.shadow.decided, Notes: []string{}}
	if state.Progress.Verdict != nil {
		c.Equal, c.Unchecked, c.Events = state.Equal, state.Unchecked, state.Records
		for i := range state.Lost {
			c.Notes = append(c.Notes, state.Lost[i].String())
		}
		c.Notes = append(c.Notes, state.Notes...)
		if state.First != nil {
			c.Difference = differenceText(state.First)
		}
	}
	if state.Ended != nil && c.Difference == "" {
		c.Ended = state.Ended.Error()
	}
	return c
}
