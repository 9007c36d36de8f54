package dashboard

import (
	"fmt"
	"math"
	"time"

	"github.com/tidemark-trading/tidemark/bot/books"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/chart"
)

// hostile returns a name that would run a script if it were written as it is; for pictures, a
// harmless one.
func hostile() string {
	if *pictures != "" {
		return "stop"
	}
	return `<img src=x onerror="hacked=1"><script>hacked=1</script>`
}

const madeUpNow = int64(1_795_000_000_000)

// madeUp are the documents of a bot with two strategies.
func madeUp() *Documents {
	d := &Documents{NowMS: madeUpNow, Zone: time.UTC}
	d.Status = &operator.Status{State: operator.Trading, Exchange: "bitvavo", Mode: "paper", Version: "dev", Run: "r-1",
		PID: 4711, SinceMS: madeUpNow - 90_000_000,
		Currency: "EUR", Equity: "10118.42", DayResult: "37.55",
		Exposure: "2381.07", Drawdown: "0.0132", OpenOrders: 2, JournalEntries: 18_231, RoundTripMS: 21,
		ClockOffsetMS: -4,
		Strategies: []operator.StrategyStatus{{Name: "trend", State: operator.Trading, OpenOrders: 1},
			{Name: "maker", State: operator.Halted, Reason: "largest loss of a day: 51.20 of 50 EUR " + hostile(),
				HaltedMS: madeUpNow - 7_200_000, OpenOrders: 1}},
		Feeds: []operator.Feed{{Feed: "candles BTC-EUR 5m", LastMS: madeUpNow - 4_000},
			{Feed: "ticker ETH-EUR", LastMS: madeUpNow - 900}},
		Weight: []operator.Weight{{Of: "key", Left: 941}, {Of: "ip", Left: 997}}}
	d.Positions = &operator.Positions{Running: true, Positions: []operator.Position{
		{Strategy: "trend", Market: "BTC-EUR", Amount: "0.02501", Cost: "2301.12", Last: "93402", Value: "2335.98",
			Realised: "181.2251", Fees: "9.1121", OpenedMS: madeUpNow - 9_000_000},
		{Strategy: "maker", Market: "ETH-EUR", Amount: "0", Cost: "0", Realised: "-43.77", Fees: "3.5"}}}
	d.Orders = &operator.Orders{Running: true}
	for i, state := range []string{"filled", "canceled", "filled", "open", "awaitingTrigger", "unknown"} {
		o := operator.Order{Number: int64(i + 1), Strategy: "trend", Market: "BTC-EUR", Side: "buy", Type: "limit",
			State: state, Amount: "0.02501", Price: "91500", Filled: "0", Fee: "0", Tag: "entry",
			CreatedMS: madeUpNow - 9_000_000}
		if state == "awaitingTrigger" {
			o.Side, o.Type, o.Price, o.Trigger, o.Tag = "sell", "stopLoss", "", "90100", hostile()
		}
		d.Orders.Orders = append(d.Orders.Orders, o)
	}
	d.Refused = &operator.Refused{Strategies: []operator.RefusedBy{{Strategy: "trend", Refused: []operator.RefusedKind{{
		By: "gate", Reason: "order_value", Detail: "an order of 612 EUR is above the limit of 500 EUR", Times: 3,
		LastMS: madeUpNow - 600_000}}}}}
	d.Curve = madeUpCurve()
	return d
}

func madeUpCurve() *books.Curve {
	c := &books.Curve{Currency: "EUR", Zone: "UTC"}
	for i := range 400 {
		index := 1 + 0.012*math.Sin(float64(i)/23) + float64(i)*4e-5
		c.Samples = append(c.Samples, books.Sample{AtMS: madeUpNow - int64(400-i)*3_600_000,
			Equity: fmt.Sprintf("%.2f", 10_000*index), Index: index})
	}
	return c
}

func madeUpMarket() *Market { return marketOfSize(2_000, 40) }

// marketOfSize has candles of five minutes and fills.
func marketOfSize(candles, fills int) *Market {
	m := &Market{Name: "BTC-EUR", IntervalMS: 300_000, Orders: madeUp().Orders.Orders[3:5]}
	start := madeUpNow/300_000*300_000 - int64(candles)*300_000
	price := 92_000.0
	for i := range candles {
		next := price * (1 + 0.0012*math.Sin(float64(i)/9) + 0.0008*math.Cos(float64(i)*1.7) -
			(price-92_000)/92_000*0.02)
		m.Candles = append(m.Candles, Candle{start + int64(i)*300_000, price, max(price, next) * 1.0004,
			min(price, next) * 0.9996, next})
		m.Plots = plotted(m.Plots, start+int64(i)*300_000, price, candles)
		price = next
	}
	for i := range fills {
		c := &m.Candles[i*candles/fills]
		m.Fills = append(m.Fills, FillMark{c.StartMS + 60_000, c.Close, i%2 == 0})
	}
	return m
}

