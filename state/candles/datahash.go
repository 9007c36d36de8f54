package candles

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
)

// DataHash returns a SHA-256, in hex, of the candles that start in [from, to), zero being no bound:
// market, interval and values. Other stored data, the order of arrival and the market's decimals do
// not change it. It hashes the stored hashes of the chunks, and reads candles only in the two
// chunks at the ends of the range.
func (s *Store) DataHash(name string, interval market.Interval, from, to market.Time) (text string, err error) {
	hash := sha256.New()
	fmt.Fprintf(hash, "tidemark candles %d\n%s\n%s\n", chunkVersion, name, interval)
	err = s.db.View(func(tx *bbolt.Tx) error {
		chunks, err := s.chunks(tx, name, interval, Range{from, to})
		if err != nil {
			return err
		}
		err = walkChunks(chunks, interval, Range{from, to}, func(h *chunkHeader, value []byte) error {
			part, err := hashPart(h, value, Range{from, to})
			hash.Write(part)
			return err
		})
		if err != nil {
			return s.seriesError(name, interval, err)
		}
		return nil
	})
	return hex.EncodeToString(hash.Sum(nil)), err
}

// hashPart returns the number and hash of the part of a chunk within span, nothing if it has no
// candle there. A part is packed and hashed as a chunk of its own.
func hashPart(h *chunkHeader, value []byte, span Range) ([]byte, error) {
	var candles []market.Candle
	whole, err := partOf(h, value, span, func(part []market.Candle) { candles = append(candles, part...) })
	switch {
	case err != nil:
		return nil, err
	case whole:
		return append(chunkKey(h.number), h.hash[:]...), nil
	case len(candles) == 0:
		return nil, nil
	}
	var p chunkPacker
	packed := p.pack(candles, h.interval, h.priceDigits, h.volumeDigits)
	return append(chunkKey(h.number), packed[32:48]...), nil
}

// partOf calls visit with the candles of a chunk that start in span, some at a time; they are valid
// until visit returns. whole: all do, and visit was not called.
func partOf(h *chunkHeader, value []byte, span Range, visit func(candles []market.Candle)) (whole bool, err error) {
	all := Range{h.interval.StartOf(h.firstIndex()), h.interval.StartOf(h.lastIndex() + 1)}
	if cutRange(all, span) == all {
		return true, nil
	}
	trimmed := func(block []market.Candle) bool {
		last := block[len(block)-1].Start
		for len(block) > 0 && span.From != 0 && block[0].Start < span.From {
			block = block[1:]
		}
		for len(block) > 0 && span.To != 0 && block[len(block)-1].Start >= span.To {
			block = block[:len(block)-1]
		}
		if len(block) > 0 {
			visit(block)
		}
		return span.To == 0 || last < span.To
	}
	return false, blocksOf(h.interval, h.number, value, h.priceDigits, h.volumeDigits, trimmed)
}
