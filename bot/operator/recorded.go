package operator

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/tidemark-trading/tidemark/bot/rerun/reader"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/state/recording"
)

// recordedEvents is how much of a recording is read for an answer: the part before the end of the
// wanted time. It bounds how long an answer takes.
const recordedEvents = 400_000

// Recorded are the candles of a market that a recording has in a time, by interval, each sorted by
// start.
type Recorded map[market.Interval][]market.Candle

// ReadRecorded reads candles of a market from the recording beside a state file: those that closed
// between two times, with 0 for no bound, and that the last recordedEvents before until have. A
// folder without a recording has none.
func ReadRecorded(store *journal.Store, m *market.Market, since, until market.Time) (Recorded, error) {
	dir := filepath.Join(filepath.Dir(store.Path()), statedir.RecordingFolder)
	blocks, err := recording.Index(dir)
	if errors.Is(err, bolt.ErrNotFound) || err == nil && len(blocks) == 0 {
		return Recorded{}, nil
	}
	if err != nil {
		return nil, err
	}
	runs, err := store.Runs()
	if err != nil {
		return nil, err
	}
	var strategies []string // of all runs: records name them
	for i := range runs {
		for _, name := range runs[i].Strategies {
			if !slices.Contains(strategies, name) {
				strategies = append(strategies, name)
			}
		}
	}
	return collectCandles(reader.Source{Dir: dir, Catalog: store.Catalog(), Strategies: strategies,
		From: firstBlock(blocks, since, until)}, m, until), nil
}

// firstBlock is the number of the record to begin at.
func firstBlock(blocks []recording.Block, since, until market.Time) uint64 {
	end := len(blocks)
	for end > 1 && until != 0 && blocks[end-1].From >= until {
		end--
	}
	at, last := end-1, blocks[end-1].Last
	for at > 0 && blocks[at].From > since && last-blocks[at-1].First < recordedEvents {
		at--
	}
	return blocks[at].First
}

// collectCandles reads to the end of a recording, of a time, or of what this program can read.
func collectCandles(of reader.Source, m *market.Market, until market.Time) Recorded {
	found := Recorded{}
	add := func(candles []market.Candle) {
		for i := range candles {
			if c := &candles[i]; c.Market == m.ID {
				found[c.Interval] = append(found[c.Interval], *c)
			}
		}
	}
	for item, err := range reader.Items(context.Background(), of) {
		switch {
		case err != nil || item.Gap == nil && until != 0 && item.At >= until && item.Kind == recording.KindInput:
			return found.sorted()
		case item.Gap != nil:
			continue
		}
		add(item.Candles)
		if ev := item.Data(); ev != nil {
			add(ev.Candles)
		}
	}
	return found.sorted()
}

// sorted sorts the candles of each interval, each of them once.
func (r Recorded) sorted() Recorded {
	for interval, list := range r {
		slices.SortStableFunc(list, func(a, b market.Candle) int { return cmp.Compare(a.Start, b.Start) })
		r[interval] = slices.CompactFunc(list, func(a, b market.Candle) bool { return a.Start == b.Start })
	}
	return r
}
