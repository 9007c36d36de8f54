package gap

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// heard is a signal that the bot heard.
type heard struct {
	signal market.Signal
	at     market.Time // of its arrival
}

// hear keeps a signal of the record.
func (v *survey) hear(in *market.Input) {
	v.signals = append(v.signals, heard{*in.Signal, in.At})
}

// sortSignals orders the signals by when they were known.
func (v *survey) sortSignals() {
	slices.SortStableFunc(v.signals, func(a, b heard) int { return cmp.Compare(a.signal.Known, b.signal.Known) })
}

// signalsUntil enters the signals that were known until a time, in a run without Data: as a
// backtest hears them, none of them late. The bot had heard those that arrived before the run
// began.
func (r *run) signalsUntil(at market.Time) error {
	for ; r.said < len(r.survey.signals) && r.survey.signals[r.said].signal.Known <= at; r.said++ {
		if h := &r.survey.signals[r.said]; h.at > r.begun {
			in := market.Input{Kind: market.InputSignal, At: h.signal.Known, Signal: &h.signal}
			if err := r.enter(&in); err != nil {
				return err
			}
		}
	}
	return nil
}

// arrivals counts the signals of a source in the journal.
type arrivals struct {
	heard, lost int64
	refused     map[string]int64 // by verdict
	late        []market.Duration
}

// signalLines say of each source what came of its signals in the time of the survey.
func (v *survey) signalLines(store *journal.Store) (lines []string, err error) {
	sources := map[string]*arrivals{}
	err = store.Entries(0, func(e *journal.Entry) error {
		s, is := e.Record.(*journal.Signal)
		if !is || s.Came < v.from || s.Came > v.to {
			return nil
		}
		if sources[s.Source] == nil {
			sources[s.Source] = &arrivals{refused: map[string]int64{}}
		}
		a := sources[s.Source]
		if s.Verdict != "" {
			a.refused[s.Verdict] += max(s.Count, 1)
			return nil
		}
		if a.heard++; s.Lost {
			a.lost++
		}
		if s.Sent != 0 {
			a.late = append(a.late, s.Came.Sub(s.Sent))
		}
		return nil
	})
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		lines = append(lines, fmt.Sprintf("signals of %s: %s", name, sources[name]))
	}
	return lines, err
}

// String is the counts in words.
func (a *arrivals) String() string {
	text := fmt.Sprintf("%d heard", a.heard)
	if n := len(a.late); n > 0 {
		slices.Sort(a.late)
		text += fmt.Sprintf(", late by %s in the median and %s at most", a.late[(n-1)/2], a.late[n-1])
	}
	text += fmt.Sprintf("; %d lost", a.lost)
	var refused []string
	for _, verdict := range slices.Sorted(maps.Keys(a.refused)) {
		refused = append(refused, fmt.Sprintf("%d %s", a.refused[verdict], verdict))
	}
	if len(refused) == 0 {
		return text + "; none refused"
	}
	return text + "; refused: " + strings.Join(refused, ", ")
}
