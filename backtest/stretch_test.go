package backtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// batches is a source of batches. Next overwrites the batch before.
type batches struct{ rest, before []market.Candle }

func (b *batches) Next() ([]market.Candle, error) {
	overwrite(b.before)
	if len(b.rest) == 0 {
		return nil, io.EOF
	}
	n := min(len(b.rest), 1+int(b.rest[0].Volume)) // its volume says how long a batch is
	b.before, b.rest = slices.Clone(b.rest[:n]), b.rest[n:]
	return b.before, nil
}

func (b *batches) Close() error { return nil }

// TestStretchesGiveTheGroupsThatTheMergerGives runs random series both ways, with pauses.
func TestStretchesGiveTheGroupsThatTheMergerGives(t *testing.T) {
	stretches := 0
	rapid.Check(t, func(r *rapid.T) {
		p := unevenPlan(t, r)
		step := minute * market.Time(rapid.Int64Range(0, 100).Draw(r, "minutes between pauses"))
		want, _ := groupsOf(t, p, step, true)
		have, even := groupsOf(t, p, step, false)
		require.Equal(t, want, have)
		if even {
			stretches++
		}
	})
	require.NotZero(t, stretches)
}

const minute = market.Time(60e9)

// unevenPlan has markets with gaps in their candles. Some have a candle that does not fit between
// the closes of the others.
func unevenPlan(t *testing.T, r *rapid.T) *Plan {
	var catalog market.Catalog
	eur, err := catalog.AddAsset("EUR", 2)
	require.NoError(t, err)
	p := &Plan{Catalog: &catalog, Currency: eur, Deposits: []Deposit{{Asset: eur.ID, Money: 1000}}, ColdStart: true,
		From: market.Time(rapid.Int64Range(0, 20).Draw(r, "from")) * minute}
	series := [][]market.Candle{nil}
	for i := range rapid.IntRange(2, 7).Draw(r, "feeds") {
		_, err := catalog.AddAsset(fmt.Sprint("A", i), 2)
		require.NoError(t, err)
		m := &market.Market{Name: fmt.Sprintf("A%d-EUR", i)}
		require.NoError(t, catalog.AddMarket(m))
		p.Feeds = append(p.Feeds, Feed{Market: m, Interval: market.Interval1m, Drive: true, Deliver: true})
		gap := rapid.Int64Range(0, 3).Draw(r, "longest gap")
		at := rapid.Int64Range(0, 300).Draw(r, "begin")
		var own []market.Candle
		for range rapid.IntRange(0, 400).Draw(r, "candles") {
			own = append(own, market.Candle{Market: m.ID, Interval: market.Interval1m, Start: market.Time(at) * minute,
				Open: 1, High: 1, Low: 1, Close: 1, Volume: market.Volume(at * 7919 % 90)})
			at += 1 + at*7919%(gap+1)
		}
		if len(own) > 0 && rapid.IntRange(0, 9).Draw(r, "misfit") == 0 {
			own[len(own)/2].Start += minute / 2
		}
		series = append(series, own)
	}
	p.Open = func(f Feed, from, _ market.Time) (Source, error) {
		own := series[f.Market.ID]
		return &batches{rest: slices.DeleteFunc(slices.Clone(own),
				func(c market.Candle) bool { return c.Start < from })},
			nil
	}
	return p
}

// groupsOf runs a plan and writes down its candles, its pauses with the feeds as they then stand,
// and the number of candles. even: the feeds stayed even to the end.
func groupsOf(t *testing.T, p *Plan, step market.Time, merged bool) (seen []string, even bool) {
	p.Strategies = []StrategyPlan{{Name: "n", Interval: market.Interval1m, Markets: p.Catalog.Markets(),
		Kind: strategy.Define("noter", "", func(struct{}) strategy.Needs { return strategy.Needs{} },
			func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &noter{seen: &seen}, nil })}}
	d, err := drive(context.Background(), p, runOptions{began: func(d *driver) {
		d.even = d.even && !merged
		if step > 0 {
			d.pauseAt = step
		}
		d.pause = func(end market.Time) error {
			for d.pauseAt < end {
				d.pauseAt += step
			}
			for i := range d.feeds {
				f := &d.feeds[i]
				seen = append(seen, fmt.Sprint("pause at ", end, ": ", f.end, len(f.batch)-f.at))
			}
			return nil
		}
	}})
	if errors.Is(err, ErrNoCandles) {
		return seen, false
	}
	require.NoError(t, err)
	for i := range d.feeds {
		seen = append(seen, fmt.Sprint("count ", d.feeds[i].count))
	}
	return seen, d.even
}
