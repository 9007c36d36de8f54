package bot

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research"
)

// sweepScreen says how a sweep goes, on standard error: one line that is redrawn on a terminal,
// else a line now and then.
type sweepScreen struct {
	out      io.Writer // nil: nothing is shown
	terminal bool
	shown    time.Time // when the last line was written
	drawn    bool      // a line is to be redrawn
	told     bool      // how long it will take
	steady   int       // groups after which the rate is known
	first    struct {
		at   time.Time
		done int
	}
}

// The time between two lines.
const (
	sweepRedraw = 100 * time.Millisecond
	sweepLine   = 10 * time.Second
)

func (a *app) newSweepScreen(quiet bool) *sweepScreen {
	s := &sweepScreen{out: a.Stderr}
	if quiet {
		s.out = nil
	}
	_, s.terminal = console.TerminalOf(a.Stderr)
	return s
}

func (s *sweepScreen) line(format string, args ...any) {
	if s.out != nil {
		s.end()
		fmt.Fprintf(s.out, format+"\n", args...)
	}
}

// begin says what is searched, before anything runs.
func (s *sweepScreen) begin(base *plan.Backtest, job *research.Job) {
	s.steady = 1 + 4*job.Workers
	s.line("%s", base.Options.Title)
	for _, d := range job.Space.Dimensions() {
		s.line("  %s: %s", d.Key, valuesText(d.Values))
	}
	s.line("method %s, objective %s%s", job.Method, job.Objective, requireText(job.Require))
}

func valuesText(values []string) string {
	if len(values) <= 6 {
		return strings.Join(values, ", ")
	}
	return fmt.Sprintf("%s, %s … %s (%d values)", values[0], values[1], values[len(values)-1], len(values))
}

func requireText(list []*research.Formula) (text string) {
	for _, f := range list {
		text += fmt.Sprintf("; ranked only where %s (a filter on the whole sample)", f)
	}
	return text
}

// start is called when the first sets have run: it knows how long the rest will take.
func (s *sweepScreen) start(b research.Start) {
	if b.LeftOut > 0 {
		s.line("left out by the parameters' own rules: %d sets, such as %s", b.LeftOut, b.Why)
	}
	s.line("%d sets, each from %s to %s, %d daily returns; all begin after the longest warm-up", b.Sets,
		sweepDate(b.From),
		sweepDate(b.To), b.Days)
	s.line("of searches like this on worthless data 5 in 100 show a Sharpe above %.2f; the expected best is %.2f",
		b.Luck.Bar,
		b.Luck.Expected)
	if b.Luck.Detectable > 0 {
		s.line("a set fixed in advance needs a true Sharpe of %.2f to be found in 4 of 5 cases on this length",
			b.Luck.Detectable)
	}
	if b.Torn != "" {
		s.line("the file was torn: %s", b.Torn)
	}
	if b.Done > 0 {
		s.line("%d of them are in the file already", b.Done)
	}
}

// progress shows how far the sweep has come. The rate is that since the first sets: these also
// waited for candles and plans to be prepared.
func (s *sweepScreen) progress(p research.Progress) {
	now := time.Now()
	if s.first.at.IsZero() {
		s.first.at, s.first.done, s.shown = now, p.Done, now
		return
	}
	rate := float64(p.Done-s.first.done) / now.Sub(s.first.at).Seconds()
	if s.out == nil || p.Groups < s.steady || !(rate > 0) {
		return
	}
	left := short(time.Duration(float64(p.Sets-p.Done) / rate * float64(time.Second)))
	if !s.told {
		s.told = true
		s.line("about %s at %.0f sets a second", left, rate)
	}
	wait := sweepLine
	if s.terminal {
		wait = sweepRedraw
	}
	if now.Sub(s.shown) < wait {
		return
	}
	s.shown = now
	text := fmt.Sprintf("%d of %d sets, %.0f a second, %s left", p.Done, p.Sets, rate, left)
	if p.Best != nil {
		text += fmt.Sprintf(", best %.3f (%s)", p.Best.Value, research.SettingsText(p.Best.Settings))
	}
	if !s.terminal {
		s.line("%s", text)
		return
	}
	fmt.Fprintf(s.out, "\r\x1b[K%s", fit79(text))
	s.drawn = true
}

// fit79 cuts a line to the width of a terminal.
func fit79(text string) string {
	if runes := []rune(text); len(runes) > 79 {
		return string(runes[:78]) + "…"
	}
	return text
}

// end takes the line off the screen.
func (s *sweepScreen) end() {
	if s.drawn {
		fmt.Fprint(s.out, "\r\x1b[K")
		s.drawn = false
	}
}

// short is a length of time for a person.
func short(d time.Duration) string {
	switch {
	case d < time.Second:
		return "less than a second"
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// sweepDate is the day of a midnight, else the whole time.
func sweepDate(at market.Time) string {
	return strings.TrimSuffix(at.String(), "T00:00:00Z")
}
