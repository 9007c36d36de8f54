package runner

import (
	"fmt"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/bot/alert"
)

// fillsEvery is how long fills are collected for one alert, from the first on.
const fillsEvery = time.Minute

// fillsShown is how many fills an alert lists; more are counted.
const fillsShown = 20

// fillSummary collects fills for the next alert.
type fillSummary struct {
	lines []string
	more  int
	since time.Time
}

func (n *fillSummary) add(now time.Time, line string) {
	switch {
	case len(n.lines) == 0:
		n.since, n.lines = now, append(n.lines, line)
	case len(n.lines) < fillsShown:
		n.lines = append(n.lines, line)
	default:
		n.more++
	}
}

// text returns the text of the alert and empties the list.
func (n *fillSummary) text() string {
	text := strings.Join(n.lines, "\n")
	if count := len(n.lines) + n.more; count > 1 {
		text = fmt.Sprintf("%d fills\n%s", count, text)
	}
	if n.more > 0 {
		text += fmt.Sprintf("\nand %d more", n.more)
	}
	*n = fillSummary{lines: n.lines[:0]}
	return text
}

// alertFills raises one alert for the fills of a minute, at once where last is set.
func (w *watch) alertFills(last bool) {
	if len(w.fills.lines) > 0 && (last || w.now().Sub(w.fills.since) >= fillsEvery) {
		w.raise(alert.Fill, "%s", w.fills.text())
	}
}
