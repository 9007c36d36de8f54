package profit

import (
	"bytes"
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/view/chart"
)

// shelf is a Source in memory.
type shelf struct {
	catalog  *market.Catalog
	bookings []journal.Booking
	samples  map[string][]journal.EquitySample
	zone     string
}

func (s *shelf) Catalog() *market.Catalog { return s.catalog }

func (s *shelf) Bookings(from uint64, visit func(*journal.Booking) error) error {
	for i := range s.bookings {
		if err := visit(&s.bookings[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *shelf) Equity(strategy string, from, to market.Time) (list []journal.EquitySample, err error) {
	for _, one := range s.samples[strategy] {
		if one.At >= from && (to == 0 || one.At < to) {
			list = append(list, one)
		}
	}
	return list, nil
}

func (s *shelf) Runs() ([]journal.RunRow, error) {
	return []journal.RunRow{{Start: journal.Start{Currency: "EUR"}}}, nil
}

func (s *shelf) Blob(string) ([]byte, error) { return []byte(s.zone), nil }

func newShelf(t testing.TB) *shelf {
	c := &market.Catalog{}
	for _, a := range []market.Asset{{Symbol: "BTC", Digits: 8}, {Symbol: "ETH", Digits: 6},
		{Symbol: "EUR", Digits: 2}} {
		_, err := c.AddAsset(a.Symbol, a.Digits)
		require.NoError(t, err)
	}
	require.NoError(t, c.AddMarket(&market.Market{Name: "BTC-EUR", PriceDigits: 2}))
	require.NoError(t, c.AddMarket(&market.Market{Name: "ETH-EUR", PriceDigits: 5}))
	return &shelf{catalog: c, samples: map[string][]journal.EquitySample{}}
}

const hour = market.Time(time.Hour)

// trade books random fills of orders: buys and sales in turn, some in the wrong order, some with
// late fees.
func (s *shelf) trade(chance *rand.Rand, orders int, at market.Time) {
	held := map[string]market.Qty{}
	for order := market.OrderID(1); order <= market.OrderID(orders); order++ {
		strategy := []string{"grid", "trend"}[chance.IntN(2)]
		m := market.ID(1 + chance.IntN(2))
		key := strategy + s.catalog.Market(m).Name
		side, amount := market.Buy, market.Qty(1+chance.Int64N(1e8))
		if held[key] > 0 && chance.IntN(2) == 0 {
			side, amount = market.Sell, 1+market.Qty(chance.Int64N(int64(held[key])+1e6))
		}
		for range 1 + chance.IntN(3) {
			at += market.Time(chance.Int64N(int64(hour)))
			f := market.Fill{Market: m, Order: order, Side: side, Settled: chance.IntN(4) > 0,
				Price:  1 + market.Price(chance.Int64N(1e7)),
				Amount: amount/3 + 1, Fee: market.ValueOf(chance.Int64N(1e9)), Time: at}
			for i := range f.ID {
				f.ID[i] = byte(chance.Uint32())
			}
			held[key] += f.Amount
			if side == market.Sell {
				held[key] = max(0, held[key]-2*f.Amount)
			}
			row := journal.Booking{Kind: journal.BookedFill, Fill: f, StrategyName: strategy,
				Tag: []string{"", "stop", "target"}[chance.IntN(3)]}
			late := journal.Booking{Kind: journal.BookedFee, Fill: f}
			if late.Fill.Settled = true; !f.Settled {
				row.Fill.Fee = market.Value{}
			}
			s.bookings = append(s.bookings, row)
			if !f.Settled {
				s.bookings = append(s.bookings, late)
			}
		}
	}
	for range orders / 10 { // a fill is booked later than one that came after it
		if i := chance.IntN(len(s.bookings) - 1); s.bookings[i].Kind != journal.BookedFee &&
			s.bookings[i+1].Kind == journal.BookedFill && s.bookings[i].Fill.Settled {
			s.bookings[i], s.bookings[i+1] = s.bookings[i+1], s.bookings[i]
		}
	}
}

// naiveTrip is what an order has sold of a position, with big integers.
type naiveTrip struct{ amount, profit *big.Int }

// naiveTrips folds the fills of one position after the other, with big integers.
func naiveTrips(s *shelf) map[market.OrderID]*naiveTrip {
	fees, fills := map[uuid.UUID]market.Value{}, map[string][]journal.Booking{}
	for _, b := range s.bookings {
		if fees[b.Fill.ID] = b.Fill.Fee; b.Kind == journal.BookedFill {
			key := b.StrategyName + s.catalog.Market(b.Fill.Market).Name
			fills[key] = append(fills[key], b)
		}
	}
	trips := map[market.OrderID]*naiveTrip{}
	for _, list := range fills {
		slices.SortFunc(list, func(a, b journal.Booking) int {
			return cmp.Or(cmp.Compare(a.Fill.Time, b.Fill.Time), cmp.Compare(a.Fill.Order, b.Fill.Order),
				bytes.Compare(a.Fill.ID[:], b.Fill.ID[:]))
		})
		amount, cost := new(big.Int), new(big.Int)
		for _, b := range list {
			all, whole := big.NewInt(int64(b.Fill.Amount)), new(big.Int)
			whole.Mul(all, big.NewInt(int64(b.Fill.Price)))
			fee, _ := new(big.Int).SetString(fees[b.Fill.ID].String(), 10)
			if b.Fill.Side == market.Buy {
				amount.Add(amount, all)
				cost.Add(cost, whole.Add(whole, fee))
				continue
			}
			sold := new(big.Int).Set(all)
			if sold.Cmp(amount) > 0 {
				sold.Set(amount)
			}
			if sold.Sign() == 0 {
				continue
			}
			cash := whole.Sub(whole, fee)
			cash.Quo(cash.Mul(cash, sold), all)
			share := new(big.Int).Mul(cost, sold)
			share.Quo(share, amount)
			amount.Sub(amount, sold)
			cost.Sub(cost, share)
			if trips[b.Fill.Order] == nil {
				trips[b.Fill.Order] = &naiveTrip{new(big.Int), new(big.Int)}
			}
			t := trips[b.Fill.Order]
			t.amount.Add(t.amount, sold)
			t.profit.Add(t.profit, cash.Sub(cash, share))
		}
	}
	return trips
}

func TestRoundTripsAreThoseOfAFoldWithBigIntegers(t *testing.T) {
	for range 20 {
		seed := rand.Uint64()
		chance := rand.New(rand.NewPCG(seed, 1))
		s := newShelf(t)
		s.trade(chance, 200, 1_700_000_000_000_000_000)
		list, err := Trades(s, &Query{}, 0)
		require.NoError(t, err)
		want := naiveTrips(s)
		require.Len(t, list.Trades, len(want), "seed %d", seed)
		for _, one := range list.Trades {
			m, w := s.catalog.MarketNamed(one.Market), want[market.OrderID(one.Order)]
			profit, err := market.ParseValue(one.Profit, m.ValueDigits)
			require.NoError(t, err)
			require.Equal(t, []string{w.profit.String(), m.FormatQty(market.Qty(w.amount.Int64()))},
				[]string{profit.String(), one.Amount}, "seed %d, order %d", seed, one.Order)
		}
		for _, by := range Groups() {
			report, err := Profit(s, &Query{By: by, Zone: "Asia/Kathmandu"}, func(market.ID) market.Price { return 1 },
				0)
			require.NoError(t, err)
			sum, trips := 0, len(list.Trades)
			realised := market.Value{}
			for _, g := range report.Groups {
				part, err := market.ParseValue(g.Realised, 11)
				require.NoError(t, err)
				realised, err = realised.Add(part)
				require.NoError(t, err)
				sum += g.Trips
			}
			require.Equal(t, trips, sum, "seed %d by %s", seed, by)
			require.Equal(t, report.Total.Realised, realised.Format(11), "seed %d by %s", seed, by)
			require.Equal(t, list.Sums[0].Profit, report.Total.Realised)
		}
	}
}

// invested makes a random curve with flows and returns the naive figures of it: shares of a fund,
// bought and sold at their price, which have the time-weighted return, and the largest fall of that
// price by looking at all pairs.
func (s *shelf) invested(chance *rand.Rand) (weighted, drawdown float64, flows []flow, end market.Money) {
	equity, price, shares := 0.0, 1.0, 0.0
	prices := []float64{1}
	at := 1000 * hour
	for range 2 + chance.IntN(60) {
		at += hour
		if equity == 0 || chance.IntN(5) == 0 {
			money := math.Round(1e6 * (chance.Float64() - 0.4))
			if equity+money < 1e5 {
				money = 1e6
			}
			shares += money / price
			equity += money
			s.bookings = append(s.bookings, journal.Booking{Kind: journal.BookedTransfer, At: at, Asset: 3,
				Money: market.Money(money), Worth: journal.Worth{Known: true, Value: market.Money(money),
					Equity: market.Money(equity)}})
			flows = append(flows, flow{at: at, value: market.Money(money)})
			continue
		}
		equity = math.Round(equity * (0.8 + 0.4*chance.Float64()))
		price = equity / shares
		prices = append(prices, price)
		s.samples[""] = append(s.samples[""], journal.EquitySample{At: at, Equity: market.Money(equity),
			Low: market.Money(equity), High: market.Money(equity)})
	}
	for i := range prices {
		for j := i; j < len(prices); j++ {
			drawdown = max(drawdown, 1-prices[j]/prices[i])
		}
	}
	return price - 1, drawdown, flows, market.Money(equity)
}

func TestReturnsAreThoseOfAFundWithShares(t *testing.T) {
	for range 200 {
		seed := rand.Uint64()
		s := newShelf(t)
		weighted, drawdown, flows, end := s.invested(rand.New(rand.NewPCG(seed, 2)))
		c, err := Equity(s, &Query{}, 2000*hour)
		require.NoError(t, err)
		require.InDelta(t, weighted, *c.TimeWeighted, 1e-9, "seed %d", seed)
		require.InDelta(t, drawdown, *c.Drawdown, 1e-9, "seed %d", seed)
		require.InDelta(t, weighted, c.Samples[len(c.Samples)-1].Index-1, 1e-9)

		// the money-weighted rate lets the flows grow to the end
		if c.MoneyWeighted == nil {
			continue
		}
		sum, first := 0.0, flows[0].at
		for _, f := range flows {
			sum += float64(f.value) * math.Pow(1+*c.MoneyWeighted, float64(2000*hour+1-f.at)/float64(2000*hour+1-first))
		}
		require.InEpsilon(t, float64(end)+1e7, sum+1e7, 1e-6, "seed %d", seed)
	}
}

// whole is a shelf that hands out its samples from the first on, whatever is asked for.
type whole struct{ *shelf }

func (w whole) Equity(strategy string, _, to market.Time) ([]journal.EquitySample, error) {
	return w.shelf.Equity(strategy, 0, to)
}

func TestAPartOfACurveIsThatOfTheWholeOne(t *testing.T) {
	for range 100 {
		seed := rand.Uint64()
		chance := rand.New(rand.NewPCG(seed, 4))
		s := newShelf(t)
		s.invested(chance)
		for i := range s.bookings { // the equity of some flows is not known
			s.bookings[i].Worth.Known = chance.IntN(3) > 0
		}
		for _, since := range []market.Time{1000*hour + 1 + market.Time(chance.Int64N(int64(70*hour))), 1000 * hour} {
			q := &Query{Since: since.Std().Format(time.RFC3339Nano), By: ByDay}
			have, err := Equity(s, q, 2000*hour)
			require.NoError(t, err)
			want, err := Equity(whole{s}, q, 2000*hour)
			require.NoError(t, err)
			require.Equal(t, want, have, "seed %d", seed)
			days, err := Profit(s, q, nil, 2000*hour)
			require.NoError(t, err)
			all, err := Profit(whole{s}, q, nil, 2000*hour)
			require.NoError(t, err)
			require.Equal(t, all, days, "seed %d", seed)
		}
	}
}

// By Modified Dietz one flow in the middle counts half: a check of the exact rate by hand.
func TestMoneyWeightedReturnOfOneFlow(t *testing.T) {
	points := []point{{at: 0, before: 0, after: 100}, {at: 50, before: 100, after: 200},
		{at: 100, before: 220, after: 220}}
	r := moneyWeighted(nil, points, 0, 100)
	require.InDelta(t, 220, 100*(1+r)+100*math.Sqrt(1+r), 1e-9)
	require.InDelta(t, 0.1, measure(nil, points).weighted, 1e-12)
}

func TestAWithdrawalIsNoDrawdown(t *testing.T) {
	points := []point{{at: 1, before: 0, after: 1000}, {at: 2, before: 1100, after: 1100, low: 1050, high: 1100},
		{at: 3, before: 1100, after: 100, low: 1100, high: 1100}, {at: 4, before: 105, after: 105, low: 99, high: 105}}
	r := measure(nil, points)
	require.InDelta(t, 0.01, r.drawdown, 1e-12)
	require.InDelta(t, 1.1*1.05-1, r.weighted, 1e-12)
	require.EqualValues(t, 0, r.flows)
	require.EqualValues(t, 105, r.end)
}

func TestPeriodsAreThoseOfTheZone(t *testing.T) {
	zone, err := Zone("Europe/Berlin")
	require.NoError(t, err)
	at := func(text string) market.Time {
		moment, err := time.Parse(time.RFC3339, text)
		require.NoError(t, err)
		return market.Time(moment.UnixNano())
	}
	for _, c := range []struct{ at, by, name, from, to string }{
		{"2026-03-29T12:00:00Z", ByDay, "2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"}, // 23 hours
		{"2026-10-25T23:30:00Z", ByDay, "2026-10-26", "2026-10-25T23:00:00Z", "2026-10-26T23:00:00Z"},
		{"2026-11-22T23:30:00Z", ByWeek, "2026-11-23", "2026-11-22T23:00:00Z", "2026-11-29T23:00:00Z"},
		{"2026-11-22T22:30:00Z", ByWeek, "2026-11-16", "2026-11-15T23:00:00Z", "2026-11-22T23:00:00Z"},
		{"2026-12-31T23:30:00Z", ByMonth, "2027-01", "2026-12-31T23:00:00Z", "2027-01-31T23:00:00Z"},
		{"2026-07-01T00:00:00Z", ByYear, "2026", "2025-12-31T23:00:00Z", "2026-12-31T23:00:00Z"},
	} {
		from, to, name := PeriodOf(at(c.at), c.by, zone)
		require.Equal(t, []string{c.name, c.from, c.to}, []string{name, from.String(), to.String()}, c.at)
	}
	zone, err = Zone("America/Santiago") // clocks skip the first hour of 2026-09-06
	require.NoError(t, err)
	for _, c := range []struct{ at, name, from, to string }{
		{"2026-09-06T03:59:59Z", "2026-09-05", "2026-09-05T04:00:00Z", "2026-09-06T04:00:00Z"},
		{"2026-09-06T04:00:00Z", "2026-09-06", "2026-09-06T04:00:00Z", "2026-09-07T03:00:00Z"},
	} {
		from, to, name := PeriodOf(at(c.at), ByDay, zone)
		require.Equal(t, []string{c.name, c.from, c.to}, []string{name, from.String(), to.String()}, c.at)
		since, err := parseMoment(c.name, 0, zone)
		require.NoError(t, err)
		require.Equal(t, c.from, since.String())
	}
}

// What a command prints can be pasted into the next one.
func TestATimeThatATableShowsIsUnderstood(t *testing.T) {
	zone, err := Zone("Asia/Kolkata")
	require.NoError(t, err)
	for _, text := range []string{"2026-11-24 22:50:07", "2026-11-24T22:50:07", "2026-11-24T17:20:07Z",
		"2026-11-24T17:20:07.000Z"} {
		at, err := parseMoment(text, 0, zone)
		require.NoError(t, err)
		require.Equal(t, "2026-11-24T17:20:07Z", at.String(), text)
	}
}

func TestNothingHasNoSign(t *testing.T) {
	for text, part := range map[string]float64{"0.00%": -1e-7, "+0.01%": 1e-4, "-0.01%": -1e-4} {
		require.Equal(t, text, Part(&part, "%+.2f%%"))
	}
	require.False(t, math.Signbit(*known(-1e-16)))
}

func TestATimeThatEndsBeforeItBeginsIsRefused(t *testing.T) {
	s := newShelf(t)
	q := &Query{Since: "2026-11-02", Until: "2026-11-01"}
	_, err := Trades(s, q, 0)
	require.ErrorContains(t, err, "since 2026-11-02, until 2026-11-01: want the earlier time first")
}

// Rows of a curve begin with days of the asked zone.
func TestSpansOfACurveBeginAtMidnightOfTheZone(t *testing.T) {
	zone, err := Zone("Asia/Kolkata")
	require.NoError(t, err)
	for every, wants := range map[string][]string{"1d": {"18:15", "22:45"}, "12h": {"06:15", "18:15", "22:45"},
		"5h": {"04:45", "09:45", "14:45", "19:45", "22:45"}} {
		var points []point
		for at := market.Time(0); at < 23*hour; at += hour / 2 {
			points = append(points, point{at: at + hour/4, before: 1, after: 1})
		}
		span, err := (&Query{Every: every}).every()
		require.NoError(t, err)
		var have []string
		for _, s := range sampled(nil, points, &rows{every: span, zone: zone}, 2) {
			have = append(have, time.UnixMilli(s.AtMS).UTC().Format("15:04"))
		}
		require.Equal(t, wants, have, every)
	}
}

func TestAStrategyOrMarketThatTheBooksLackIsRefused(t *testing.T) {
	s := newShelf(t)
	s.trade(rand.New(rand.NewPCG(1, 1)), 10, 1_700_000_000_000_000_000)
	for want, q := range map[string]*Query{
		`strategy "gird": the bot has had none of that name; it has `:                     {Strategy: "gird"},
		`market "BTC-USD": the bot has traded none of that name; it has BTC-EUR, ETH-EUR`: {Market: "BTC-USD"},
	} {
		_, err := Trades(s, q, 0)
		require.ErrorContains(t, err, want)
		_, err = Profit(s, q, nil, 0)
		require.ErrorContains(t, err, want)
	}
	_, err := Equity(s, &Query{Strategy: "stop"}, 0)
	require.ErrorContains(t, err, `strategy "stop"`, "a tag is no strategy")
}

func TestTheLowestEquityBeforeTheFirstMoneyIsNoZero(t *testing.T) {
	points := []point{{at: 1, after: 500}, {at: 2, before: 500, after: 400, low: 500, high: 500}}
	samples := sampled(nil, points, &rows{}, 2)
	require.Equal(t, []string{"5", "4"}, []string{samples[0].Low, samples[1].Low})
}

func TestAQueryNamesWhatItDoesNotUnderstand(t *testing.T) {
	for want, q := range map[string]Query{
		"time zone": {Zone: "Mars"}, "want one of day": {By: "hour"}, "want a date": {Since: "soon"},
		"want a span": {Every: "1s"}, "want a date like": {Until: "3x"},
	} {
		require.ErrorContains(t, q.Check(), want)
	}
	require.NoError(t, (&Query{Zone: "UTC", By: ByTag, Since: "90d", Until: "2026-11-23T10:00", Every: "1d"}).Check())
}

// Half of a position leaves the account, as by a withdrawal: its strategy has neither won nor lost,
// and its part of the cost is gone with it.
func TestBaseThatLeavesAPositionIsNoGain(t *testing.T) {
	for _, own := range []bool{true, false} {
		s := newShelf(t)
		at := market.Time(1_774_500_000_000_000_000)
		row := func(minute market.Time, b journal.Booking) {
			b.At, b.StrategyName = at+minute*hour/60, "trend"
			b.Fill.Time = b.At
			s.bookings = append(s.bookings, b)
		}
		sample := func(minute market.Time, earned market.Money) {
			s.samples["trend"] = append(s.samples["trend"], journal.EquitySample{At: at + minute*hour/60,
				Equity: earned, Low: earned, High: earned})
		}
		if own {
			row(0, journal.Booking{Kind: journal.BookedTransfer, Asset: 3, Money: 1000_00,
				Worth: journal.Worth{Known: true, Value: 1000_00, Equity: 1000_00}})
		}
		row(1, journal.Booking{Kind: journal.BookedFill, Fill: market.Fill{Market: 1, Order: 1, Side: market.Buy,
			Price: 20000_00, Amount: 1_000_000, Fee: market.ValueOf(2_00_0000_0000), Settled: true}}) // for 200 EUR
		sample(2, 8_00) // at 21000, the cost is 202
		row(3, journal.Booking{Kind: journal.BookedTransfer, Asset: 1, Market: 1, Money: -500_000,
			Worth: journal.Worth{Known: true, Value: -105_00, Equity: 903_00}})
		sample(4, 4_00)
		sample(5, 9_00) // at 22000
		curve, err := Equity(s, &Query{Strategy: "trend"}, at+hour)
		require.NoError(t, err)
		report, err := Profit(s, &Query{By: ByStrategy}, func(market.ID) market.Price { return 22000_00 }, at+hour)
		require.NoError(t, err)
		last := curve.Samples[len(curve.Samples)-1]
		require.Equal(t, !own, curve.Earned)
		if !own {
			require.Equal(t, []string{"9", "0"}, []string{last.Equity, curve.Fall})
			continue
		}
		require.Equal(t, "908", last.Equity)
		for _, have := range []*float64{curve.TimeWeighted, report.Groups[0].Return} {
			require.InDelta(t, 1.008*908/903-1, *have, 1e-12)
		}
		require.Zero(t, *curve.Drawdown)
	}
}

// The days of a report are bars, each with what was sold and how the rest moved, and their sum ends
// at all of it. A day of a change of the clocks is 25 hours long.
func TestDaysAreBarsWithTheirSum(t *testing.T) {
	r := &ProfitReport{Zone: "Europe/Berlin", By: ByDay, Currency: "EUR", Groups: []Earned{
		{FromMS: 1_792_879_200_000, Realised: "10", Unrealised: "-2.5"}, // 2026-10-25
		{FromMS: 1_792_969_200_000, Realised: "-3", Unrealised: "0"}}}
	c, err := DaysChart(r)
	require.NoError(t, err)
	require.Equal(t, []chart.Bar{{From: 1_792_879_200, To: 1_792_969_200, Value: 7.5},
		{From: 1_792_969_200, To: 1_793_055_600, Value: -3}}, c.Panels[0].Layers[0].(chart.Bars).Bars)
	require.Equal(t, []chart.Point{{X: 1_792_879_200}, {X: 1_792_969_200, Y: 7.5}, {X: 1_793_055_600, Y: 4.5}},
		c.Panels[1].Layers[0].(chart.Line).Points)
	r.By = ByStrategy
	c, err = DaysChart(r)
	require.NoError(t, err)
	require.Nil(t, c)
}
