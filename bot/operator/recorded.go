package operator

import (
	"cmp"
	"errors"
	"io"
	"path/filepath"
	"slices"

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
	reader, err := recording.Read(dir, store.Catalog(), strategies, firstBlock(blocks, since, until))
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	return collectCandles(reader, m, until)
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

// collectCandles reads to the end of a recording, or of a time.
func collectCandles(reader *recording.Reader, m *market.Market, until market.Time) (Recorded, error) {
	found := Recorded{}
	add := func(candles []market.Candle) {
		for i := range candles {
			if c := &candles[i]; c.Market == m.ID {
				found[c.Interval] = append(found[c.Interval], *c)
			}
		}
	}
	for {
		_, record, err := reader.Next()
		switch {
		case errors.Is(err, io.EOF):
			return found.sorted(), nil
		case errors.As(err, new(*recording.LostError)):
			continue
		case err != nil:
			if !reader.SkipBlock() {
				return found.sorted(), nil // of a process with other markets: what came before it is there
			}
			continue
		}
		if until != 0 && record.Time() >= until && record.Kind == recording.KindInput {
			return found.sorted(), nil
		}
		add(record.Candles)
		if ev := record.Input.Event; record.Kind == recording.KindInput && ev != nil {
			add(ev.Candles)
		}
	}
}

// sorted sorts the candles of each interval, each of them once.
func (r Recorded) sorted() Recorded {
	for interval, list := range r {
		slices.SortStableFunc(list, func(a, b market.Candle) int { return cmp.Compare(a.Start, b.Start) })
		r[interval] = slices.CompactFunc(list, func(a, b market.Candle) bool { return a.Start == b.Start })
	}
	return r
}
