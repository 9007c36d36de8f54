package orders

import (
	"cmp"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/state/recording"
)

// The proof of docs/rerun.md takes about five minutes:
//
//	go test ./bot/rerun/orders -run HoldsTheSecondHalf -assumption-runs 200 -v -timeout 1h
var assumptionRuns = flag.Int("assumption-runs", 2, "runs of TestTheBandOfTheFirstHalfHoldsTheSecondHalf")

const (
	oneMinute = market.Time(60e9)
	worldFrom = 1_700_000_040 * market.Time(1e9)
	tick      = market.Price(5_00) // 5 basis points of the price
)

// truth is how the exchange of a run is.
type truth struct {
	halfSpread, slippage float64 // basis points
	latency              market.Duration
	fill                 float64
	answers              market.Time // from a decision to the acceptance, as the exchange tells it
}

func (w truth) config(seed uint64) sim.Config {
	points := func(bps float64) market.Rate { return market.Rate(bps * 10_000) }
	return sim.Config{HalfSpread: points(w.halfSpread), Slippage: points(w.slippage), Latency: w.latency,
		MissProbability: market.Rate((1 - w.fill) * 1e8), MissSeed: seed}
}

// decision is what a bot decides at the close of a candle.
type decision struct {
	candle int
	order  market.Order
	cancel bool
}

// period is half a run: candles, and what the bot decides on them.
type period struct {
	candles   []market.Candle
	decisions []decision
}

func marketOf(t *testing.T) *market.Catalog {
	c := &market.Catalog{}
	for symbol, digits := range map[string]uint8{"BTC": 8, "EUR": 2} {
		_, err := c.AddAsset(symbol, digits)
		require.NoError(t, err)
	}
	require.NoError(t, c.AddMarket(&market.Market{Name: "BTC-EUR", PriceDigits: 4, VolumeDigits: 8,
		Status: market.Trading,
		Rules:  market.Rules{TickSize: 1, QuantityDecimals: 8, NotionalDecimals: 2}}))
	return c
}

// newPeriod makes candles of few ticks, so that many lows and highs are exactly an order's price.
func newPeriod(random *rand.Rand, from market.Time, first market.Price, count int) (p period) {
	price, resting := first, []market.OrderID(nil)
	id := market.OrderID(0)
	for i := range count {
		c := market.Candle{Market: 1, Interval: market.Interval1m, Start: from + market.Time(i)*oneMinute, Open: price,
			Volume: 1e8}
		c.Close = c.Open + tick*market.Price(random.IntN(3)-1)
		if random.IntN(3) == 0 { // prices come back: a fill on touch earns something
			c.Close = c.Open + tick*market.Price(cmp.Compare(first, c.Open))
		}
		c.High = max(c.Open, c.Close) + tick*market.Price(random.IntN(2))
		c.Low = min(c.Open, c.Close) - tick*market.Price(random.IntN(2))
		price = c.Close
		p.candles = append(p.candles, c)
		if i%8 == 7 {
			for _, old := range resting {
				p.decisions = append(p.decisions,
					decision{candle: i, cancel: true, order: market.Order{ID: old, Market: 1}})
			}
			resting = nil
		}
		o := market.Order{Market: 1, Strategy: 1, Side: market.Side(1 + random.IntN(2)), Type: market.TypeMarket,
			OrderState: market.OrderState{Amount: market.Qty(1_000_000 * (1 + random.Int64N(5))),
				TimeInForce:         market.GTC,
				SelfTradePrevention: market.CancelOldest}}
		o.AmountRemaining = o.Amount
		switch random.IntN(3) {
		case 0:
			continue
		case 1:
			away := tick * market.Price(1+random.IntN(4))
			o.Type, o.PostOnly, o.Price = market.TypeLimit, true, c.Close-away
			if o.Side == market.Sell {
				o.Price = c.Close + away
			}
			resting = append(resting, id+1)
		}
		id++
		o.ID, o.ClientOrderID = id, uuid.UUID{15: byte(id), 14: byte(id >> 8)}
		p.decisions = append(p.decisions, decision{candle: i, order: o})
	}
	return p
}

// traded lets a venue fill the decisions of a period. It returns the profit, and tells every report
// to hear; nil: there is none.
func (p *period) traded(t *testing.T, c sim.Config, hear func(*market.Event)) (profit float64) {
	var cash, held float64
	catalog := marketOf(t)
	v := sim.New(catalog, c, func(ev *market.Event) {
		for i := range ev.Fills {
			f, sign := &ev.Fills[i], 1.0
			if f.Side == market.Sell {
				sign = -1
			}
			cash -= sign * float64(f.Price) * float64(f.Amount)
			held += sign * float64(f.Amount)
		}
		if hear != nil {
			hear(ev)
		}
	})
	for asset := range catalog.Assets() {
		require.NoError(t, v.Deposit(market.AssetID(asset+1), 1e15))
	}
	next := 0
	for i := range p.candles {
		k := p.candles[i : i+1]
		require.NoError(t, v.Advance(&market.Event{At: k[0].End(), Kind: market.KindCandles, Candles: k}))
		for ; next < len(p.decisions) && p.decisions[next].candle == i; next++ {
			v.Do(p.decisions[next].command(k[0].End()))
		}
	}
	return (cash + held*float64(p.candles[len(p.candles)-1].Close)) / 1e12
}

