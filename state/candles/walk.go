package candles

import (
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// walkChunks calls visit for every chunk of a series that may hold candles of span (a zero bound is
// none), in order, with its head read and checked. An error names the chunk.
func walkChunks(chunks *bbolt.Bucket, interval market.Interval, span Range,
	visit func(h *chunkHeader, value []byte) error) error {
	pages := bolt.NewReleaser(chunks.Tx())
	defer pages.Flush()
	cursor := bolt.NewCursor(chunks)
	key, value := cursor.First()
	if span.From != 0 {
		first, _ := chunkOf(interval.Index(span.From))
		key, value = cursor.Seek(chunkKey(first))
	}
	for ; key != nil; key, value = cursor.Next() {
		number, err := chunkNumber(key)
		if err != nil {
			return err
		}
		if span.To != 0 && number > interval.Index(span.To)>>chunkShift {
			return nil
		}
		h, err := readChunkHead(interval, number, value)
		if err == nil {
			err = visit(&h, value)
		}
		if err != nil {
			return chunkError(interval, number, err)
		}
		if !chunks.Writable() { // a writer's values may lie in its own memory
			pages.Consumed(value)
		}
	}
	return nil
}

// spanOf returns the start of the first candle of a series and the end of the last one.
func spanOf(chunks *bbolt.Bucket, interval market.Interval) (Range, error) {
	cursor := bolt.NewCursor(chunks)
	var indexes [2]int64
	for i, move := range [...]func() (key, value []byte){cursor.First, cursor.Last} {
		key, value := move()
		if key == nil {
			return Range{}, fmt.Errorf("%w: it has no chunk", bolt.ErrCorrupt)
		}
		number, err := chunkNumber(key)
		if err != nil {
			return Range{}, err
		}
		h, err := readChunkHead(interval, number, value)
		if err != nil {
			return Range{}, chunkError(interval, number, err)
		}
		indexes[i] = [...]int64{h.firstIndex(), h.lastIndex() + 1}[i]
	}
	return Range{interval.StartOf(indexes[0]), interval.StartOf(indexes[1])}, nil
}

// walkSeries calls visit for every run of consecutive candles, cut at chunks and to span. It does
// not decode chunks without gaps. count, unless nil, gets the head and size of every chunk.
func walkSeries(chunks *bbolt.Bucket, interval market.Interval, span Range, visit func(Range) error,
	count func(h *chunkHeader, bytes int)) error {
	return walkChunks(chunks, interval, span, func(h *chunkHeader, value []byte) error {
		if count != nil {
			count(h, len(value))
		}
		within := func(r Range) error {
			if r = cutRange(r, span); r.From >= r.To {
				return nil
			}
			return visit(r)
		}
		if h.dense() {
			return within(Range{interval.StartOf(h.firstIndex()), interval.StartOf(h.lastIndex() + 1)})
		}
		candles, err := decodeChunk(nil, interval, h.number, value, h.priceDigits, h.volumeDigits)
		if err != nil {
			return err
		}
		return walkRuns(candles, within)
	})
}

func cutRange(r, span Range) Range {
	if span.From != 0 {
		r.From = max(r.From, span.From)
	}
	if span.To != 0 {
		r.To = min(r.To, span.To)
	}
	return r
}

func walkRuns(candles []market.Candle, visit func(Range) error) error {
	for at := 0; at < len(candles); {
		run := Range{candles[at].Start, candles[at].End()}
		for at++; at < len(candles) && candles[at].Start == run.To; at++ {
			run.To = candles[at].End()
		}
		if err := visit(run); err != nil {
			return err
		}
	}
	return nil
}

// decodeChunk appends all candles of a chunk to dst, with the given decimals.
func decodeChunk(dst []market.Candle, interval market.Interval, number int64, value []byte, priceDigits,
	volumeDigits uint8) ([]market.Candle, error) {
	err := blocksOf(interval, number, value, priceDigits, volumeDigits, func(block []market.Candle) bool {
		dst = append(dst, block...)
		return true
	})
	return dst, err
}

// blocksOf calls visit with the candles of a chunk, some at a time, until it returns false; they
// are valid until visit returns.
func blocksOf(interval market.Interval, number int64, value []byte, priceDigits, volumeDigits uint8,
	visit func(block []market.Candle) bool) error {
	var d chunkDecoder
	if err := d.open(interval, number, value, priceDigits, volumeDigits); err != nil {
		return err
	}
	var block [blockRows]market.Candle
	stampCandles(block[:], 0, interval)
	for d.left > 0 {
		n, err := d.next(block[:])
		if err != nil {
			return err
		}
		if n > 0 && !visit(block[:n]) {
			return nil
		}
	}
	return nil
}
