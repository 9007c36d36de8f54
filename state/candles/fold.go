package candles

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// Batches yields candles in batches, oldest first, io.EOF at the end. A batch is valid until the
// next call.
type Batches interface {
	Next() ([]market.Candle, error)
}

// Folds calls each with every candle of wholes, and with what the candles of parts that start in
// its time make of it; nil: there are none. Volumes are not folded. Neither is kept.
func Folds(parts, wholes Batches, each func(whole, fold *market.Candle) error) error {
	finer, longer := walker{source: parts}, walker{source: wholes}
	for {
		whole, err := longer.next()
		if whole == nil {
			return err
		}
		fold, err := finer.fold(whole.Start, whole.End())
		if err == nil {
			err = each(whole, fold)
		}
		if err != nil {
			return err
		}
	}
}

// SamePrices reports whether two candles have the same four prices.
func SamePrices(a, b *market.Candle) bool {
	return a.Open == b.Open && a.High == b.High && a.Low == b.Low && a.Close == b.Close
}

// walker reads the candles of a source one by one.
type walker struct {
	source Batches
	batch  []market.Candle
	folded market.Candle
}

// peek is the next candle; nil: there is none, or the error.
func (w *walker) peek() (*market.Candle, error) {
	for len(w.batch) == 0 {
		batch, err := w.source.Next()
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		w.batch = batch
	}
	return &w.batch[0], nil
}

// next is peek, and moves on.
func (w *walker) next() (*market.Candle, error) {
	c, err := w.peek()
	if c != nil {
		w.batch = w.batch[1:]
	}
	return c, err
}

// fold makes one candle of those that start in [from, to); nil: there are none. It drops those
// before.
func (w *walker) fold(from, to market.Time) (fold *market.Candle, err error) {
	for {
		c, err := w.peek()
		if c == nil || c.Start >= to {
			return fold, err
		}
		switch w.batch = w.batch[1:]; {
		case c.Start < from:
		case fold == nil:
			w.folded = *c
			fold = &w.folded
		default:
			fold.High, fold.Low, fold.Close = max(fold.High, c.High), min(fold.Low, c.Low), c.Close
		}
	}
}

// Difference is that of two intervals of a market: candles of the longer one that have other prices
// than the finer ones make.
type Difference struct {
	Market        string
	Finer, Longer market.Interval
	Candles, Of   int64         // how many, of those that lie whole in the finer series
	First, Fold   market.Candle // the first one, and what the finer ones make of it
	digits        uint8
}

// String names the first difference.
func (d *Difference) String() string {
	text := func(c *market.Candle) string {
		list := ""
		for i, p := range [...]market.Price{c.Open, c.High, c.Low, c.Close} {
			list += [...]string{"open ", ", high ", ", low ", ", close "}[i] + market.FormatFixed(int64(p), d.digits)
		}
		return list
	}
	return fmt.Sprintf("%s: %d of %d %s candles have other prices than their %s candles; the first, of %s, has %s, "+
		"and they make %s", d.Market, d.Candles, d.Of, d.Longer, d.Finer, d.First.Start, text(&d.First), text(&d.Fold))
}

// Differences compares each series with the longest shorter one of its market that divides it.
// Candles at the ends of the shorter series, and in its holes, are not compared.
func (s *Store) Differences() (found []Difference, err error) {
	list, err := s.List()
	if err != nil {
		return nil, err
	}
	for i := range list { // by market, then from the shortest interval
		longer := &list[i]
		for k := range slices.Backward(list[:i]) {
			finer := &list[k]
			if finer.Market != longer.Market {
				break
			}
			if !finer.Interval.Divides(longer.Interval) {
				continue
			}
			d, err := s.difference(finer, longer)
			if err != nil {
				return nil, err
			}
			if d.Candles > 0 {
				found = append(found, d)
			}
			break
		}
	}
	return found, nil
}

func (s *Store) difference(finer, longer *Series) (d Difference, err error) {
	d = Difference{Market: longer.Market, Finer: finer.Interval, Longer: longer.Interval, digits: longer.PriceDigits}
	m := &market.Market{Name: d.Market, PriceDigits: longer.PriceDigits, VolumeDigits: longer.VolumeDigits}
	var readers [2]*Reader
	for i, interval := range [...]market.Interval{d.Finer, d.Longer} {
		if readers[i], err = s.Read(ReadOptions{Market: m, Interval: interval}); err != nil {
			return d, err
		}
		defer readers[i].Close()
	}
	return d, Folds(readers[0], readers[1], func(whole, fold *market.Candle) error {
		if fold == nil || whole.Start < finer.First || whole.End() > finer.End() {
			return nil
		}
		if d.Of++; SamePrices(whole, fold) {
			return nil
		}
		if d.Candles++; d.Candles == 1 {
			d.First, d.Fold = *whole, *fold
		}
		return nil
	})
}
