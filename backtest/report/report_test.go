package report_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest/report"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/view/page"
)

// walk is a Source of one-minute candles on a random walk.
type walk struct {
	*rand.Rand
	left  int
	start market.Time
	price market.Price
	batch [512]market.Candle
}

func newWalk(n int) *walk {
	return &walk{Rand: rand.New(rand.NewPCG(1, 2)), left: n, start: 1640995200_000_000_000, price: 20_000_00}
}

func (w *walk) Next() ([]market.Candle, error) {
	n := min(w.left, len(w.batch))
	if n == 0 {
		return nil, io.EOF
	}
	for i := range w.batch[:n] {
		c := &w.batch[i]
		open := w.price
		w.price = max(w.price+market.Price(w.NormFloat64()*12_00), 1)
		*c = market.Candle{Market: 1, Interval: market.Interval1m, Start: w.start, Open: open, Close: w.price,
			High: max(open, w.price) +
				market.Price(w.IntN(6_00)), Low: max(min(open, w.price)-market.Price(w.IntN(6_00)), 1)}
		w.start += market.Time(time.Minute)
	}
	w.left -= n
	return w.batch[:n], nil
}

func (w *walk) Close() error { return nil }

// run is a run over so many candles with so many trips.
func run(candles, trips int) *report.Run {
	r := &report.Run{Title: "a walk", Currency: "EUR", From: 1640995200_000_000_000,
		To: 1640995200_000_000_000 + market.Time(candles)*market.Time(time.Minute),
		Curves: report.Curves{Trips: report.NewTrips(report.Names{Markets: []string{"BTC-EUR"},
			Strategies: []string{"a"}, PriceDigits: []uint8{2}, AmountDigits: []uint8{8}, MoneyDigits: 2}),
			Candles: []report.Candles{{Market: 0, Quote: "EUR", Interval: market.Interval1m, Count: int64(candles),
				Open: func() (report.Source, error) { return newWalk(candles), nil }}}}}
	for i := range 5000 {
		r.Equity = append(r.Equity, report.Sample{At: r.From + (r.To-r.From)/5000*market.Time(i),
			Equity: 1e4 + float64(i%77),
			Cash:   1e4})
	}
	source, each := newWalk(candles), max(candles/max(trips, 1), 1)
	at, random := 0, rand.New(rand.NewPCG(3, 4))
	for batch, err := source.Next(); err == nil && trips > 0; batch, err = source.Next() {
		for i := range batch {
			if at++; at%each != 0 {
				continue
			}
			c := &batch[i]
			entry, exit, amount := float64(c.Open)/100, float64(c.Close)/100, random.Float64()
			r.Trips.Add(report.Trip{Reason: [...]string{"stop", "target", "signal"}[random.IntN(3)], Entered: c.Start,
				Exited: c.Start + market.Time(time.Minute)*market.Time(1+random.IntN(200)), Entry: entry, Exit: exit,
				Amount: amount, Fees: amount * entry * 0.005, Profit: amount * (exit - entry), Return: exit/entry - 1,
				Worst: -random.Float64() / 100, Best: random.Float64() / 100})
		}
	}
	return r
}

func write(t *testing.T, r *report.Run) []byte {
	var out bytes.Buffer
	require.NoError(t, r.Write(&out))
	return out.Bytes()
}

func unpacked(t *testing.T, text []byte, id string, head any) [][]int64 {
	packed, err := page.Find(text, id)
	require.NoError(t, err)
	columns, err := page.Unpack(packed, head)
	require.NoError(t, err)
	return columns
}

// levels are the levels of packed candles.
type levels struct {
	Levels []struct {
		Each  int
		Parts [][2]int64
	}
}

func TestAMillionCandlesAndAHundredThousandTripsFitFiveMegabytes(t *testing.T) {
	r := run(1_000_000, 100_000)
	text := write(t, r)
	t.Logf("%d bytes", len(text))
	require.Less(t, len(text), 5_000_000)
	require.Len(t, unpacked(t, text, "trips", new(any))[0], 100_000)
	var head levels
	columns := unpacked(t, text, "candles-0", &head)
	require.Equal(t, 8, head.Levels[1].Each)
	require.Len(t, columns[5], 125_000)
	require.Greater(t, len(columns[0]), 10_000, "single candles")
	require.Contains(t, string(text), "The whole run is here in bars of 8 candles")
	require.Equal(t, 500, strings.Count(string(text), `data-l="MAE, %"`))
}

