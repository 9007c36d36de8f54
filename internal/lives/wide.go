package lives

import (
	"slices"
	"strings"
	"time"
)

// Wide is the seed above which lives have more setups and events than those below it. The lives of
// the seeds below it stay as they are.
const Wide = 1 << 32

// WideStyles are styles that only lives above Wide have.
var WideStyles = []string{"count"}

// wideKinds are events that only lives above Wide have.
var wideKinds = []kind{
	{4, "exchange", "delist", func(d *drawer) []string {
		return []string{d.market(), d.of("1m0s", "3m0s", "forever")}
	}},
	{3, "owner", "dust", func(d *drawer) []string { return []string{d.market()} }},
	{2, "exchange", "candles", func(d *drawer) []string {
		return []string{d.of("late", "twice"), d.market(), d.span(60, 240)}
	}},
}

// longKill leaves the bot dead for as long as its timers take, or nearly.
var longKill = kind{0, "machine", "kill", func(d *drawer) []string { return []string{d.span(140, 300)} }}

// widen changes a life that is drawn: a third of them on paper, a third without kept exits, a third
// with a strategy that leaves after a number of candles; two of three have an event of wideKinds,
// and two of three that are not on paper have groups whose orders die with the bot.
func (l *Life) widen(d *drawer) {
	l.Setup.Paper, l.Setup.Takes = d.IntN(3) == 0, d.IntN(3) == 0
	counts := d.IntN(3) == 0
	_, where, _ := strings.Cut(l.Setup.Strategies[0], "@")
	if counts && where != "BTC-EUR+ETH-EUR" {
		l.Setup.Strategies[0] = WideStyles[0] + "@" + where
		if d.IntN(2) == 0 {
			l.happens(d, &wideKinds[2])
		}
	}
	for range d.IntN(3) {
		total := 0
		for i := range wideKinds {
			total += wideKinds[i].weight
		}
		n := d.IntN(total)
		for i := range wideKinds {
			if n -= wideKinds[i].weight; n < 0 {
				l.happens(d, &wideKinds[i])
				break
			}
		}
	}
	if l.Setup.Groups = d.IntN(3); l.Setup.Groups > 0 && d.IntN(2) == 0 {
		l.happens(d, &longKill)
	}
	if l.Setup.Paper {
		l.onPaper()
	}
}

// happens puts an event between the others.
func (l *Life) happens(d *drawer, what *kind) {
	last := l.Events[len(l.Events)-1].At
	at := 20*time.Second + time.Duration(d.IntN(int(last/time.Second)))*time.Second
	l.Events = append(l.Events, Event{at, what.actor, what.verb, what.args(d)})
	slices.SortStableFunc(l.Events, func(a, b Event) int { return int(a.At - b.At) })
}

// onPaper leaves out what cannot befall a bot that trades on paper: no other hand reaches its
// exchange, which is in its process, and no fault is between the two.
func (l *Life) onPaper() {
	l.Setup.Own, l.Setup.Groups = "", 0
	if l.Setup.Feed == "orders" {
		l.Setup.Feed = "stream"
	}
	l.Events = slices.DeleteFunc(l.Events, func(e Event) bool {
		return e.Actor == "owner" || slices.Contains([]string{"exchange cancel", "exchange lie", "operator direct",
			"operator sell", "machine killwrite"}, e.Actor+" "+e.Verb)
	})
}
