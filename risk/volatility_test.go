package risk_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
)

const hour = market.Time(time.Hour)

// aTarget is a limit on the volatility, estimated from hours.
func aTarget(target market.Rate) risk.AccountLimits {
	return risk.AccountLimits{VolatilityTarget: target, VolatilityInterval: market.Interval1h}
}

// hours lets one hour go by for each close.
func (b *bench) hours(closes ...market.Price) {
	b.t.Helper()
	for _, price := range closes {
		start := market.Interval1h.Floor(b.now)
		b.now = start + hour
		b.candle(market.Interval1h, start, price)
	}
}

// candle shows account and gate a candle that closes now.
func (b *bench) candle(interval market.Interval, start market.Time, price market.Price) {
	b.t.Helper()
	candles := []market.Candle{{Market: b.m.ID, Interval: interval, Start: start, Close: price}}
	b.gate.Closes(candles)
	b.step(market.Event{Kind: market.KindCandles, Candles: candles})
}

// flat are closes at 100.
func flat(n int) (closes []market.Price) {
	for range n {
		closes = append(closes, 100*at1)
	}
	return closes
}

// jumped is a bench with 20 returns: 19 of nothing, and then one of 5 %. By hand: the mean square
// is 0.05² ÷ (1 + 0.94 + … + 0.94¹⁹) = 0.0025 ÷ 11.8315, an hour's volatility its root, 1.4536 %, a
// year's that times √8760, 136.05 %. 10 BTC are worth 1050 EUR of an equity of 11050 EUR.
func jumped(t testing.TB, target market.Rate) *bench {
	b := newBench(t, risk.Limits{}, aTarget(target))
	b.hours(append(flat(20), 105*at1)...)
	return b
}

func TestTheExpectedVolatilityIsThatOfExponentialWeights(t *testing.T) {
	b := jumped(t, 20_000_000)
	use, followed, err := b.gate.Volatility(b.account)
	require.NoError(t, err)
	require.True(t, followed)
	require.Equal(t, risk.VolatilityUse{Expected: 12_927_901, Target: 20_000_000, Interval: market.Interval1h}, use)
	b.sent(limit(buy, 5*btc, 100*at1)) // counts as if it had filled
	use, _, err = b.gate.Volatility(b.account)
	require.NoError(t, err)
	require.EqualValues(t, 12_927_901*(1050+500)/1050, use.Expected)
}

func TestTheUseOfATargetIsWhatTheGateCountsFrom(t *testing.T) {
	b := newBench(t, risk.Limits{}, aTarget(20_000_000))
	use := b.useOf("volatility_target")
	require.True(t, use.Unknown && use.Reached, "there is no estimate yet")
	b = jumped(t, 20_000_000)
	use = b.useOf("volatility_target")
	require.Equal(t, risk.LimitUse{Name: "volatility_target", Unit: risk.UnitRate, Limit: 20_000_000, Used: 12_927_901},
		use)
	b.sent(limit(buy, 9*btc, 105*at1))
	require.InDelta(t, 20_000_000, b.useOf("volatility_target").Used, 2000)
	require.False(t, b.useOf("opposite").Limit > 0)
	b.limit(risk.Limits{}, refuseOpposite)
	require.EqualValues(t, 1, b.useOf("opposite").Limit)
	require.True(t, b.useOf("volatility_target").Unknown)
}

