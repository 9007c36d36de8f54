package dashboard

import (
	"flag"
	"fmt"
	"math"
	"time"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/bot/seal"
	"github.com/tidemark-trading/tidemark/research/stats"
)

var pictures = flag.String("dashboard-pictures", "", "write pictures of the dashboard to this folder")

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
	d.Status = &operator.Status{State: operator.Trading, Exchange: "https://exchange.test", Mode: "paper",
		Version: "dev", Run: "r-1",
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
	d.Positions = &operator.Positions{Answer: profit.Answer{Running: true}, Positions: []operator.Position{
		{Strategy: "trend", Market: "BTC-EUR", Amount: "0.02501", Cost: "2301.12", Last: "93402", Value: "2335.98",
			Realised: "181.2251", Fees: "9.1121", OpenedMS: madeUpNow - 9_000_000},
		{Strategy: "maker", Market: "ETH-EUR", Amount: "0", Cost: "0", Realised: "-43.77", Fees: "3.5"}}}
	d.Refused = &operator.Refused{Strategies: []operator.RefusedBy{{Strategy: "trend", Refused: []operator.RefusedKind{{
		By: "gate", Reason: "max_order_value", Detail: "612 EUR, limit 500 EUR", Times: 3,
		LastMS: madeUpNow - 600_000}}}}}
	d.Curve = madeUpCurve()
	d.Days, _ = madeUpProfit()
	d.Status.Balances = []operator.Balance{{Asset: "BTC", Bot: "0.02501", InOrders: "0.02501", Others: "0.5",
		Whole: "0.52501"}, {Asset: "EUR", Bot: "7782.44", InOrders: "2288.41", Others: "4211.9", Whole: "11994.34"}}
	d.Exits = exits{}
	d.Exits.add("trend", "BTC-EUR", "90100", true)
	d.Exits.add("trend", "BTC-EUR", "97400", false)
	return d
}

// madeUpOrders are its orders.
func madeUpOrders() *operator.Orders {
	all := &operator.Orders{Answer: profit.Answer{Running: true}}
	for i, state := range []string{"filled", "canceled", "filled", "open", "awaitingTrigger", "unknown"} {
		o := operator.OrderRow{Number: int64(i + 1), Strategy: "trend", Market: "BTC-EUR", Side: "buy", Type: "limit",
			State: state, Amount: "0.02501", Price: "91500", Filled: "0", Fee: "0", Tag: "entry",
			CreatedMS: madeUpNow - 9_000_000}
		if state == "awaitingTrigger" {
			o.Side, o.Type, o.Price, o.Trigger, o.Tag = "sell", "stopLoss", "", "90100", hostile()
		}
		all.Orders = append(all.Orders, o)
	}
	return all
}

func madeUpCurve() *profit.Curve {
	c := &profit.Curve{Currency: "EUR", Zone: "UTC"}
	for i := range 400 {
		index := 1 + 0.012*math.Sin(float64(i)/23) + float64(i)*4e-5
		c.Samples = append(c.Samples, profit.Sample{AtMS: madeUpNow - int64(400-i)*3_600_000,
			Equity: fmt.Sprintf("%.2f", 10_000*index), Index: index})
	}
	return c
}

func madeUpStory() *operator.Story {
	return &operator.Story{Order: madeUpOrders().Orders[4], Steps: []operator.Step{
		{Number: 41, AtMS: madeUpNow - 9_000_000, Kind: "intent",
			Lines: []string{"trend asked for it on the candle of 09:30", "tag: " + hostile()},
			Risk:  []operator.Figure{{Name: "exposure", Before: "0", After: "2288.41", Limit: "5000"}}},
		{Number: 42, AtMS: madeUpNow - 8_999_000, Kind: "outcome",
			Lines: []string{"the exchange took it after 21 ms"}}}}
}

func madeUpProfit() (*profit.ProfitReport, *profit.TradeList) {
	gain, fall := 0.0118, 0.0132
	r := &profit.ProfitReport{Zone: "Europe/Berlin", By: profit.ByDay, Currency: "EUR", MoneyWeighted: &gain,
		Total: profit.Earned{Realised: "137.4551", Unrealised: "34.86", Fees: "12.6121", Return: &gain, Drawdown: &fall,
			Fall: "133.2"}}
	t := &profit.TradeList{Zone: "Europe/Berlin"}
	for i := range 12 {
		r.Groups = append(r.Groups, profit.Earned{Name: fmt.Sprintf("2026-11-%02d", 6+i),
			FromMS: time.Date(2026, 11, 5+i, 23, 0, 0, 0, time.UTC).UnixMilli(), Turnover: "4812.2",
			Fees:     "1.05",
			Realised: fmt.Sprintf("%.2f", 40*math.Sin(float64(i)*1.1)), Unrealised: "2.9", Flows: "0", Trips: 3, Won: 2,
			Return: &gain, Drawdown: &fall})
		t.Trades = append(t.Trades, profit.RoundTrip{Order: int64(i + 20), Strategy: "trend", Market: "BTC-EUR",
			EnteredMS: madeUpNow - int64(20-i)*7_200_000, ExitedMS: madeUpNow - int64(20-i)*7_200_000 + 3_000_000,
			Amount: "0.02501", Entry: "92411.2", Exit: "92931.7", Fees: "1.1521", Currency: "EUR", Reason: "target",
			Profit: fmt.Sprintf("%.2f", 21*math.Cos(float64(i)*1.3))})
	}
	t.Trades[3].Reason = hostile()
	return r, t
}

func madeUpSeal() *seal.SealStatus {
	return &seal.SealStatus{Sealed: true, Entry: 17, SealedMS: madeUpNow - 20*86_400_000, By: hostile(), Hash: "5f1c9a",
		Days: 19, Missed: 1, Last: "2026-11-17", Evidence: map[string]float64{"return": 1.7, "trips": 0.4,
			"slippage": 0.9, "drawdown": 0, "total": 0.75},
		Alarm: 20, Deepest: 0.031, Changed: []string{"trend.fast: " + hostile()},
		Document: &seal.Document{Backtest: seal.Backtest{Title: hostile(), From: "2024-01-01", To: "2026-01-01",
			Days: 730, OutOfSampleDays: 365}, Promise: stats.Promise{Level: 0.05,
			Weights: [4]float64{0.25, 0.25, 0.25, 0.25},
			Return:  stats.ReturnPromise{Deviation: 0.01, Mean: 0.05, Clip: 4, Days: 1}}}}
}
