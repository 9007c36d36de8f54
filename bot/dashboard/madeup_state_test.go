package dashboard

import (
	"fmt"
	"math"
	"strconv"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
)

// hostileOr returns a name that would run a script, or, for pictures, a plain one.
func hostileOr(plain string) string {
	if *pictures != "" {
		return plain
	}
	return hostile()
}

// madeUpSeries has candles of five minutes with two price digits, a random walk that is the same
// each time.
func madeUpSeries(candles int) []market.Candle {
	interval, err := market.ParseInterval("5m")
	if err != nil {
		panic(err)
	}
	list := make([]market.Candle, candles)
	start, price := interval.Floor(market.Time(madeUpNow*1e6))-market.Time(candles)*300e9, 92_000.0
	for i := range list {
		next := price * (1 + 0.0012*math.Sin(float64(i)/9) + 0.0008*math.Cos(float64(i)*1.7) -
			(price-92_000)/92_000*0.02)
		fixed := func(x float64) market.Price { return market.Price(math.Round(x * 100)) }
		list[i] = market.Candle{Start: start + market.Time(i)*300e9, Market: 1, Interval: interval, Open: fixed(price),
			High: fixed(max(price, next) * 1.0004), Low: fixed(min(price, next) * 0.9996), Close: fixed(next),
			Volume: market.Volume(300 + 200*math.Sin(float64(i)/5))}
		price = next
	}
	return list
}

// madeUpPicture is a market of a series with fills, as the bot would answer for a time; to 0: so
// much of its end, long 0: all.
func madeUpPicture(series []market.Candle, fills int, q operator.MarketQuery) *operator.Market {
	in := &market.Market{ID: 1, Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 2}
	m := &operator.Market{Answer: profit.Answer{Running: true}, Market: in.Name, Interval: "5m",
		Series: []operator.MarketSeries{{Market: "BTC-EUR", Intervals: []string{"5m", "1h"}},
			{Market: hostileOr("ETH-EUR"), Intervals: []string{"5m"}}}}
	begin, end := series[0].Start.Millis(), series[len(series)-1].End().Millis()
	if q.ToMS == 0 && q.LongMS == 0 {
		q.LongMS = end - begin
	}
	m.Span(&q, 0, end)
	m.AddCandles(in, series, columnsWide)
	for i := range fills {
		c := &series[i*len(series)/fills]
		f := operator.MarketFill{AtMS: c.Start.Millis() + 60_000, Order: int64(i + 1), Strategy: hostileOr("trend"),
			Side:   "buy",
			Amount: "0.0251", Price: in.FormatPrice(c.Close)}
		if i%2 == 1 {
			f.Side = "sell"
		}
		if f.AtMS >= m.FromMS && f.AtMS < m.ToMS {
			m.Fills = append(m.Fills, f)
		}
	}
	return m
}

// madeUpMarket is a picture with everything that can be in one.
func madeUpMarket(q *operator.MarketQuery) *operator.Market {
	series := madeUpSeries(400)
	m := madeUpPicture(series, 30, *q)
	m.Last = "92100.5"
	m.Watched = []operator.Watched{
		{Strategy: hostileOr("trend"), Entry: 29, Kind: "target", Amount: "0.02501", Price: "92600"},
		{Strategy: "trend", Entry: 27, Kind: "part", Amount: "0.01", Price: "92400"}}
	m.Orders = madeUpOrders().Orders[3:5]
	line := operator.Plot{Strategy: "trend", Name: hostileOr("mean")}
	pane := operator.Plot{Strategy: "trend", Name: "strength", Pane: "RSI"}
	last := 0.0
	for i := range m.Candles {
		closed, _ := strconv.ParseFloat(m.Candles[i].Close, 64)
		if last == 0 {
			last = closed
		}
		last = last*0.9 + closed*0.1
		at := m.Candles[i].StartMS + m.SpanMS
		line.Points = append(line.Points, operator.PlotPoint{AtMS: at, Value: last})
		pane.Points = append(pane.Points, operator.PlotPoint{AtMS: at, Value: 50 + 30*math.Sin(float64(i)/11)})
	}
	mark := operator.Plot{Strategy: "trend", Name: "squeeze", Mark: true}
	mark.Points = line.Points[:min(1, len(line.Points))]
	m.Plots = []operator.Plot{line, pane, mark}
	m.Book = &operator.Book{AtMS: madeUpNow - 900}
	for i := range 12 {
		m.Book.Bids = append(m.Book.Bids, operator.Level{Price: fmt.Sprint(91_990 - i), Amount: "0.41"})
		m.Book.Asks = append(m.Book.Asks, operator.Level{Price: fmt.Sprint(92_010 + i), Amount: "0.2"})
	}
	return m
}

