package bot

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/research/stress"
)

// stressScreen says on standard error what is stressed and how far it is.
type stressScreen struct {
	sweepScreen
	base   *plan.Backtest
	before *backtest.Result
	opened time.Time
}

func newStressScreen(a *app, quiet bool, base *plan.Backtest, before *backtest.Result) *stressScreen {
	s := &stressScreen{sweepScreen: *a.newSweepScreen(quiet), base: base, before: before, opened: time.Now()}
	s.line("%s", base.Options.Title)
	return s
}

// began is called when the plain run has ended: it knows how long the others will take.
func (s *stressScreen) began(b stress.Start) {
	s.compare(b.Plain)
	for _, warning := range b.Plain.Warnings {
		s.line("beware: %s", warning)
	}
	took := time.Since(s.opened) / 2 // it has run twice
	p := &b.Plain.Performance
	s.line("the run itself: return %s, Sharpe %s, drawdown %s, %d trips, %d daily returns", p.Return.Percent(1),
		p.Sharpe.Text(2), p.Drawdown.Depth.Percent(1), b.Plain.Trips.Count, b.Days)
	s.line("%d runs to come; time: %s", b.Runs, short(took*time.Duration(b.Runs)/time.Duration(b.Workers)))
	s.shown = time.Now()
}

// compare says where the result differs from the one in the folder.
func (s *stressScreen) compare(plain *backtest.Result) {
	if s.before == nil {
		return
	}
	var why []string
	if old, now := s.before.Run.CodeVersion, s.base.Options.CodeVersion; old != now {
		why = append(why, fmt.Sprintf("the program was %s and is %s", old, now))
	}
	if s.before.Run.DataHash != s.base.Options.DataHash {
		why = append(why, "the candles are others")
	}
	if s.before.Run.ConfigHash != s.base.Options.ConfigHash {
		why = append(why, "the settings are others")
	}
	if old, now := s.before.Performance.Final, plain.Performance.Final; old != now {
		s.line("the run does not end as the one in the folder: %s, not %s (%s)", now, old,
			cmp.Or(strings.Join(why, ", "), "for no reason that the folder knows"))
	} else if len(why) > 0 {
		s.line("beware: %s; the run ends alike", strings.Join(why, ", "))
	}
}

// progress shows how many runs have ended.
func (s *stressScreen) progress(done, runs int) {
	if now, due := s.due(); due {
		s.draw(now, fmt.Sprintf("%d of %d runs", done, runs))
	}
}
