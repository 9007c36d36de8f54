package plan

import (
	"errors"
	"io"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/universe"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// volumeSum sums the volume of candles by UTC day.
type volumeSum struct {
	first   int64
	digits  uint8          // of price and volume together
	volumes []market.Value // by day from first on, universe.Digits decimals
}

// add adds all candles of a source, oldest first.
func (v *volumeSum) add(source backtest.Source) error {
	for {
		batch, err := source.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for i := range batch {
			if err := v.candle(&batch[i]); err != nil {
				return err
			}
		}
	}
}

func (v *volumeSum) candle(c *market.Candle) error {
	at := candles.DayOf(c.Start) - v.first
	for int64(len(v.volumes)) <= at {
		v.volumes = append(v.volumes, market.Value{})
	}
	value, err := market.Product(int64(c.Close), int64(c.Volume), 0)
	if err == nil && v.digits < universe.Digits {
		value, err = value.ScaleUp(universe.Digits - v.digits)
	}
	for drop := v.digits; drop > universe.Digits && err == nil; {
		step := min(drop-universe.Digits, market.MaxDigits)
		value, drop = value.QuoInt(market.Pow10(step)), drop-step
	}
	if err != nil {
		return err
	}
	v.volumes[at], err = v.volumes[at].Add(value)
	return err
}