func TestABuyIsMadeSmallerForTheTarget(t *testing.T) {
	b := jumped(t, 20_000_000)
	// 0.2 × 11050 ÷ 1.360508 − 1050 = 574.39 EUR may be added
	whole := b.passes(limit(buy, 5*btc, 105*at1))
	require.EqualValues(t, 5*btc, whole.Order.Amount)
	c := b.passes(limit(buy, 9*btc, 105*at1))
	require.EqualValues(t, 5_4703*10_000, c.Order.Amount) // 574.38 EUR
	require.Equal(t, c.Order.Amount, c.Order.AmountRemaining)
	money := place(market.Order{Type: market.TypeMarket, Side: buy,
		OrderState: market.OrderState{AmountQuote: 900 * eur}})
	c = b.passes(money)
	require.EqualValues(t, 57439, c.Order.AmountQuote)
	require.Equal(t, c.Order.AmountQuote, c.Order.AmountQuoteRemaining)
	require.EqualValues(t, 2, b.gate.Scaled(1))

	o := b.sent(limit(buy, 5*btc, 105*at1))
	refusal := b.refused(update(o.ID, market.ChangeAmount, market.OrderState{Amount: 6 * btc}),
		risk.ReasonVolatilityTarget)
	require.EqualError(t, refusal, "refused: volatility_target (20.684641%, limit 20%)")
	b.passes(update(o.ID, market.ChangeAmount, market.OrderState{Amount: 4 * btc}))
	c = b.passes(limit(buy, 9*btc, 105*at1))
	require.EqualValues(t, 4703*10_000, c.Order.Amount)
	b.filled(limit(buy, 4703*10_000, 105*at1), 105*at1)
	b.refused(limit(buy, btc, 105*at1), risk.ReasonVolatilityTarget) // what fits is below the market's minimum
	b.passes(limit(market.Sell, 9*btc, 106*at1))
	b.passes(attached(atMarket(market.Sell, btc)))
}

// A market that moves against the others may be bought: it makes the account calmer.
func TestABuyThatCalmsTheAccountPasses(t *testing.T) {
	w := newWorld(t, 2, aTarget(1_000_000))
	for i := range 30 {
		move := market.Price(10 * (i % 2))
		w.hour(100*at1+10*move, 50*at1-5*move)
	}
	require.Equal(t, risk.ReasonVolatilityTarget, w.ask(1, btc).Reason)
	c := w.buy(2, 100*btc)
	require.Less(t, c.Amount, market.Qty(100*btc))
	require.Greater(t, c.Amount, market.Qty(10*btc), "10 BTC at 100 are balanced by 20 ETH at 50, and as many again")
}

func TestWithoutEnoughClosesNothingIsBought(t *testing.T) {
	b := newBench(t, risk.Limits{}, aTarget(20_000_000))
	refusal := b.refused(limit(buy, btc, 100*at1), risk.ReasonVolatilityTarget)
	require.EqualError(t, refusal,
		"refused: volatility_target: BTC-EUR has too few closes for an estimate: needs 20 more, one each 1h")
	use, _, err := b.gate.Volatility(b.account)
	require.NoError(t, err)
	require.Equal(t, []market.ID{1}, use.Short)
	b.hours(flat(20)...)
	refusal = b.refused(limit(buy, btc, 100*at1), risk.ReasonVolatilityTarget)
	require.ErrorContains(t, refusal, "needs 1 more, one each 1h")
	b.passes(limit(market.Sell, btc, 100*at1))
	b.hours(100 * at1)
	b.passes(limit(buy, 50*btc, 100*at1)) // nothing has moved
}

// A close within an interval counts at its end, the last one. An interval without a candle repeats
// the close before.
func TestClosesStandOnAGrid(t *testing.T) {
	b, by := jumped(t, 20_000_000), newBench(t, risk.Limits{}, aTarget(20_000_000))
	by.hours(100 * at1)
	by.now += 18 * hour // nothing was traded
	by.hours(100 * at1)
	start := market.Interval1h.Floor(by.now)
	for minute := range market.Time(60) {
		by.now = start + (minute+1)*hour/60
		by.candle(market.Interval1m, by.now-hour/60, 90*at1+market.Price(15*minute*at1)/59)
	}
	by.candle(market.Interval1h, start, 105*at1)    // the same close
	by.candle(market.Interval1m, start, 1*at1)      // late
	by.candle(market.Interval1h, start-hour, 1*at1) // late
	by.price(105 * at1)
	have, _, err := by.gate.Volatility(by.account)
	require.NoError(t, err)
	want, _, err := b.gate.Volatility(b.account)
	require.NoError(t, err)
	require.Equal(t, want, have)
}