// Of few candles each is in the page; of many those around the trips.
func TestThePageHasTheCandlesThatWereTraded(t *testing.T) {
	text := write(t, run(3000, 5))
	var head levels
	columns := unpacked(t, text, "candles-0", &head)
	require.Len(t, head.Levels, 1)
	require.Len(t, columns[0], 3000)
	require.Contains(t, string(text), "Each candle of the run is here.")
	same(t, columns, 1, func(int64) bool { return true })

	text = write(t, run(300_000, 5))
	columns = unpacked(t, text, "candles-0", &head)
	require.Len(t, columns[5], 300_000/8)
	in := func(minute int64) bool {
		for _, p := range head.Levels[0].Parts {
			if minute >= p[0] && minute <= p[1] {
				return true
			}
		}
		return false
	}
	trips := unpacked(t, text, "trips", new(any))
	for i, entered := range trips[2] {
		require.True(t, in(entered/60) && in((entered+trips[4][i])/60))
	}
	same(t, columns[:5], 1, in)
	same(t, columns[5:], 8, func(int64) bool { return true })
}

// same compares packed candles with the walk, merged by hand.
func same(t *testing.T, columns [][]int64, each int, in func(minute int64) bool) {
	var want []string
	source := newWalk(1 << 20)
	last := columns[0][len(columns[0])-1]
	var merged market.Candle
	count := 0
	for batch, err := source.Next(); err == nil; batch, err = source.Next() {
		for _, c := range batch {
			minute := int64(c.Start) / 60e9
			if minute >= last+int64(each) {
				compare(t, want, columns)
				return
			}
			if !in(minute) {
				continue
			}
			if count == 0 {
				merged = c
			}
			merged.High, merged.Low, merged.Close = max(merged.High, c.High), min(merged.Low, c.Low), c.Close
			if count++; count == each {
				want, count = append(want, fmt.Sprint(int64(merged.Start)/60e9, merged.Open, merged.High, merged.Low,
					merged.Close)), 0
			}
		}
	}
}

func compare(t *testing.T, want []string, columns [][]int64) {
	before := int64(0)
	require.Len(t, columns[0], len(want))
	for i := range want {
		open := before + columns[1][i]
		end := open + columns[2][i]
		have := fmt.Sprint(columns[0][i], open, max(open, end)+columns[3][i], min(open, end)-columns[4][i], end)
		require.Equal(t, want[i], have, "bar %d", i)
		before = end
	}
}

// The number of candles is a guess where some are missing.
func TestAWrongGuessOfTheCandlesChangesNothing(t *testing.T) {
	right, wrong := run(3000, 40), run(3000, 40)
	wrong.Candles[0].Count = 7100
	require.Equal(t, write(t, right), write(t, wrong))
}

// A page places weekly candles on their Mondays.
func TestWeeksBeginOnMondays(t *testing.T) {
	r := run(0, 0)
	monday := market.Interval1W.Floor(r.From)
	r.To = monday + market.Time(14*24*time.Hour)
	r.Candles = []report.Candles{{Interval: market.Interval1W, Count: 2, Open: func() (report.Source, error) {
		return &list{{Interval: market.Interval1W, Start: monday, Open: 1, High: 1, Low: 1, Close: 1},
			{Interval: market.Interval1W, Start: market.Interval1W.End(monday), Open: 1, High: 1, Low: 1,
				Close: 1}}, nil
	}}}
	var head struct{ Unit int64 }
	columns := unpacked(t, write(t, r), "candles-0", &head)
	require.Equal(t, int64(monday)/1e9, columns[0][0]*head.Unit)
	require.Equal(t, int64(market.Interval1W.End(monday))/1e9, columns[0][1]*head.Unit)
}

// list is a Source of one batch.
type list []market.Candle

func (l *list) Next() (batch []market.Candle, err error) {
	if batch, *l = *l, nil; len(batch) == 0 {
		err = io.EOF
	}
	return batch, err
}

func (l *list) Close() error { return nil }

func TestTheSamePageIsTheSameBytes(t *testing.T) {
	require.Equal(t, write(t, run(2000, 40)), write(t, run(2000, 40)))
}

func TestARunWithoutTripsCandlesAndDaysHasAPage(t *testing.T) {
	r := run(0, 0)
	r.To = r.From + 1
	r.Candles = nil
	text := string(write(t, r))
	require.Contains(t, text, "No round trip was closed.")
	require.NotContains(t, text, `class="zoom"`)
}

func TestNamesAreTextInThePage(t *testing.T) {
	const name = `</script><b>"x"`
	r := run(100, 0)
	r.Title, r.Warnings = name, []string{name}
	r.Trips = report.NewTrips(report.Names{Markets: []string{name}, Strategies: []string{name}, PriceDigits: []uint8{2},
		AmountDigits: []uint8{8}, MoneyDigits: 2})
	r.Trips.Add(report.Trip{Reason: name, Entered: r.From, Exited: r.To, Entry: 1, Exit: 1, Amount: 1})
	r.Marks = []report.Mark{{At: r.From, Price: 1, Text: name}}
	r.Lines = []report.Line{{Name: name, Pane: name, Points: []report.Value{{At: r.From, Y: 1}}}}
	text := string(write(t, r))
	require.NotContains(t, text, name)
	require.NotContains(t, text, "<b>&#34;x")
	require.NotContains(t, text, `<b>"x`)
}
