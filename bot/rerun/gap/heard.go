package gap

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/state/signals"
)

// heard is a signal of a run.
type heard struct {
	signal market.Signal
	at     market.Time // of its arrival; where it never came, when it could be known
}

// hear keeps a signal of the record.
func (v *survey) hear(in *market.Input) {
	v.signals = append(v.signals, heard{*in.Signal, in.At})
}

// sorted orders signals by when they were known.
func sorted(list []heard) []heard {
	slices.SortStableFunc(list, func(a, b heard) int { return cmp.Compare(a.signal.Known, b.signal.Known) })
	return list
}

// signalsUntil enters the signals that were known until a time, in a run without Data. The bot had
// heard those that arrived before the run began.
func (r *run) signalsUntil(at market.Time) error {
	list := r.survey.signals
	if r.out.Facts == asSent {
		list = r.survey.sent
	}
	for ; r.said < len(list) && list[r.said].signal.Known <= at; r.said++ {
		if h := &list[r.said]; h.at > r.begun {
			in := market.Input{Kind: market.InputSignal, At: h.signal.Known, Signal: &h.signal}
			if err := r.enter(&in); err != nil {
				return err
			}
		}
	}
	return nil
}

// Sent is what the config of a backtest says of a source: how its signals are read, and what it
// sent; nil: nothing but what the journal has.
type Sent struct {
	Options signals.Options
	File    *signals.File
}

// refusedAs are the verdicts on signals that a backtest hears: their time or their price was wrong
// for a live bot alone.
var refusedAs = []string{"old", "future", "price"}

// arrivals are the signals of a source in the journal.
type arrivals struct {
	heard, lost int64
	refused     map[string]int64 // by verdict
	late        []market.Duration
	sent        []heard     // each when its sender says that it was known
	last        market.Time // of sent
	unread      int64       // refused ones that are not in sent
}

// readSignals reads in the journal what came of the signals in the time of the survey, and takes
// them as their senders sent them: of a source with a file its rows, of the others those that came,
// also where the bot refused them. lines say what came of each source.
func (v *survey) readSignals(store *journal.Store, by map[string]Sent) (lines []string, err error) {
	came, sources := map[int64]*heard{}, map[string]*arrivals{}
	for i := range v.signals {
		came[v.signals[i].signal.Number] = &v.signals[i]
	}
	err = store.Entries(0, func(e *journal.Entry) error {
		s, is := e.Record.(*journal.Signal)
		if !is || s.Came < v.from || s.Came > v.to {
			return nil
		}
		a := sources[s.Source]
		if a == nil {
			a = &arrivals{refused: map[string]int64{}}
			sources[s.Source] = a
		}
		if s.Verdict != "" {
			a.refuse(s)
			if signal, read := v.read(s, by[s.Source].Options); read {
				signal.Number, a.unread = int64(e.Number), a.unread-1
				a.send(heard{signal, s.Came})
			}
			return nil
		}
		a.hear(s)
		if h := came[int64(e.Number)]; h != nil {
			a.send(heard{sentAt(h.signal, s.Sent), h.at})
		}
		return nil
	})
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		a := sources[name]
		lines = append(lines, fmt.Sprintf("signals of %s: %s", name, a))
		file := by[name].File
		switch {
		case file != nil && file.Rows[len(file.Rows)-1].Known >= a.last:
			a.sent = v.ofFile(file)
			lines = append(lines, fmt.Sprintf("signals of %s as they were sent: the rows of its file", name))
		case file != nil:
			lines = append(lines, fmt.Sprintf("signals of %s as they were sent: those of the journal, because its "+
				"file ends before them", name))
		}
		if file == nil && a.unread > 0 {
			lines = append(lines, fmt.Sprintf("%d refused signals of %s are in no run: the journal only counts them",
				a.unread, name))
		}
		v.sent = append(v.sent, a.sent...)
	}
	v.sent = sorted(v.sent)
	return lines, err
}

// send adds a signal that was sent.
func (a *arrivals) send(h heard) {
	a.sent, a.last = append(a.sent, h), max(a.last, h.signal.Known)
}

// hear counts a signal that the bot heard.
func (a *arrivals) hear(s *journal.Signal) {
	if a.heard++; s.Lost {
		a.lost++
	}
	if s.Sent != 0 {
		a.late = append(a.late, s.Came.Sub(s.Sent))
	}
}

// refuse counts one that the bot refused. A backtest hears it where its time or its price was wrong
// for a live bot alone.
func (a *arrivals) refuse(s *journal.Signal) {
	a.refused[s.Verdict] += max(s.Count, 1)
	if slices.Contains(refusedAs, s.Verdict) {
		a.unread += max(s.Count, 1)
	}
}

// sentAt is a signal that came when its sender sent it; 0: the sender does not say when.
func sentAt(s market.Signal, sent market.Time) market.Signal {
	if sent != 0 && sent < s.Known {
		if s.Until != 0 {
			s.Until -= s.Known - sent
		}
		s.Known = sent
	}
	s.Arrived = 0
	return s
}

// read reads a refused signal again.
func (v *survey) read(of *journal.Signal, o signals.Options) (signal market.Signal, read bool) {
	if !slices.Contains(refusedAs, of.Verdict) {
		return signal, false
	}
	catalog := v.first.made.Catalog
	a := signals.NewSender(of.Source, o).JSON(of.Body)
	m, err := o.On(a.Market, catalog)
	if a.Wrong != "" || err != nil {
		return signal, false
	}
	signal = a.Signal
	signal.Source, signal.Known = of.Source, cmp.Or(min(of.Sent, of.Came), of.Came)
	if signal.Time = cmp.Or(signal.Time, signal.Known); m != nil {
		signal.Market = m.ID
	}
	if o.MaxAge > 0 {
		signal.Until = signal.Known.Add(o.MaxAge)
	}
	return signal, true
}

// ofFile are the rows of a file that were known in the time of the survey.
func (v *survey) ofFile(f *signals.File) (list []heard) {
	for _, row := range f.Rows {
		m := v.first.made.Catalog.MarketNamed(row.On)
		if row.Known < v.from || row.Known > v.to || row.On != "" && m == nil {
			continue
		}
		if m != nil {
			row.Market = m.ID
		}
		list = append(list, heard{row.Signal, row.Known})
	}
	return list
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