func TestAReloadKeepsTheClosesOfATarget(t *testing.T) {
	b := jumped(t, 20_000_000)
	b.limit(risk.Limits{}, aTarget(40_000_000))
	require.EqualValues(t, 9*btc, b.passes(limit(buy, 9*btc, 105*at1)).Order.Amount)
	b.limit(risk.Limits{}, risk.AccountLimits{})
	_, followed, err := b.gate.Volatility(b.account)
	require.NoError(t, err)
	require.False(t, followed)
	b.passes(limit(buy, 50*btc, 105*at1))
	b.limit(risk.Limits{}, aTarget(20_000_000)) // the first one: its gate has seen nothing
	b.refused(limit(buy, btc, 105*at1), risk.ReasonVolatilityTarget)
}

func TestRestoredClosesEstimateTheSame(t *testing.T) {
	w := newWorld(t, 3, aTarget(30_000_000))
	r := rand.New(rand.NewPCG(5, 5))
	for n := range 200 {
		w.random(r)
		text, err := w.gate.SaveCloses(nil, []string{"trend"})
		require.NoError(t, err)
		again := risk.New(w.catalog, w.config)
		require.NoError(t, again.RestoreCloses(text, []string{"trend"}))
		require.False(t, again.ClosesChanged())
		require.Equal(t, w.gate.Scaled(1), again.Scaled(1))
		same, err := again.SaveCloses(nil, []string{"trend"})
		require.NoError(t, err)
		require.Equal(t, string(text), string(same))
		require.NoError(t, again.Observe(w.account, w.now))
		if n%3 == 0 {
			w.gate = again
		}
	}
	require.NotZero(t, w.gate.Scaled(1))
	other := risk.New(w.catalog, risk.Config{Account: risk.AccountLimits{Currency: 1, VolatilityTarget: 1,
		VolatilityInterval: market.Interval1d}, Strategies: make([]risk.Limits, 1)})
	text, err := w.gate.SaveCloses(nil, []string{"trend"})
	require.NoError(t, err)
	require.NoError(t, other.RestoreCloses(text, []string{"trend"}))
	use, _, err := other.Volatility(w.account)
	require.NoError(t, err)
	require.Len(t, use.Short, 3, "closes of another interval say nothing")
	require.Error(t, w.gate.RestoreCloses(text[:len(text)-9], []string{"trend"}))
}

// world is a gate with some markets in which prices move together, in part.
type world struct {
	t       testing.TB
	catalog *market.Catalog
	config  risk.Config
	account *state.Account
	gate    *risk.Gate
	now     market.Time
	id      market.OrderID
	closes  [][]market.Price // by market: all so far, one an hour
	prices  []float64
}

func newWorld(t testing.TB, markets int, limits risk.AccountLimits) *world {
	c, m := newMarket(t)
	for _, symbol := range []string{"ETH", "ADA"}[:markets-1] {
		_, err := c.AddAsset(symbol, 8)
		require.NoError(t, err)
		require.NoError(t, c.AddMarket(&market.Market{Name: symbol + "-EUR", PriceDigits: 2, Status: market.Trading,
			Rules: market.Rules{TickSize: 1, QuantityDecimals: 4, NotionalDecimals: 2}}))
	}
	limits.Currency = m.Quote
	w := &world{t: t, catalog: c, account: state.NewAccount(c, 1, nil), closes: make([][]market.Price, markets+1),
		config: risk.Config{Account: limits, Strategies: make([]risk.Limits, 1), Explain: true},
		prices: []float64{0, 100, 50, 2}[:markets+1]}
	w.gate = risk.New(c, w.config)
	w.apply(market.Event{Kind: market.KindTransfer, Asset: m.Quote, Money: 10_000 * eur})
	w.apply(market.Event{Kind: market.KindTransfer, Asset: m.Base, Money: 10 * btc, Market: m.ID, Price: 100 * at1})
	return w
}

func (w *world) apply(ev market.Event) {
	ev.At = w.now
	_, err := w.account.Apply(&ev)
	require.NoError(w.t, err)
}

