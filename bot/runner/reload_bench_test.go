package runner

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// BenchmarkReload is what a reload takes from the loop of a bot whose strategies all get other
// parameters: the turn that copies the engine, and the turn in which the new strategies take over,
// each with its commit on the disk. The floor is a turn that journals one entry.
func BenchmarkReload(b *testing.B) {
	for _, strategies := range []int{1, 20} {
		b.Run(fmt.Sprint(strategies), func(b *testing.B) {
			h := &hearing{benchEnds: benchEnds{b: b}, heard: make(chan time.Time, 1), idle: averages(strategies, 20)}
			h.open(b.TempDir())
			h.fill()
			r := &reloading{hearing: h, next: averages(strategies, 21), was: h.idle}
			for b.Loop() {
				r.reload()
			}
			for _, row := range []struct {
				name string
				took []time.Duration
			}{{"copy-turn", r.copies}, {"swap", r.swaps}, {"swap-turn", r.turns}, {"plain-turn", r.plain}} {
				slices.Sort(row.took)
				b.ReportMetric(row.took[len(row.took)/2].Seconds()*1e3, row.name+"-p50-ms")
				b.ReportMetric(row.took[len(row.took)-1].Seconds()*1e3, row.name+"-max-ms")
			}
			h.close()
		})
	}
}

// averages are sections of a config: strategies with a warm-up of 50 candles.
func averages(n, fast int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "[strategies.cross%d]\nkind = \"smacross\"\nmarkets = [\"BTC-EUR\"]\ninterval = \"1m\"\n"+
			"operator_id = %d\nparams.fast = %d\nparams.slow = 50\n", i, i+8, fast)
	}
	return text.String()
}

// reloading reloads a bot again and again, and measures turns of its loop.
type reloading struct {
	*hearing
	next, was                   string // sections of the config
	copies, swaps, turns, plain []time.Duration
}

// reload does what control.tryReload does, and a plain turn.
func (r *reloading) reload() {
	r.was, r.next = r.next, r.was
	r.idle = r.was
	was, next := r.bot.settings.Load().plan, r.plan()
	s := &settingsSwap{control: &control{r: r.bot, ctx: r.b.Context()}, by: "a benchmark", next: next, was: was,
		change: next.ChangeFrom(was), report: &operator.Reload{}}
	require.NoError(r.b, next.Succeed(was, r.bot.plan.Catalog))
	began := time.Now()
	r.bot.Faults = func(point string) {
		if point == "reload copied" {
			r.copies = append(r.copies, time.Since(began))
		}
	}
	require.NoError(r.b, s.prepare(r.b.Context()))
	r.turns = append(r.turns, r.turn(s.control, func(at market.Time) []market.Command {
		began := time.Now()
		commands, err := s.takeOver(at)
		require.NoError(r.b, err)
		s.settle(at)
		r.swaps = append(r.swaps, time.Since(began))
		return commands
	}))
	s.stopCatching()
	r.plain = append(r.plain, r.turn(s.control, func(at market.Time) []market.Command {
		r.bot.journal.batch.Act(at, &journal.Act{Verb: "halt", By: "a benchmark"})
		return nil
	}))
}

// turn is how long a turn of the loop takes, from the call to the end of its commit.
func (r *reloading) turn(c *control, run func(at market.Time) []market.Command) time.Duration {
	began := time.Now()
	require.NoError(r.b, c.do(r.b.Context(), run))
	require.NoError(r.b, c.query(r.b.Context(), func(market.Time) {}))
	return time.Since(began)
}