func madeUpRisk() *operator.Risk {
	part := func(p float64) *float64 { return &p }
	trend, maker := "strategy trend", "strategy "+hostileOr("maker")
	return &operator.Risk{Answer: profit.Answer{Running: true},
		AtMS: madeUpNow, Currency: "EUR", Limits: []operator.Limit{
			{Scope: "account", Name: "max_exposure", Unit: "money", Max: "5000", Used: "2381.07",
				Left: "2618.93", Part: part(0.476)},
			{Scope: "account", Name: "max_daily_loss", Unit: "money", Max: "50", Used: "51.2", Left: "0",
				Part: part(1.024), Reached: true, UntilMS: madeUpNow + 9e6},
			{Scope: "account", Name: "max_drawdown", Unit: "fraction", Max: "0.05", Used: "0.0132",
				Left: "0.0368", Part: part(0.264), From: "10254.1"},
			{Scope: trend, Name: "max_position", Market: "BTC-EUR", Unit: "money", Max: "3000", Used: "2335.98",
				Left: "664.02", Part: part(0.779)},
			{Scope: trend, Name: "price_collar", Unit: "fraction", Max: "0.05"},
			{Scope: maker, Name: "max_data_age", Market: hostileOr("ETH-EUR"), Unit: "duration", Max: "30s",
				Used: "1.2s",
				Left: "28.8s", Part: part(0.04)},
			{Scope: maker, Name: "reduce_only", Unit: "switch"}},
		Halts: []operator.Halt{{Scope: maker, Reason: hostileOr("max_daily_loss"), By: "gate",
			SinceMS: madeUpNow - 7_200_000}}}
}

func madeUpJournal() *operator.Journal {
	j := &operator.Journal{Answer: profit.Answer{Running: true}, Older: 18_206}
	for i := range 25 {
		j.Entries = append(j.Entries, operator.JournalEntry{Number: uint64(18_231 - i),
			AtMS: madeUpNow - int64(i)*61_000, Kind: "report", Strategy: "trend", Market: "BTC-EUR",
			Order: int64(40 - i),
			Lines: []string{"state     filled, filled 0.01", "fill      0.01 @ 92411, fee 1.39, taker"}})
	}
	e := &j.Entries[2]
	e.Kind, e.Strategy, e.Lines = "refusal", hostileOr("maker"),
		[]string{"refused   " + hostileOr("place buy limit: max_position: 3010, limit 3000")}
	return j
}

func madeUpSystem() *operator.System {
	free := uint64(41_200_000_000)
	return &operator.System{Answer: profit.Answer{Running: true},
		Folder: "bots/demo", DiskFree: &free, ReadOnly: true, Broken: true,
		BackupMS: madeUpNow - 30_000_000, Seal: "The promise is broken since 2026-11-20. " + hostileOr(""),
		State: operator.StateFile{Path: "bots/demo/bot.db", Bytes: 12_400_000, Entries: 18_231,
			SinceMS: madeUpNow - 9e9},
		Recording: &operator.RecordingFile{Bytes: 812_000_000, Events: 41_000_000,
			FromMS: madeUpNow - 9e9, ToMS: madeUpNow},
		Doctor: &statedir.Checkup{AtMS: madeUpNow - 9_000_000, Findings: []statedir.Finding{{Check: "clock",
			Level: "ok"},
			{Check: hostileOr("limits"), Level: "fail", Text: hostileOr("max_daily_loss is missing"),
				Hint: hostileOr("set it")},
			{Check: "disk", Level: "warn", Text: "3 GB are free"}}},
		Log: &operator.LogFile{Path: "bots/demo/" + hostileOr("bot") + ".log", Bytes: 3_000_000}}
}
