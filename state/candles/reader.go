package candles

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// ReadOptions select the candles of a Reader.
type ReadOptions struct {
	// Market gives the name of the series, the ID of every candle, and the decimals of prices and
	// volumes. More decimals than stored are exact; fewer are an error at the first candle that
	// would lose a digit.
	Market   *market.Market
	Interval market.Interval
	From, To market.Time // candles that start in [From, To); zero means no bound
}

// batchRows is the most candles of one Next: large enough that a backtest does little else but step
// them, small enough to stay in the processor's first cache.
const batchRows = 2 * blockRows

// Reader reads one series in order of time. It holds a read transaction until Close.
type Reader struct {
	store    *Store
	options  ReadOptions
	tx       *bbolt.Tx
	cursor   *bolt.Cursor
	key      []byte // of the next chunk
	value    []byte
	consumed []byte // the current chunk
	pages    bolt.Releaser
	apart    bool // the current chunk has candles outside the range: its own decimals are converted behind the cut
	decoder  chunkDecoder
	batch    [batchRows]market.Candle
	err      error
}

// Read returns a reader of a series. It wraps ErrNoData if the series is not stored; a range
// without candles is no error, and Next returns io.EOF at once.
func (s *Store) Read(options ReadOptions) (r *Reader, err error) {
	if options.Market == nil || options.Interval < market.Interval1m || options.Interval > market.Interval1M {
		return nil, fmt.Errorf("read candles: want a market and an interval")
	}
	tx, err := s.db.Begin(false)
	if err != nil {
		return nil, fmt.Errorf("read candles: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	defer bolt.CatchCorrupt(s.path, &err, debug.SetPanicOnFault(true))
	chunks, err := s.chunks(tx, options.Market.Name, options.Interval, Range{options.From, options.To})
	if err != nil {
		return nil, err
	}
	r = &Reader{store: s, options: options, tx: tx, cursor: bolt.NewCursor(chunks), pages: bolt.NewReleaser(tx)}
	stampCandles(r.batch[:], options.Market.ID, options.Interval)
	r.seek()
	return r, nil
}

func (r *Reader) seek() {
	if r.options.From == 0 {
		r.key, r.value = r.cursor.First()
		return
	}
	number, _ := chunkOf(r.options.Interval.Index(r.options.From))
	r.key, r.value = r.cursor.Seek(chunkKey(number))
}

// Next returns the next candles, 1 to 256, sorted by start. They are valid until the next call and
// must not be changed. At the end it returns io.EOF. An error wraps ErrCorrupt and names the chunk,
// or wraps market.ErrInexact if the market of the options has too few decimals. Every later call
// returns the same error.
func (r *Reader) Next() ([]market.Candle, error) {
	for r.err == nil {
		if r.decoder.left == 0 {
			r.err = r.nextChunk()
			continue
		}
		candles := r.trim(r.decode())
		if r.apart {
			candles = r.convert(candles)
		}
		if len(candles) > 0 {
			return candles, nil
		}
	}
	return nil, r.err
}

// decode decodes the next blocks of the chunk into batch. An error ends the blocks and stays in
// r.err.
func (r *Reader) decode() []market.Candle {
	n := 0
	for n+blockRows <= batchRows && r.decoder.left > 0 {
		rows, err := r.decoder.next(r.batch[n:])
		if err != nil {
			r.err = r.chunkError(r.decoder.head.number, err)
			break
		}
		n += rows
	}
	return r.batch[:n]
}

// trim cuts a batch to the range of the options.
func (r *Reader) trim(candles []market.Candle) []market.Candle {
	for len(candles) > 0 && r.options.From != 0 && candles[0].Start < r.options.From {
		candles = candles[1:]
	}
	for len(candles) > 0 && r.options.To != 0 && candles[len(candles)-1].Start >= r.options.To {
		candles = candles[:len(candles)-1]
		r.decoder.left, r.key, r.err = 0, nil, nil // nothing later can be in range
	}
	return candles
}

// convert gives candles of the chunk the market's decimals. It ends them, with an error, before the
// first one that would lose a digit or is too large.
func (r *Reader) convert(candles []market.Candle) []market.Candle {
	m, h := r.options.Market, &r.decoder.head
	if h.priceDigits == m.PriceDigits && h.volumeDigits == m.VolumeDigits {
		return candles
	}
	for i := range candles {
		if err := rescaleCandle(&candles[i], h, m); err != nil {
			r.err = r.chunkError(h.number, fmt.Errorf("candle %s has more than %d price or %d volume decimals, or "+
				"does not fit into them: %w", candles[i].Start, m.PriceDigits, m.VolumeDigits, err))
			return candles[:i]
		}
	}
	return candles
}

// rescaleCandle converts a candle from the decimals of its chunk to those of a market.
func rescaleCandle(c *market.Candle, h *chunkHeader, m *market.Market) error {
	for _, price := range [...]*market.Price{&c.Open, &c.High, &c.Low, &c.Close} {
		n, err := market.Rescale(int64(*price), h.priceDigits, m.PriceDigits)
		if err != nil {
			return err
		}
		*price = market.Price(n)
	}
	n, err := market.Rescale(int64(c.Volume), h.volumeDigits, m.VolumeDigits)
	c.Volume = market.Volume(n)
	return err
}

// nextChunk opens the next chunk, or returns io.EOF.
func (r *Reader) nextChunk() (err error) {
	defer bolt.CatchCorrupt(r.store.path, &err, debug.SetPanicOnFault(true))
	r.pages.Consumed(r.consumed)
	r.consumed = nil
	if r.key == nil {
		return io.EOF
	}
	number, err := chunkNumber(r.key)
	if err != nil {
		return r.store.seriesError(r.options.Market.Name, r.options.Interval, err)
	}
	if r.options.To != 0 && number > r.options.Interval.Index(r.options.To)>>chunkShift {
		return io.EOF
	}
	m := r.options.Market
	price, volume := m.PriceDigits, m.VolumeDigits
	if r.apart = r.cuts(number); r.apart {
		h, err := readChunkHead(r.options.Interval, number, r.value)
		if err != nil {
			return r.chunkError(number, err)
		}
		price, volume = h.priceDigits, h.volumeDigits
	}
	if err := r.decoder.open(r.options.Interval, number, r.value, price, volume); err != nil {
		return r.chunkError(number, err)
	}
	r.consumed = r.value
	r.key, r.value = r.cursor.Next()
	return nil
}

// cuts reports whether the range of the options begins or ends inside a chunk.
func (r *Reader) cuts(number int64) bool {
	all := chunkRange(r.options.Interval, number)
	return cutRange(all, Range{r.options.From, r.options.To}) != all
}

func (r *Reader) chunkError(number int64, err error) error {
	return r.store.seriesError(r.options.Market.Name, r.options.Interval, chunkError(r.options.Interval, number, err))
}

func chunkError(interval market.Interval, number int64, err error) error {
	span := chunkRange(interval, number)
	return fmt.Errorf("chunk %d (%s to %s): %w", number, span.From, span.To, err)
}

// Close ends the transaction. It may be called more than once; Next returns an error afterwards.
func (r *Reader) Close() error {
	if r.tx == nil {
		return nil
	}
	r.pages.Consumed(r.consumed)
	r.pages.Flush()
	tx := r.tx
	r.tx, r.consumed, r.key, r.value = nil, nil, nil, nil
	r.decoder.left, r.err = 0, fmt.Errorf("read candles: %w", io.ErrClosedPipe)
	return tx.Rollback()
}
