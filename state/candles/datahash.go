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
	candles, whole, err := partOf(h, value, span)
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

// partOf returns the candles of a chunk that start in span. whole: all do, and they are not
// decoded.
func partOf(h *chunkHeader, value []byte, span Range) (candles []market.Candle, whole bool, err error) {
	all := Range{h.interval.StartOf(h.firstIndex()), h.interval.StartOf(h.lastIndex() + 1)}
	if cutRange(all, span) == all {
		return nil, true, nil
	}
	candles, err = decodeChunk(nil, h.interval, h.number, value, h.priceDigits, h.volumeDigits)
	for len(candles) > 0 && span.From != 0 && candles[0].Start < span.From {
		candles = candles[1:]
	}
	for len(candles) > 0 && span.To != 0 && candles[len(candles)-1].Start >= span.To {
		candles = candles[:len(candles)-1]
	}
	return candles, false, err
}