// hour lets an hour go by that closes at these prices.
func (w *world) hour(prices ...market.Price) {
	var candles []market.Candle
	for i, price := range prices {
		w.closes[i+1] = append(w.closes[i+1], price)
		candles = append(candles, market.Candle{Market: market.ID(i + 1), Interval: market.Interval1h, Start: w.now,
			Close: price})
	}
	w.now += hour
	w.gate.Closes(candles)
	w.apply(market.Event{Kind: market.KindCandles, Candles: candles})
	require.NoError(w.t, w.gate.Observe(w.account, w.now))
}

// random moves all prices and buys or sells something.
func (w *world) random(r *rand.Rand) {
	together := r.NormFloat64() / 100
	var prices []market.Price
	for i := range w.prices[1:] {
		w.prices[i+1] = max(0.5, w.prices[i+1]*(1+together*float64(i-1)+r.NormFloat64()/200))
		prices = append(prices, market.Price(math.Round(w.prices[i+1]*at1/5))*5)
	}
	w.hour(prices...)
	m := market.ID(1 + r.IntN(len(prices)))
	if r.IntN(3) > 0 {
		w.buy(m, market.Qty(1+r.IntN(3000))*btc/market.Qty(prices[m-1])*at1)
	} else if held := w.account.Total(w.catalog.Market(m).Base).Total; held > 0 {
		w.apply(market.Event{Kind: market.KindTransfer, Asset: w.catalog.Market(m).Base,
			Money: -market.Money(r.Int64N(int64(held)) + 1)})
	}
}

// ask is the refusal of a market buy, nil: it passes.
func (w *world) ask(m market.ID, amount market.Qty) *risk.Refusal {
	c := atMarket(buy, amount)
	c.At, c.Order.Strategy, c.Order.Market = w.now, 1, m
	if _, err := w.gate.Check(w.account, &c); err != nil {
		var refused *risk.Refusal
		require.ErrorAs(w.t, err, &refused)
		return refused
	}
	return nil
}

// buy asks for a market buy, and lets it fill. An order of nothing: it was refused.
func (w *world) buy(m market.ID, amount market.Qty) market.Order {
	c := atMarket(buy, amount)
	c.At, c.Order.Strategy, c.Order.Market = w.now, 1, m
	approved, err := w.gate.Check(w.account, &c)
	if err != nil {
		return market.Order{}
	}
	w.id++
	c.Order.ID = w.id
	o := w.account.Send(&c.Order, approved.Hold())
	r := market.ReportOf(&o.Order, market.ExecTrade)
	r.Status, r.Updated, r.FilledAmount, r.AmountRemaining, r.OnHold = market.StatusFilled, w.now, o.Amount, 0, 0
	fill := market.Fill{ID: [16]byte{byte(o.ID), byte(o.ID >> 8)}, Order: o.ID, Market: m, Strategy: 1, Side: buy,
		Price: w.account.Last(m), Amount: o.Amount, Settled: true, Time: w.now}
	w.apply(market.Event{Kind: market.KindReport, Report: &r, Fills: []market.Fill{fill}})
	return c.Order
}

// expected works the volatility out anew, from the matrix of covariances, with so much more of a
// market.
func (w *world) expected(more market.ID, money float64) float64 {
	weight := func(m market.ID) float64 {
		v := math.Floor(float64(w.account.Last(m)) * float64(w.account.Total(w.catalog.Market(m).Base).Total) / btc)
		if m == more {
			v += money
		}
		equity, err := w.account.Equity(1)
		require.NoError(w.t, err)
		return v / float64(equity)
	}
	n := min(74, len(w.closes[1])-1)
	covariance := func(x, y market.ID) (sum float64) {
		of, total := len(w.closes[1])-1, 0.0
		for k := range n {
			back := func(m market.ID) float64 {
				return float64(w.closes[m][of-k])/float64(w.closes[m][of-k-1]) - 1
			}
			total += math.Pow(0.94, float64(k))
			sum += math.Pow(0.94, float64(k)) * back(x) * back(y)
		}
		return sum / total
	}
	variance := 0.0
	for x := range w.closes[1:] {
		for y := range w.closes[1:] {
			a, b := market.ID(x+1), market.ID(y+1)
			variance += weight(a) * weight(b) * covariance(a, b)
		}
	}
	return math.Sqrt(max(0, variance) * 365 * 24)
}

