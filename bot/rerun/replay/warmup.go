package replay

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// warmupPrefix begins the names of the journal's cursors that have the hash of a warm-up.
const warmupPrefix = "warm-up "

// WarmupName is the name of the journal's cursor with the hash of a series of a warm-up.
func WarmupName(m *market.Market, interval market.Interval) string {
	return warmupPrefix + m.Name + " " + interval.String()
}

// WarmupSums are the values of the cursors that name the candles of a warm-up, by WarmupName: the
// start of the first candle, how many there are, and their hash.
func WarmupSums(catalog *market.Catalog, history []market.Candle) map[string][]byte {
	candles := map[string][]byte{}
	starts, counts := map[string]market.Time{}, map[string]uint64{}
	for i := range history {
		c := &history[i]
		name := WarmupName(catalog.Market(c.Market), c.Interval)
		if counts[name]++; counts[name] == 1 {
			starts[name] = c.Start
		}
		candles[name] = appendCandle(candles[name], c)
	}
	sums := map[string][]byte{}
	for name, text := range candles {
		sum := sha256.Sum256(text)
		value := binary.BigEndian.AppendUint64(nil, uint64(starts[name]))
		sums[name] = append(binary.BigEndian.AppendUint64(value, counts[name]), sum[:]...)
	}
	return sums
}

// appendCandle appends a candle in the form that is hashed.
func appendCandle(dst []byte, c *market.Candle) []byte {
	for _, n := range [...]int64{int64(c.Start), int64(c.Open), int64(c.High), int64(c.Low), int64(c.Close),
		int64(c.Volume)} {
		dst = binary.BigEndian.AppendUint64(dst, uint64(n))
	}
	return dst
}

// checkWarmup compares the hashes of the recorded warm-up with those that the first commit of a run
// has in the journal.
func (p *player) checkWarmup(then map[string][]byte) *Difference {
	now := p.warmups
	p.warmups = nil
	if now == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(then)) {
		if !bytes.Equal(then[name], now[name]) {
			return &Difference{Record: p.opened, Event: "the candles of the " + name, Then: sumText(then[name]),
				Now: sumText(now[name]), Fields: []string{"the recorded candles are not those of the journal"}}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if then[name] == nil {
			return &Difference{Record: p.opened, Event: "the candles of the " + name, Now: sumText(now[name])}
		}
	}
	return nil
}

// sumText is a value of WarmupSums for a person.
func sumText(sum []byte) string {
	if len(sum) < 24 {
		return ""
	}
	return fmt.Sprintf("%d candles from %s, hash %x", binary.BigEndian.Uint64(sum[8:]),
		market.Time(binary.BigEndian.Uint64(sum)), sum[16:24])
}
