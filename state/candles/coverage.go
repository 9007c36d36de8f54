package candles

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// Range is a span of time, From inclusive, To exclusive.
type Range struct {
	From, To market.Time
}

// Gap is a run of missing candles. NoTrade: a complete source covers it, so nothing traded;
// otherwise the reason is not known.
type Gap struct {
	Range
	NoTrade bool
	Candles int64
}

// Gaps lists the candles missing in [from, to), in order. A run that a complete source covers in
// part is split. A zero from or to means the series' first start or last end.
func (s *Store) Gaps(name string, interval market.Interval, from, to market.Time) (gaps []Gap, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		gaps, err = s.gaps(tx, name, interval, Range{from, to})
		return err
	})
	return gaps, err
}

func (s *Store) gaps(tx *bbolt.Tx, name string, interval market.Interval, span Range) ([]Gap, error) {
	chunks, err := s.chunks(tx, name, interval, span)
	if err != nil {
		return nil, err
	}
	counter := gapCounter{}
	if span.From != 0 {
		counter = gapCounter{started: true, end: ceilStart(interval, span.From)}
	}
	err = walkSeries(chunks, interval, span, func(run Range) error { return counter.add(run, interval) }, nil)
	if err != nil {
		return nil, s.seriesError(name, interval, err)
	}
	if last := interval.Floor(span.To); span.To != 0 && counter.started && last > counter.end {
		counter.gaps = append(counter.gaps, Range{counter.end, last})
	}
	complete, err := coverage(tx, name, interval)
	return splitGaps(counter.gaps, complete, interval), err
}

// ceilStart returns the first start of a candle at or after t.
func ceilStart(interval market.Interval, t market.Time) market.Time {
	if start := interval.Floor(t); start != t {
		return interval.End(start)
	}
	return t
}

// Complete returns the ranges of a series that a complete source covers, sorted and disjoint: a
// candle missing in them had no trade.
func (s *Store) Complete(name string, interval market.Interval) (ranges []Range, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		ranges, err = coverage(tx, name, interval)
		return err
	})
	return ranges, err
}

// gapCounter collects the gaps between runs of candles.
type gapCounter struct {
	started    bool
	first, end market.Time // end is where the next candle is due
	gaps       []Range
}

func (g *gapCounter) add(run Range, interval market.Interval) error {
	if !g.started {
		g.started, g.first, g.end = true, run.From, run.From
	}
	if run.From > g.end {
		g.gaps = append(g.gaps, Range{g.end, run.From})
	}
	g.end = run.To
	return nil
}

// splitGaps splits gaps at the ends of the complete ranges and marks the parts inside.
func splitGaps(gaps, complete []Range, interval market.Interval) (parts []Gap) {
	for _, gap := range gaps {
		for _, known := range complete {
			if known.To <= gap.From || known.From >= gap.To {
				continue
			}
			parts = appendGap(parts, Range{gap.From, known.From}, false, interval)
			parts = appendGap(parts, Range{max(gap.From, known.From), min(gap.To, known.To)}, true, interval)
			gap.From = min(gap.To, known.To)
		}
		parts = appendGap(parts, gap, false, interval)
	}
	return parts
}

func appendGap(parts []Gap, r Range, noTrade bool, interval market.Interval) []Gap {
	if r.From >= r.To {
		return parts
	}
	return append(parts, Gap{Range: r, NoTrade: noTrade, Candles: interval.Index(r.To) - interval.Index(r.From)})
}

// mergeRanges sorts ranges, joins those that overlap or touch, and drops empty ones.
func mergeRanges(ranges []Range) []Range {
	ranges = slices.DeleteFunc(slices.Clone(ranges), func(r Range) bool { return r.From >= r.To })
	slices.SortFunc(ranges, func(a, b Range) int { return cmp.Compare(a.From, b.From) })
	merged := ranges[:0]
	for _, r := range ranges {
		if last := len(merged) - 1; last >= 0 && r.From <= merged[last].To {
			merged[last].To = max(merged[last].To, r.To)
			continue
		}
		merged = append(merged, r)
	}
	return merged
}

// coverage reads the complete ranges of a series.
func coverage(tx *bbolt.Tx, name string, interval market.Interval) ([]Range, error) {
	value := tx.Bucket(bucketCoverage).Get(seriesKey(name, interval))
	if len(value)%16 != 0 {
		return nil, fmt.Errorf("complete ranges of %s %s: %w: %d bytes", name, interval, bolt.ErrCorrupt,
			len(value))
	}
	ranges := make([]Range, 0, len(value)/16)
	for at := 0; at < len(value); at += 16 {
		from, to := binary.BigEndian.Uint64(value[at:]), binary.BigEndian.Uint64(value[at+8:])
		ranges = append(ranges, Range{market.Time(from), market.Time(to)})
	}
	return ranges, checkCoverage(ranges, name, interval)
}

func checkCoverage(ranges []Range, name string, interval market.Interval) error {
	for i, r := range ranges {
		if r.From >= r.To || i > 0 && r.From <= ranges[i-1].To || !interval.Aligned(r.From) || !interval.Aligned(r.To) {
			return fmt.Errorf("complete ranges of %s %s: %w: %s to %s", name, interval, bolt.ErrCorrupt, r.From,
				r.To)
		}
	}
	return nil
}

// addCoverage adds complete ranges, shortened to whole candles.
func addCoverage(tx *bbolt.Tx, name string, interval market.Interval, complete []Range) error {
	if len(complete) == 0 {
		return nil
	}
	ranges, err := coverage(tx, name, interval)
	if err != nil {
		return err
	}
	for _, r := range complete {
		ranges = append(ranges, Range{ceilStart(interval, r.From), interval.Floor(r.To)})
	}
	var value []byte
	for _, r := range mergeRanges(ranges) {
		value = binary.BigEndian.AppendUint64(value, uint64(r.From))
		value = binary.BigEndian.AppendUint64(value, uint64(r.To))
	}
	return tx.Bucket(bucketCoverage).Put(seriesKey(name, interval), value)
}

// ManyMissing says that more than 5 % of the candles of a series are missing for an unknown reason;
// it is empty where fewer are.
func ManyMissing(present, missing int64) string {
	all := present + missing
	if missing*20 <= all {
		return ""
	}
	return fmt.Sprintf("%d of %d candles are missing (%d %%): is the interval right? If nothing was traded in them, "+
		"import with --complete", missing, all, (missing*100+all/2)/all)
}
