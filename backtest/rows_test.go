package backtest

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// A run shows the same with its candles in rows as with its candles one by one: lines and marks at
// their times, log lines at theirs, the equity at each close, and all that its orders lead to.
func TestRowsShowWhatCandlesOneByOneShow(t *testing.T) {
	for seed := range uint64(24) {
		rows, rowsLog := talked(t, seed, false)
		one, oneLog := talked(t, seed, true)
		require.Equal(t, oneLog, rowsLog, "seed %d", seed)
		require.NotEmpty(t, rows["plots.csv"])
		require.NotEmpty(t, rows["equity.csv"])
		for name, text := range one {
			require.Equal(t, text, rows[name], "%s of seed %d", name, seed)
		}
	}
}

// Candles before the range are no part of its count, wherever in a block it begins.
func TestCandlesOfTheRangeAreCounted(t *testing.T) {
	for _, oneByOne := range [...]bool{false, true} {
		p, candles := planOver(t, 3000, 100_000_00, talkers(1), nil)
		p.From, p.OneByOne = candles[1000].Start, oneByOne
		d, err := drive(context.Background(), p, runOptions{})
		require.NoError(t, err)
		require.EqualValues(t, 2000, d.feeds[0].count)
	}
}

// talked runs talkers and returns the files of the run, and its log.
func talked(t *testing.T, seed uint64, oneByOne bool) (files map[string]string, log string) {
	var lines bytes.Buffer
	p, _ := planOver(t, 3000, 100_000_00, talkers(seed), nil)
	if seed%4 == 3 {
		p.Strategies = append(p.Strategies, p.Strategies[0])
		p.Strategies[1].Name, p.Strategies[1].Kind = "other", talkers(seed+100)
	}
	p.Log, p.OneByOne = zerolog.New(&lines), oneByOne
	out := t.TempDir() + "/run"
	_, err := Run(context.Background(), p, Options{Out: out})
	require.NoError(t, err)
	files = map[string]string{}
	entries, err := os.ReadDir(out)
	require.NoError(t, err)
	for _, file := range entries {
		text, err := os.ReadFile(out + "/" + file.Name())
		require.NoError(t, err)
		files[file.Name()] = string(text)
	}
	return files, withoutStacks(lines.String())
}

// withoutStacks cuts the stacks of halts off, which name the loop.
func withoutStacks(log string) string {
	var kept []byte
	for line := range bytes.Lines([]byte(log)) {
		if at := bytes.Index(line, []byte(`"stack":`)); at >= 0 {
			line = append(line[:at:at], '\n')
		}
		kept = append(kept, line...)
	}
	return string(kept)
}

// talker mostly looks on. Now and then it plots, marks, logs, reads its desk, or asks for something
// that a row of candles must not outlast.
type talker struct {
	strategy.Base
	random *rand.Rand
	panics bool
	seen   int
	entry  market.OrderID
}

func talkers(seed uint64) strategy.Definition {
	return strategy.Define("talker", "for a test", func(struct{}) strategy.Needs { return strategy.Needs{} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) {
			return &talker{random: rand.New(rand.NewPCG(seed, 3)), panics: seed%3 == 0}, nil
		})
}

func (s *talker) OnCandle(d *strategy.Desk, c market.Candle) {
	m := d.In(c.Market)
	if s.seen++; s.panics && s.seen == 2500 {
		if s.random.IntN(2) == 0 {
			_, _ = m.Buy(strategy.Money(10_00))
		}
		panic("at last")
	}
	switch s.random.IntN(40) {
	case 0:
		m.Plot("close", float64(c.Close))
	case 1:
		m.Mark("here")
	case 2:
		d.Log().Info().Msg("looks")
	case 3:
		d.Log().Info().Int64("equity", int64(m.Equity())).Int64("last", int64(m.Last())).
			Stringer("now", d.Now()).Msg("reads")
	case 4:
		s.entry, _ = m.Buy(strategy.EquityShare(20*market.Percent),
			strategy.StopAt(c.Close.Below(market.Percent)), strategy.TargetAt(c.Close.Above(market.Percent)))
	case 5:
		s.ask(d, m, &c)
	}
}

// ask asks for what is rarer.
func (s *talker) ask(d *strategy.Desk, m strategy.MarketDesk, c *market.Candle) {
	var err error
	switch s.random.IntN(9) {
	case 0:
		d.Timer(d.Now()+market.Time(s.random.Int64N(int64(3*market.Interval1m.Fixed()))), 1)
	case 1:
		d.Timer(d.Now(), 2)
	case 2:
		err = d.Update(s.entry, strategy.TargetAt(c.Close.Above(market.Percent/2)))
	case 3:
		err = d.Update(s.entry, strategy.Trail(market.Percent))
	case 4:
		err = m.Close()
	case 5:
		_, err = m.Protect(strategy.StopAt(c.Close.Below(market.Percent)),
			strategy.TargetAt(c.Close.Above(2*market.Percent)))
	case 6:
		_, err = m.Sell(strategy.PositionShare(50 * market.Percent))
	case 7:
		_, err = m.Buy(strategy.Money(100_00), strategy.MakerFirst(market.Interval15m.Fixed()))
	case 8:
		_, err = m.Buy(strategy.Amount(1<<40), strategy.At(c.Close.Below(market.Percent/4)))
	}
	d.Log().Info().AnErr("answer", err).Msg("asks")
}

func (s *talker) OnTimer(d *strategy.Desk, name int64) {
	d.Log().Info().Int64("timer", name).Msg("rings")
	d.In(1).Mark("rings")
}

func (s *talker) OnOrder(d *strategy.Desk, o market.Order, r market.Report) {
	d.Log().Info().Int64("order", int64(o.ID)).Int("exec", int(r.Exec)).Msg("hears")
}