// plotted adds a value to the plot of a made-up market, which has at most its last 5,000.
func plotted(plots []Plot, at int64, price float64, candles int) []Plot {
	if plots == nil {
		plots = []Plot{{Name: "slow average"}}
	}
	if points := &plots[0].Points; len(*points) < 5_000 || candles < 5_000 {
		last := price
		if n := len(*points); n > 0 {
			last = (*points)[n-1].Y*0.97 + price*0.03
		}
		*points = append(*points, chart.Point{X: float64(at) / 1000, Y: last})
	}
	return plots
}

func madeUpStory() *operator.Story {
	return &operator.Story{Order: madeUp().Orders.Orders[4], Steps: []operator.Step{
		{Number: 41, AtMS: madeUpNow - 9_000_000, Kind: "intent",
			Lines: []string{"trend asked for it on the candle of 09:30", "tag: " + hostile()},
			Risk:  []operator.Figure{{Name: "exposure", Before: "0", After: "2288.41", Limit: "5000"}}},
		{Number: 42, AtMS: madeUpNow - 8_999_000, Kind: "outcome",
			Lines: []string{"the exchange took it after 21 ms"}}}}
}

func madeUpProfit() (*books.ProfitReport, *books.TradeList) {
	gain, fall := 0.0118, 0.0132
	r := &books.ProfitReport{Zone: "Europe/Berlin", By: books.ByDay, Currency: "EUR", MoneyWeighted: &gain,
		Total: books.Earned{Realised: "137.4551", Unrealised: "34.86", Fees: "12.6121", Return: &gain, Drawdown: &fall,
			Fall: "133.2"}}
	t := &books.TradeList{Zone: "Europe/Berlin"}
	for i := range 12 {
		r.Groups = append(r.Groups, books.Earned{Name: fmt.Sprintf("2026-11-%02d", 6+i), Turnover: "4812.2",
			Fees:     "1.05",
			Realised: fmt.Sprintf("%.2f", 40*math.Sin(float64(i)*1.1)), Unrealised: "2.9", Flows: "0", Trips: 3, Won: 2,
			Return: &gain, Drawdown: &fall})
		t.Trades = append(t.Trades, books.Trade{Order: int64(i + 20), Strategy: "trend", Market: "BTC-EUR",
			EnteredMS: madeUpNow - int64(20-i)*7_200_000, ExitedMS: madeUpNow - int64(20-i)*7_200_000 + 3_000_000,
			Amount: "0.02501", Entry: "92411.2", Exit: "92931.7", Fees: "1.1521", Currency: "EUR", Reason: "target",
			Profit: fmt.Sprintf("%.2f", 21*math.Cos(float64(i)*1.3))})
	}
	t.Trades[3].Reason = hostile()
	return r, t
}

func madeUpLimits() []Limit {
	return []Limit{{"largest exposure", "account", "2381.07", "5000", "2618.93", 0.476},
		{"largest drawdown", "account", "1.32 %", "5 %", "3.68 %", 0.264},
		{"largest loss of a day", "strategy maker", "51.20", "50", "0", 1.02},
		{"orders a minute", "strategy trend", "2", "20", "18", 0.1}, {hostile(), "strategy trend", "–", "–", "–", -1}}
}

func madeUpJournal() (rows []JournalRow) {
	for i := range 25 {
		rows = append(rows, JournalRow{Number: uint64(18_231 - i), AtMS: madeUpNow - int64(i)*61_000, Kind: "report",
			Strategy: "trend", Market: "BTC-EUR", Order: int64(40 - i),
			Lines: []string{"the exchange filled 0.0100 @ 92411"}})
	}
	rows[2].Kind, rows[2].Strategy, rows[2].Lines = "refusal", hostile(), []string{"above the limit " + hostile()}
	return rows
}

func madeUpSystem(d *Documents) *System {
	return &System{Status: d.Status, FreeDisk: "41.2 GB", FileSize: "12.4 MB", BackupMS: madeUpNow - 30_000_000,
		NowMS: madeUpNow, Zone: time.UTC, Checks: []Check{{"config", "ok", "read and valid", ""},
			{"clock", "ok", "4 ms behind the exchange", ""},
			{"disk", "warn", "41.2 GB are free " + hostile(), "keep 50 GB free"}}}
}
