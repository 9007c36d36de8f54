// Package clutter adds rows to a candle store of a test that must not matter to its runs. It owns
// no test and knows no run. Start at Add.
package clutter

import (
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// Add adds wild prices with many decimals: before and behind [from, to) of a series, in the months
// of its market, and in another market. away is how many candles lie before from: more than the
// longest warm-up. A zero from or to is no bound: there are no rows before it, or behind it.
func Add(store *candles.Store, name string, interval market.Interval, from, to market.Time, away int64) error {
	const count = 500
	type series struct {
		market       string
		interval     market.Interval
		first, count int64
	}
	rows := []series{
		{name, market.Interval1M, market.Interval1M.Index(from), 40},
		{"ZZZ-EUR", interval, interval.Index(from), 3 * count},
	}
	if from != 0 {
		rows = append(rows, series{name, interval, interval.Index(from) - away - count, count})
	}
	if to != 0 {
		rows = append(rows, series{name, interval, interval.Index(to), count})
	}
	for _, r := range rows {
		options := candles.WriteOptions{Market: r.market, Interval: r.interval}
		if _, err := store.Put(options, wild(r.interval, r.first, r.count), 7, 7, nil); err != nil {
			return err
		}
	}
	return nil
}

// wild are candles from an interval on, with prices like 0.1234567.
func wild(interval market.Interval, first, count int64) (rows []market.Candle) {
	for i := range count {
		price := market.Price(1_234_567 + i*97_531*i%7_654_321)
		rows = append(rows, market.Candle{Start: interval.StartOf(first + i), Interval: interval, Open: price,
			High: 97 * price, Low: price / 3, Close: 2 * price, Volume: market.Volume(1 + i)})
	}
	return rows
}
