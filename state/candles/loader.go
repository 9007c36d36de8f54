package candles

import (
	"fmt"
	"math/bits"

	"github.com/tidemark-trading/tidemark/market"
)

// maxLate is the number of late candles, those for a chunk that is closed, that wait before they
// are merged together.
const maxLate = 1 << 18

// loader collects candles in any order and packs them by chunk. One chunk is open; a candle of a
// closed chunk waits in the late list. Packed chunks go to the spool, so memory does not grow with
// the candles. Close it.
type loader struct {
	interval                  market.Interval
	priceDigits, volumeDigits uint8 // of the candles inside; raise increases them
	maxPrice                  market.Price
	maxVolume                 market.Volume

	current  *openChunk
	spool    spool
	late     lateList
	packer   chunkPacker
	conflict func(c *market.Candle, line int64) // called for a candle that an earlier one contradicts

	duplicates int64
}

// newLoader returns a loader for candles of the store.
func (s *Store) newLoader(interval market.Interval, conflict func(c *market.Candle, line int64)) *loader {
	return &loader{interval: interval, conflict: conflict,
		spool: spool{interval: interval, path: s.path, limit: s.maxSpool, chunks: map[int64]*loadedChunk{}}}
}

// close gives back what the packed chunks take.
func (l *loader) close() error { return l.spool.close() }

// raise gives the candles inside more decimals. If one would not fit, it wraps market.ErrOverflow
// and changes nothing.
func (l *loader) raise(priceDigits, volumeDigits uint8) error {
	price, err := market.Rescale(int64(l.maxPrice), l.priceDigits, priceDigits)
	if err != nil {
		return err
	}
	volume, err := market.Rescale(int64(l.maxVolume), l.volumeDigits, volumeDigits)
	if err != nil {
		return err
	}
	byPrice, byVolume := market.Pow10(priceDigits-l.priceDigits), market.Pow10(volumeDigits-l.volumeDigits)
	if l.current != nil {
		candles := l.current.candles()
		for i := range candles {
			scaleCandle(&candles[i], byPrice, byVolume)
		}
		l.current.set(candles)
	}
	l.maxPrice, l.maxVolume = market.Price(price), market.Volume(volume)
	l.priceDigits, l.volumeDigits = priceDigits, volumeDigits
	return nil
}

func scaleCandle(c *market.Candle, price, volume int64) {
	c.Open *= market.Price(price)
	c.High *= market.Price(price)
	c.Low *= market.Price(price)
	c.Close *= market.Price(price)
	c.Volume *= market.Volume(volume)
}

// add takes a valid candle with the loader's decimals; index is that of its start, and line names
// the candle in a conflict.
func (l *loader) add(c *market.Candle, index, line int64) error {
	number, offset := chunkOf(index)
	l.maxPrice, l.maxVolume = max(l.maxPrice, c.High), max(l.maxVolume, c.Volume)
	if l.current == nil || l.current.number != number {
		if chunk := l.spool.chunks[number]; chunk != nil {
			return l.addLate(chunk, c, line)
		}
		if err := l.open(number); err != nil {
			return err
		}
	}
	l.insert(l.current, c, offset, line)
	return nil
}

func (l *loader) insert(chunk *openChunk, c *market.Candle, offset int, line int64) {
	if !chunk.has(offset) {
		chunk.put(c, offset)
		return
	}
	if chunk.rows[offset] == *c {
		l.duplicates++
		return
	}
	l.conflict(c, line)
}

func (l *loader) addLate(chunk *loadedChunk, c *market.Candle, line int64) error {
	_, offset := chunkOf(l.interval.Index(c.Start))
	l.late.add(&chunk.late, &lateCandle{candle: *c, line: line, priceDigits: l.priceDigits,
		volumeDigits: l.volumeDigits}, offset)
	if l.late.count < maxLate {
		return nil
	}
	if !l.spool.spilled() { // the load is large, and the late candles need the memory
		if err := l.spool.spill(); err != nil {
			return err
		}
	}
	return l.mergeLate()
}

// open closes the current chunk and begins another.
func (l *loader) open(number int64) error {
	if err := l.closeCurrent(); err != nil {
		return err
	}
	if l.current == nil {
		l.current = &openChunk{}
	}
	l.current.reset(number)
	return nil
}

func (l *loader) closeCurrent() error {
	if l.current == nil || l.current.count == 0 {
		return nil
	}
	err := l.put(l.current)
	l.current.reset(l.current.number)
	return err
}