func (d *decision) command(at market.Time) *market.Command {
	kind := market.CommandPlace
	if d.cancel {
		kind = market.CommandCancel
	}
	return &market.Command{Kind: kind, At: at, Order: d.order}
}

// folderOf writes the state folder of a bot that traded a period at an exchange, as far as an order
// log reads it: decisions, answers and reports in the journal; prices and candles in the recording.
func (p *period) folderOf(t *testing.T, dir string, w truth, seed uint64) (profit float64) {
	catalog := marketOf(t)
	store, err := journal.Open(filepath.Join(dir, statedir.StateFile))
	require.NoError(t, err)
	require.NoError(t, store.Bind(catalog, []string{"one"}))
	b, run := store.NewBatch(), uuid.UUID{1}
	b.Start(worldFrom, &journal.Start{Run: run, Currency: "EUR", Strategies: []string{"one"}})

	heard, last := map[market.Time][]market.Event{}, map[market.OrderID]*market.Event{}
	profit = p.traded(t, w.config(seed), func(ev *market.Event) {
		kept := *ev
		report := *ev.Report
		kept.Report, kept.Fills = &report, slices.Clone(ev.Fills)
		if before := last[report.Order]; before == nil || before.Report.Updated == report.Updated+w.answers {
			report.Updated += w.answers // on a candle it acts at the open
			kept.At += w.answers
			for i := range kept.Fills {
				kept.Fills[i].Time += w.answers
			}
		}
		if before := last[report.Order]; before != nil && before.Report.Updated == report.Updated { // one answer
			kept.Fills = append(before.Fills, kept.Fills...)
			before.At = 0
		}
		heard[kept.At] = append(heard[kept.At], kept)
		last[report.Order] = &heard[kept.At][len(heard[kept.At])-1]
	})
	var events []market.Event
	for _, all := range heard {
		events = append(events, all...)
	}
	events = slices.DeleteFunc(events, func(ev market.Event) bool { return ev.At == 0 })
	slices.SortStableFunc(events, func(x, y market.Event) int { return int(x.At - y.At) })
	p.journal(b, w, events)
	require.NoError(t, store.Commit(b))
	require.NoError(t, store.Close())
	p.record(t, filepath.Join(dir, statedir.RecordingFolder), catalog, w)
	return profit
}

// journal writes decisions and reports by time. The answer to a write comes as long after its
// acceptance as that came after the decision.
func (p *period) journal(b *journal.Batch, w truth, events []market.Event) {
	const place, cancel = market.CommandPlace, market.CommandCancel
	answered := map[market.OrderID]bool{}
	report := func(ev *market.Event) {
		if r := ev.Report; !answered[r.Order] {
			answered[r.Order] = true
			b.Journal(ev.At, &journal.AnswerEntry{Order: r.Order, Command: place, Answer: journal.AnswerAccepted,
				ExchangeID: r.ExchangeID})
		}
		b.Event(ev)
	}
	rows := map[market.OrderID]*state.Order{}
	for i := range p.decisions {
		d := &p.decisions[i]
		at := p.candles[d.candle].End()
		for len(events) > 0 && events[0].At <= at {
			report(&events[0])
			events = events[1:]
		}
		kind := place
		if d.cancel {
			kind = cancel
		} else {
			rows[d.order.ID] = &state.Order{Order: d.order, State: state.Canceled, Reported: true}
		}
		b.Journal(at, &journal.Intent{Command: *d.command(at)})
		b.Journal(at+1, &journal.SentCommand{Order: d.order.ID, Command: kind})
	}
	for i := range events {
		report(&events[i])
	}
	for id := range market.OrderID(len(rows)) {
		b.Order(rows[id+1])
	}
}

