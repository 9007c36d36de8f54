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
	began    time.Time // when the first group began
	sets     int       // to run
	workers  int
	after    time.Duration // the statistics after the last group
}

// The time between two lines.
const (
	sweepRedraw = 100 * time.Millisecond
	sweepLine   = 10 * time.Second
)

// trialLasts is how long a sweep's trial lasts at most: then its groups foretell the rest, even if
// none of them has ended.
const trialLasts = time.Second

func (a *app) newSweepScreen(quiet bool) *sweepScreen {
	s := &sweepScreen{out: a.Stderr}
	if quiet {
		s.out = nil
	}
	_, s.terminal = console.TerminalOf(a.Stderr)
	return s
}

// say writes lines.
func (s *sweepScreen) say(lines []string) {
	for _, line := range lines {
		s.line("%s", line)
	}
}

func (s *sweepScreen) line(format string, args ...any) {
	if s.out != nil {
		s.end()
		fmt.Fprintf(s.out, format+"\n", args...)
	}
}

// begin says what is searched, before anything runs.
func (s *sweepScreen) begin(base *plan.Backtest, job *research.Job) {
	s.workers = job.Workers
	s.line("%s", base.Options.Title)
	for _, d := range job.Space.Dimensions() {
		s.line("  %s: %s", d.Key, valuesText(d.Values))
	}
	s.line("method %s, objective %s%s", job.Method, job.Objective, requireText(job.Require))
	for _, warning := range job.DataWarnings {
		s.line("beware: %s", warning)
	}
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

// start is called before anything runs.
func (s *sweepScreen) start(b research.Start) {
	if b.LeftOut > 0 {
		s.line("left out by the parameters' own rules: %d sets, such as %s", b.LeftOut, b.Why)
	}
	s.line("%d sets, each from %s to %s, %d daily returns; all begin after the longest warm-up", b.Sets,
		sweepDate(b.From), sweepDate(b.To), b.Days)
	s.line("of searches like this on worthless data 5 in 100 show a Sharpe above %.2f; the expected best is %.2f",
		b.Luck.Bar, b.Luck.Expected)
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
	s.began, s.sets = time.Now(), b.Sets-b.Done
	s.after = research.JudgingTime(b.Sets, b.Days, s.workers)
}

// trial says how long the sweep will take, when its first groups have shown it.
func (s *sweepScreen) trial(part float64, over bool) (enough bool) {
	spent := time.Now().Sub(s.began)
	if part <= 0 || spent < trialLasts && !over {
		return false
	}
	runs := time.Duration(float64(spent) / part)
	about := "about "
	if runs+s.after < time.Second {
		about = ""
	}
	s.line("%s%s: %.0f sets a second, on trial", about, short(runs+s.after), float64(s.sets)/runs.Seconds())
	s.shown = time.Now()
	return true
}

// progress shows how far the sweep has come.
func (s *sweepScreen) progress(p research.Progress) {
	now, due := s.due()
	if !due || p.Part <= 0 {
		return
	}
	runs := time.Duration(float64(now.Sub(s.began)) / p.Part)
	left := time.Duration(float64(runs)*(1-p.Part)) + s.after
	text := fmt.Sprintf("%d of %d sets, %.0f a second, %s left", p.Done, p.Sets, float64(s.sets)/runs.Seconds(),
		short(left))
	if p.Best != nil {
		text += fmt.Sprintf(", best %.3f (%s)", p.Best.Value, research.SettingsText(p.Best.Settings))
	}
	s.draw(now, text)
}

// due is the time, and whether the latest line is old enough for another one.
func (s *sweepScreen) due() (now time.Time, due bool) {
	wait, now := sweepLine, time.Now()
	if s.terminal {
		wait = sweepRedraw
	}
	return now, s.out != nil && now.Sub(s.shown) >= wait
}

// draw shows a line; on a terminal it is cut, and the next one takes its place.
func (s *sweepScreen) draw(now time.Time, text string) {
	s.shown = now
	if !s.terminal {
		s.line("%s", text)
		return
	}
	if runes := []rune(text); len(runes) > 79 {
		text = string(runes[:78]) + "…"
	}
	fmt.Fprintf(s.out, "\r\x1b[K%s", text)
	s.drawn = true
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