func (l *loader) put(chunk *openChunk) error {
	return l.spool.put(chunk.number, l.packer.pack(chunk.candles(), l.interval, l.priceDigits, l.volumeDigits))
}

// mergeLate packs late candles into their chunks.
func (l *loader) mergeLate() error {
	merged, late := &openChunk{}, lateCandle{candle: market.Candle{Interval: l.interval}}
	for _, number := range sortedKeys(l.spool.chunks) {
		chunk := l.spool.chunks[number]
		if chunk.late.first == 0 {
			continue
		}
		packed, err := l.spool.packed(chunk)
		if err != nil {
			return err
		}
		if err := merged.load(l.interval, number, packed, l.priceDigits, l.volumeDigits); err != nil {
			return err
		}
		for at := chunk.late.first; at != 0; {
			offset := 0
			offset, at = l.late.read(at, &late)
			late.candle.Start = l.interval.StartOf(number<<chunkShift + int64(offset))
			scaleCandle(&late.candle, market.Pow10(l.priceDigits-late.priceDigits),
				market.Pow10(l.volumeDigits-late.volumeDigits))
			l.insert(merged, &late.candle, offset, late.line)
		}
		chunk.late = lateQueue{}
		if err := l.put(merged); err != nil {
			return err
		}
	}
	l.late.clear()
	return nil
}

// finish packs the open chunk and the late candles.
func (l *loader) finish() error {
	if err := l.closeCurrent(); err != nil {
		return err
	}
	l.current = nil
	err := l.mergeLate()
	l.late = lateList{}
	return err
}

// openChunk is a chunk with each candle at its offset.
type openChunk struct {
	number  int64
	count   int
	present [chunkSpan / 64]uint64
	rows    [chunkSpan]market.Candle
	sorted  []market.Candle
}

func (o *openChunk) reset(number int64) {
	o.number, o.count = number, 0
	o.present = [chunkSpan / 64]uint64{}
}

func (o *openChunk) has(offset int) bool { return o.present[offset>>6]&(1<<(offset&63)) != 0 }

func (o *openChunk) put(c *market.Candle, offset int) {
	o.rows[offset] = *c
	if !o.has(offset) {
		o.present[offset>>6] |= 1 << (offset & 63)
		o.count++
	}
}

// load replaces the content by that of a packed chunk.
func (o *openChunk) load(interval market.Interval, number int64, packed []byte, priceDigits,
	volumeDigits uint8) (err error) {
	o.reset(number)
	if o.sorted, err = decodeChunk(o.sorted[:0], interval, number, packed, priceDigits, volumeDigits); err != nil {
		return fmt.Errorf("merge candles: %w", chunkError(interval, number, err))
	}
	for i := range o.sorted {
		_, offset := chunkOf(interval.Index(o.sorted[i].Start))
		o.put(&o.sorted[i], offset)
	}
	return nil
}

// candles returns the content in order, valid until the next call.
func (o *openChunk) candles() []market.Candle {
	if o.count == chunkSpan {
		return o.rows[:]
	}
	o.sorted = o.sorted[:0]
	for word, present := range o.present {
		for ; present != 0; present &= present - 1 {
			o.sorted = append(o.sorted, o.rows[word<<6+bits.TrailingZeros64(present)])
		}
	}
	return o.sorted
}

// set writes back the slice that candles returned, with the same starts.
func (o *openChunk) set(candles []market.Candle) {
	if o.count == chunkSpan {
		return
	}
	next := 0
	for word, present := range o.present {
		for ; present != 0; present &= present - 1 {
			o.rows[word<<6+bits.TrailingZeros64(present)] = candles[next]
			next++
		}
	}
}

// span returns the starts of the first and the last candle. Call it after finish.
func (l *loader) span() (first, last market.Time) {
	numbers := sortedKeys(l.spool.chunks)
	head, tail := &l.spool.chunks[numbers[0]].head, &l.spool.chunks[numbers[len(numbers)-1]].head
	return l.interval.StartOf(head.firstIndex()), l.interval.StartOf(tail.lastIndex())
}

// neededDigits returns the most decimals that a loaded chunk needs, and at least these.
func (l *loader) neededDigits(price, volume uint8) (uint8, uint8) {
	for _, chunk := range l.spool.chunks {
		price, volume = max(price, chunk.head.priceDigits), max(volume, chunk.head.volumeDigits)
	}
	return price, volume
}