// record writes the prices at each point of each candle, with the exchange's spread around them,
// and the candles.
func (p *period) record(t *testing.T, dir string, catalog *market.Catalog, w truth) {
	file, err := recording.Open(dir, recording.Options{Catalog: catalog, Strategies: []string{"one"}})
	require.NoError(t, err)
	_, err = file.Write(&recording.Record{Kind: recording.KindStart, At: worldFrom, Manifest: []byte("{}")})
	require.NoError(t, err)
	write := func(ev market.Event) {
		_, err := file.Append(&ev)
		require.NoError(t, err)
	}
	for i := range p.candles {
		c := &p.candles[i]
		path := [4]market.Price{c.Open, c.Low, c.High, c.Close}
		if up, down := c.High-c.Open, c.Open-c.Low; up < down || up == down && c.Close < c.Open {
			path[1], path[2] = c.High, c.Low
		}
		for n, price := range path {
			half := market.Price(float64(price) * w.halfSpread / 1e4)
			at := c.Start + market.Time(n)*oneMinute/3
			if n == 3 {
				at--
			}
			write(market.Event{At: at, Kind: market.KindTicker, Market: 1,
				Ticker: &market.Ticker{Market: 1, Last: price, Bid: price - half, Ask: price + half}})
		}
		write(market.Event{At: c.End(), Kind: market.KindCandles, Candles: p.candles[i : i+1]})
	}
	require.NoError(t, file.Close())
}

// measured is what the first half says.
func (p *period) measured(t *testing.T, w truth, seed uint64) *Measured {
	dir, err := os.MkdirTemp(t.TempDir(), "state")
	require.NoError(t, err)
	p.folderOf(t, dir, w, seed)
	log, err := Read(t.Context(), dir, Options{Interval: market.Interval1m})
	require.NoError(t, err)
	m, err := MeasureAssumptions(log, Range{})
	require.NoError(t, err)
	return m
}

// TestTheBandOfTheFirstHalfHoldsTheSecondHalf trades a run at an exchange with costs, latency and
// fills by chance, measures them on the first half, and predicts the profit of the second half: a
// band of four fifths of many backtests with drawn assumptions and drawn fills.
func TestTheBandOfTheFirstHalfHoldsTheSecondHalf(t *testing.T) {
	minutes, predictions := 2160, 100
	if *assumptionRuns < 10 {
		minutes, predictions = 1440, 10
	}
	held, heldByTruth, few, wide, wideOfTruth, off := 0, 0, 0, 0.0, 0.0, 0.0
	for run := range *assumptionRuns {
		random := rand.New(rand.NewPCG(uint64(run), 11))
		w := truth{halfSpread: 1 + 3*random.Float64(), slippage: 2 * random.Float64(),
			fill:    0.15 + 0.7*random.Float64(),
			answers: market.Time(20e6 + random.Int64N(800e6))}
		first := newPeriod(random, worldFrom, 10_000_0000, minutes)
		second := newPeriod(random, worldFrom, 10_000_0000, minutes)
		m := first.measured(t, w, random.Uint64())
		v := m.Values()
		if math.IsNaN(v.Fill) {
			few++
		} else {
			off += (v.Fill - w.fill) / float64(*assumptionRuns)
		}
		if run == 0 {
			t.Logf("true %+v, measured %+v from %d orders, %d waits", w, v, m.Orders, len(m.Waits))
			require.InDelta(t, w.halfSpread, v.HalfSpread, 0.05)
			require.InDelta(t, w.slippage, v.Slippage, 0.5)
			require.InDelta(t, float64(w.answers)/1e9, v.Latency, 0.001)
			require.InDelta(t, w.fill, v.Fill, 0.15)
		}
		live := second.traded(t, w.config(random.Uint64()), nil)
		var told, known []float64
		for range predictions {
			drawn := m.Draw(random)
			as := truth{halfSpread: drawn.HalfSpread, slippage: drawn.Slippage, fill: drawn.Fill}
			if math.IsNaN(as.fill) { // too few fills: the default stays
				as.fill = 1
			}
			if m.Applies(drawn.Latency) {
				as.latency = market.Duration(drawn.Latency * 1e9)
			}
			told = append(told, second.traded(t, as.config(random.Uint64()), nil))
			known = append(known, second.traded(t, w.config(random.Uint64()), nil))
		}
		slices.Sort(told)
		slices.Sort(known)
		low, high := quantile(told, 0.1), quantile(told, 0.9)
		if low <= live && live <= high {
			held++
		}
		wide += high - low
		low, high = quantile(known, 0.1), quantile(known, 0.9)
		if low <= live && live <= high {
			heldByTruth++
		}
		wideOfTruth += high - low
	}
	t.Logf("%d runs: the band of the measured assumptions holds live in %.1f %%, that of the true ones in %.1f %%; it "+
		"is "+
		"%.2f times as wide; fill_probability is off by %+.4f on average, and not measured in %d", *assumptionRuns,
		100*float64(held)/float64(*assumptionRuns),
		100*float64(heldByTruth)/float64(*assumptionRuns), wide/wideOfTruth, off, few)
	if *assumptionRuns >= 200 {
		part := float64(held) / float64(*assumptionRuns)
		require.True(t, 0.72 <= part && part <= 0.88, "%g", part)
		require.LessOrEqual(t, wide/wideOfTruth, 1.5)
	}
}