// The gate sums up one series of the account's returns, the twin the matrix of covariances.
func TestTheTargetAgreesWithATwinThatKnowsAllCovariances(t *testing.T) {
	scaled, whole, refused := 0, 0, 0
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 77))
		target := market.Rate(5+r.IntN(40)) * 1_000_000
		w := newWorld(t, 3, aTarget(target))
		for range 21 + r.IntN(100) {
			w.random(r)
			use, _, err := w.gate.Volatility(w.account)
			require.NoError(t, err)
			if len(use.Short) > 0 {
				continue
			}
			require.InDelta(t, w.expected(0, 0), float64(use.Expected)/1e8, 2e-8)
			m := market.ID(1 + r.IntN(3))
			cash, _ := w.account.Balance(1, 1)
			asked := market.Qty(1+r.Int64N(max(1, int64(cash)*9/10))) * btc / market.Qty(w.account.Last(m))
			if asked < btc/10 {
				continue
			}
			limit := max(float64(target)/1e8, w.expected(0, 0))
			c := atMarket(buy, asked)
			c.At, c.Order.Strategy, c.Order.Market = w.now, 1, m
			_, err = w.gate.Check(w.account, &c)
			value := func(amount market.Qty) float64 { return float64(w.account.Last(m)) * float64(amount) / btc }
			switch {
			case err != nil:
				require.ErrorContains(t, err, "volatility_target")
				require.Greater(t, w.expected(m, value(10_000)+5*eur), limit*(1-1e-9), "seed %d", seed)
				refused++
			case c.Order.Amount < asked/10_000*10_000:
				require.LessOrEqual(t, w.expected(m, value(c.Order.Amount)), limit*(1+1e-9), "seed %d", seed)
				require.Greater(t, w.expected(m, value(c.Order.Amount+10_000)+2), limit*(1-1e-9), "seed %d: too small",
					seed)
				scaled++
			default:
				require.LessOrEqual(t, w.expected(m, value(c.Order.Amount)), limit*(1+1e-9), "seed %d", seed)
				whole++
			}
		}
	}
	t.Logf("%d scaled, %d whole, %d refused", scaled, whole, refused)
	require.Greater(t, min(scaled, whole, refused), 20)
}

func TestAnAskBesideATargetAllocatesNothing(t *testing.T) {
	w := newWorld(t, 3, aTarget(30_000_000))
	r := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		w.random(r)
	}
	w.gate = gateOf(w, false)
	c := atMarket(buy, 3*btc)
	c.At, c.Order.Strategy, c.Order.Market = w.now, 1, 1
	ask, passed := c, 0
	require.Zero(t, testing.AllocsPerRun(100, func() {
		ask = c
		if _, err := w.gate.Check(w.account, &ask); err == nil {
			passed++
		}
	}))
	require.Positive(t, passed)
}

// gateOf is the gate of a world made anew with its closes, with or without figures.
func gateOf(w *world, explain bool) *risk.Gate {
	config := w.config
	config.Explain = explain
	gate := risk.New(w.catalog, config)
	text, err := w.gate.SaveCloses(nil, []string{"trend"})
	require.NoError(w.t, err)
	require.NoError(w.t, gate.RestoreCloses(text, []string{"trend"}))
	return gate
}

func BenchmarkAskBesideATarget(b *testing.B) {
	w := newWorld(b, 3, aTarget(30_000_000))
	r := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		w.random(r)
	}
	c := atMarket(buy, btc/10)
	c.At, c.Order.Strategy, c.Order.Market = w.now, 1, 1
	ask := c
	run := func(name string, gate *risk.Gate) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				ask = c
				if _, err := gate.Check(w.account, &ask); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("on", gateOf(w, false))
	run("off", risk.New(w.catalog, risk.Config{Account: risk.AccountLimits{Currency: 1},
		Strategies: make([]risk.Limits, 1)}))
}
