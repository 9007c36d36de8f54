package candles

import (
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// Relations between two stores: no value is expected, one is held against another.

var worlds = flag.Uint64("worlds", 12, "play each relation with so many series")

// drawnSeries draws candles of a minute, some with holes between them, none between the first two.
func drawnSeries(r *rand.Rand) (list []market.Candle) {
	hole := [...]float64{0, 0.02, 0.3, 0.9}[r.IntN(4)]
	at := 27_000_000 + r.Int64N(200)
	for i := range 1 + r.IntN(400) {
		for at++; i > 1 && r.Float64() < hole; {
			at++
		}
		low := market.Price(1 + r.Int64N(1_000_000))
		c := market.Candle{Start: market.Interval1m.StartOf(at), Interval: market.Interval1m, Low: low, High: low +
			market.Price(r.Int64N(1000)), Volume: market.Volume(r.Int64N(3) * r.Int64N(1_000_000))}
		inside := func() market.Price { return low + market.Price(r.Int64N(int64(c.High-low)+1)) }
		c.Open, c.Close = inside(), inside()
		list = append(list, c)
	}
	return list
}

// quickStore is a store that does not wait for the disk.
func quickStore(t *testing.T) *Store {
	store := openTestStore(t)
	store.db.NoSync = true
	return store
}

// M4: an import in parts, in any order, with rows twice and parts that overlap, is an import of all
// at once; so is an import of its export. Each part ends with two rows that are a minute apart: few
// rows without such a pair may look like those of another interval, and are refused.
func TestAnImportInPartsIsOneImport(t *testing.T) {
	o := ImportOptions{WriteOptions: WriteOptions{Market: "BTC-EUR", Interval: market.Interval1m}}
	for seed := range *worlds {
		r := rand.New(rand.NewPCG(seed, 1))
		var rows []string
		for _, c := range drawnSeries(r) {
			rows = append(rows, string(appendCSVRow(nil, &c, 2, 4))+"\n")
		}
		into := func(parts ...[]string) (hash, text string, gaps []Gap) {
			store := quickStore(t)
			for _, part := range parts {
				_, err := store.ImportCSV(strings.NewReader(strings.Join(part, "")), o)
				require.NoError(t, err)
			}
			hash, err := store.DataHash("BTC-EUR", market.Interval1m, 0, 0)
			require.NoError(t, err)
			var out strings.Builder
			_, err = store.ExportCSV(&out, "BTC-EUR", market.Interval1m, 0, 0)
			require.NoError(t, err)
			gaps, err = store.Gaps("BTC-EUR", market.Interval1m, 0, 0)
			require.NoError(t, err)
			return hash, out.String(), gaps
		}
		hash, text, gaps := into(rows)
		var parts [][]string
		for begin := 0; begin < len(rows); {
			end := min(len(rows), begin+1+r.IntN(len(rows)))
			part := slices.Clone(rows[max(0, begin-r.IntN(20)):end])
			part = append(part, part[r.IntN(len(part))])
			r.Shuffle(len(part), func(i, j int) { part[i], part[j] = part[j], part[i] })
			parts, begin = append(parts, append(part, rows[:min(2, len(rows))]...)), end
		}
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		for _, again := range [][][]string{parts, {{text}}} {
			otherHash, otherText, otherGaps := into(again...)
			require.Equal(t, text, otherText, "seed %d", seed)
			require.Equal(t, hash, otherHash, "seed %d", seed)
			require.Equal(t, gaps, otherGaps, "seed %d", seed)
		}
	}
}

// M20: candles made of candles that were made of shorter ones are those made at once, and those
// folded by hand. The import claims that the rows are complete: without the claim a store makes no
// longer candle of the first or last rows, because some of its shorter candles may be missing.
func TestCandlesOfCandlesAreThoseMadeAtOnce(t *testing.T) {
	for seed := range *worlds {
		list := drawnSeries(rand.New(rand.NewPCG(seed, 2)))
		first, last := market.Interval1h.Floor(list[0].Start), market.Interval1h.Floor(list[len(list)-1].Start)
		last = market.Interval1h.End(last)
		made := func(path ...market.Interval) string {
			store := quickStore(t)
			_, err := store.Put(WriteOptions{Market: "BTC-EUR", Interval: path[0]}, list, 2, 4, []Range{{first, last}})
			require.NoError(t, err)
			for i := range path[1:] {
				_, err := store.Resample(ResampleOptions{Market: "BTC-EUR", From: path[i], To: path[i+1]})
				require.NoError(t, err)
			}
			var out strings.Builder
			_, err = store.ExportCSV(&out, "BTC-EUR", path[len(path)-1], 0, 0)
			require.NoError(t, err)
			return out.String()
		}
		at := made(market.Interval1m, market.Interval1h)
		require.Equal(t, at, made(market.Interval1m, market.Interval5m, market.Interval15m, market.Interval1h))
		require.Equal(t, at, made(market.Interval1m, market.Interval30m, market.Interval1h))
		var byHand strings.Builder
		byHand.WriteString("timestamp_ms,open,high,low,close,volume\n")
		for ; first < last; first = market.Interval1h.End(first) {
			var sum market.Candle
			for _, c := range list {
				if c.Start < first || c.Start >= market.Interval1h.End(first) {
					continue
				}
				if sum.Open == 0 {
					sum, sum.Start, sum.Volume = c, first, 0
				}
				sum.High, sum.Low, sum.Close = max(sum.High, c.High), min(sum.Low, c.Low), c.Close
				sum.Volume += c.Volume
			}
			if sum.Open != 0 {
				byHand.Write(append(appendCSVRow(nil, &sum, 2, 4), '\n'))
			}
		}
		require.Equal(t, byHand.String(), at, "seed %d", seed)
	}
}
