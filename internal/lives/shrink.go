package lives

import (
	"slices"
	"time"
)

// Shrink returns the least life that it finds in which the same promise is still broken: with fewer
// events, one strategy, polls, and whole minutes. broken plays a life. Shrink plays at most tries
// of them.
func Shrink(l *Life, tries int, broken func(*Life) bool) *Life {
	holds := func(smaller *Life) bool {
		if tries <= 0 {
			return false
		}
		tries--
		return broken(smaller)
	}
	l = l.fewer(holds)
	for _, change := range simpler {
		if next := l.clone(); change(next) && holds(next) {
			l = next
		}
	}
	return l.fewer(holds)
}

// fewer leaves out events, first by halves, then one by one.
func (l *Life) fewer(holds func(*Life) bool) *Life {
	for size := max(1, len(l.Events)/2); size >= 1; size /= 2 {
		for from := 0; from < len(l.Events); {
			next := l.clone()
			next.Events = slices.Delete(next.Events, from, min(from+size, len(next.Events)))
			if holds(next) {
				l = next
			} else {
				from += size
			}
		}
	}
	return l
}

// simpler are changes that make a life easier to read; false: there is nothing to change.
var simpler = []func(*Life) bool{
	func(l *Life) bool { return l.only(0) }, func(l *Life) bool { return l.only(1) },
	func(l *Life) bool { return l.hears("poll") }, func(l *Life) bool { return l.hears("stream") },
	func(l *Life) bool { changed := l.Setup.Own != ""; l.Setup.Own = ""; return changed },
	func(l *Life) bool { changed := l.Setup.Keep; l.Setup.Keep = false; return changed },
	func(l *Life) bool { changed := l.Setup.Takes; l.Setup.Takes = false; return changed },
	func(l *Life) bool { changed := l.Setup.Paper; l.Setup.Paper = false; return changed },
	func(l *Life) bool { changed := l.Setup.Start != 0; l.Setup.Start = 0; return changed },
	func(l *Life) bool { return l.styled("stop") }, func(l *Life) bool { return l.styled("bracket") },
	func(l *Life) bool { return l.rounded() },
}

func (l *Life) only(n int) bool {
	if len(l.Setup.Strategies) <= max(1, n) {
		return false
	}
	l.Setup.Strategies = l.Setup.Strategies[n : n+1]
	markets := l.Setup.Markets()
	for i := range l.Events {
		for j, arg := range l.Events[i].Args {
			if len(arg) == 7 && arg[3:] == "-EUR" && !slices.Contains(markets, arg) {
				l.Events[i].Args[j] = markets[0]
			}
		}
	}
	return true
}

func (l *Life) hears(feed string) bool {
	changed := l.Setup.Feed != feed && !(l.Setup.Feed == "poll" && feed == "stream")
	l.Setup.Feed = feed
	return changed
}

func (l *Life) styled(style string) bool {
	if len(l.Setup.Strategies) != 1 || l.Setup.Bare(l.Setup.Markets()[0]) {
		return false
	}
	was := l.Setup.Strategies[0]
	l.Setup.Strategies[0] = style + "@" + l.Setup.Markets()[0]
	return was != l.Setup.Strategies[0]
}

func (l *Life) rounded() bool {
	for i := range l.Events {
		l.Events[i].At = l.Events[i].At.Round(time.Second)
	}
	return true
}

func (l *Life) clone() *Life {
	next := *l
	next.Setup.Strategies = slices.Clone(l.Setup.Strategies)
	next.Events = slices.Clone(l.Events)
	for i := range next.Events {
		next.Events[i].Args = slices.Clone(next.Events[i].Args)
	}
	return &next
}
