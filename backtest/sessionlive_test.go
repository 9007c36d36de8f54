package backtest

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// told is a strategy that does what a test tells it, and keeps its fills.
type told struct {
	strategy.Base
	onTicker func(*strategy.Desk, market.Ticker)
	onCandle func(*strategy.Desk, market.Candle)
	fills    []market.Fill
	heard    market.Time // of the latest one
}

func (s *told) OnTicker(d *strategy.Desk, t market.Ticker) {
	if s.onTicker != nil {
		s.onTicker(d, t)
	}
}

func (s *told) OnCandle(d *strategy.Desk, c market.Candle) {
	if s.onCandle != nil {
		s.onCandle(d, c)
	}
}

func (s *told) OnFill(d *strategy.Desk, f market.Fill) {
	s.fills, s.heard = append(s.fills, f), d.Now()
}

// second is a second of a session's time.
const second = market.Time(1_000_000_000)

// liveSession is a session of a strategy that a test tells what to do.
func liveSession(t *testing.T, s *told, change func(*Plan, *SessionOptions)) *Session {
	kind := strategy.Define("told", "for a test", func(struct{}) strategy.Needs { return strategy.Needs{Ticker: true} },
		func(struct{}, strategy.Setup) (strategy.Strategy, error) { return s, nil })
	p, _ := planOver(t, 1, 100_000_00, kind, nil)
	p.Open = nil
	o := SessionOptions{}
	if change != nil {
		change(p, &o)
	}
	made, err := NewSession(p, o)
	require.NoError(t, err)
	t.Cleanup(made.Close)
	require.NoError(t, made.Open(second, nil))
	return made
}

// ticker enters a ticker.
func ticker(t *testing.T, s *Session, at market.Time, last, bid, ask market.Price) {
	enter(t, s, &market.Event{Kind: market.KindTicker, At: at, Market: 1,
		Ticker: &market.Ticker{Market: 1, Last: last, Bid: bid, Ask: ask}})
}

func enter(t *testing.T, s *Session, ev *market.Event) {
	require.NoError(t, s.Enter(&market.Input{Kind: market.InputEvent, Event: ev}))
}

// candle enters a candle of a minute that closed two seconds before it arrives.
func candle(t *testing.T, s *Session, start market.Time, open, high, low, closed market.Price) {
	enter(t, s, &market.Event{Kind: market.KindCandles, At: start + 62*second, Candles: []market.Candle{{Market: 1,
		Interval: market.Interval1m, Start: start, Open: open, High: high, Low: low, Close: closed, Volume: 100}}})
}

func TestACommandArrivesAtTheQuoteThatStandsThen(t *testing.T) {
	asked := false
	s := &told{onTicker: func(d *strategy.Desk, tick market.Ticker) {
		if !asked {
			_, err := d.In(1).Buy(strategy.Amount(1_000_000))
			require.NoError(t, err)
			asked = true
		}
	}}
	run := liveSession(t, s, func(p *Plan, _ *SessionOptions) { p.Venue.Latency = 1500e6 })
	ticker(t, run, 10*second, 100_00, 99_90, 100_10)
	ticker(t, run, 11*second, 101_00, 100_90, 101_10)
	require.Empty(t, s.fills)
	ticker(t, run, 12*second, 105_00, 104_90, 105_10) // the order arrived at 11.5 s
	require.Len(t, s.fills, 1)
	require.Equal(t, market.Price(101_10), s.fills[0].Price)
	require.Equal(t, 11*second+second/2, s.fills[0].Time)
	require.True(t, s.fills[0].Taker)
}

func TestARestingOrderFillsWhenTheQuoteReachesIt(t *testing.T) {
	for _, row := range []struct {
		fill sim.LimitFill
		ask  market.Price // of the last ticker; the last price stays above the order
		want int
	}{
		{sim.Touch, 99_51, 0}, {sim.Touch, 99_50, 1}, {sim.Touch, 99_40, 1},
		{sim.Through, 99_50, 0}, {sim.Through, 99_49, 1},
	} {
		asked := false
		s := &told{onTicker: func(d *strategy.Desk, _ market.Ticker) {
			if !asked {
				_, err := d.In(1).Buy(strategy.Amount(1_000_000), strategy.At(99_50))
				require.NoError(t, err)
				asked = true
			}
		}}
		run := liveSession(t, s, func(p *Plan, _ *SessionOptions) { p.Venue.LimitFill = row.fill })
		ticker(t, run, 10*second, 100_00, 99_90, 100_10)
		ticker(t, run, 11*second, 100_00, 99_30, row.ask)
		require.Len(t, s.fills, row.want, "%s at an ask of %d", row.fill, row.ask)
		for _, f := range s.fills {
			require.Equal(t, market.Price(99_50), f.Price)
			require.False(t, f.Taker)
		}
	}
}

// A candle moves the market only where no ticker has: its low would fill the order.
func TestTheDataOfAMarketMovesIt(t *testing.T) {
	for _, tickers := range []bool{true, false} {
		asked := false
		s := &told{onCandle: func(d *strategy.Desk, _ market.Candle) {
			if !asked {
				_, err := d.In(1).Buy(strategy.Amount(1_000_000), strategy.At(99_50))
				require.NoError(t, err)
				asked = true
			}
		}}
		run := liveSession(t, s, nil)
		candle(t, run, 0, 100_00, 100_50, 99_80, 100_00)
		if tickers {
			ticker(t, run, 70*second, 100_00, 99_90, 100_10)
			ticker(t, run, 100*second, 99_70, 99_60, 99_80)
		}
		candle(t, run, 60*second, 100_00, 100_00, 99_00, 99_70)
		want := 1
		if tickers {
			want = 0
		}
		require.Len(t, s.fills, want, "tickers %v", tickers)
		quotes, paths := run.Moved(1)
		require.Equal(t, []int64{int64(2 - 2*want), int64(1 + want)}, []int64{quotes, paths})
		require.NoError(t, run.Account().Check())
	}
}

// known are facts about the orders of a test.
type known struct{ fate Fate }

func (k *known) Sent(*market.Command) Fate { return k.fate }

func (k *known) Restored(*market.Order) bool { return false }

func TestFactsTakeThePlaceOfTheModel(t *testing.T) {
	for _, row := range []struct {
		facts *known
		at    []market.Time // of each fill …
		price market.Price
		heard market.Time // … and when the strategy hears of the last
	}{
		{&known{}, []market.Time{10 * second}, 100_10, 10 * second},
		{&known{fate: Fate{Arrives: 12*second + 1}}, []market.Time{12*second + 1}, 102_10, 12*second + 1},
		{&known{fate: Fate{Arrives: 60 * second}}, nil, 0, 0},
		{&known{fate: Fate{Recorded: true}}, []market.Time{11 * second}, 98_00, 14 * second},
	} {
		asked, id := false, market.OrderID(0)
		s := &told{onTicker: func(d *strategy.Desk, _ market.Ticker) {
			if !asked {
				var err error
				id, err = d.In(1).Buy(strategy.Amount(1_000_000))
				require.NoError(t, err)
				asked = true
			}
		}}
		run := liveSession(t, s, func(_ *Plan, o *SessionOptions) { o.Facts = row.facts })
		for i := range market.Time(6) {
			price := market.Price(100_00 + 100*i)
			ticker(t, run, (10+i)*second, price, price-10, price+10)
			if row.facts.fate.Recorded && i == 4 {
				o := *run.Account().Order(id)
				o.Status, o.FilledAmount, o.AmountRemaining, o.Updated = market.StatusFilled, 1_000_000, 0, 11*second
				o.FilledAmountQuote, o.OnHold = market.ValueOf(98_00*1_000_000), 0
				report := market.ReportOf(&o, market.ExecTrade)
				enter(t, run, &market.Event{Kind: market.KindReport, At: 14 * second, Market: 1, Report: &report,
					Fills: []market.Fill{{ID: uuid.UUID{1}, Order: id, Market: 1, Strategy: 1, Side: market.Buy,
						Price:  98_00,
						Amount: 1_000_000, Time: 11 * second, Settled: true, FeeCurrency: o.FeeCurrency}}})
			}
		}
		require.NoError(t, run.Account().Check())
		require.Len(t, s.fills, len(row.at))
		for i, f := range s.fills {
			require.Equal(t, row.at[i], f.Time)
			require.Equal(t, row.price, f.Price)
			require.Equal(t, row.heard, s.heard)
		}
		for _, a := range run.Account().Catalog().Assets() {
			require.Equal(t, run.d.venue.Balance(a.ID).Total, run.Account().Total(a.ID).Total, a.Symbol)
		}
	}
}

// liveInputs makes of candles of a minute what a live bot receives: four tickers of each, and the
// candle two seconds after its close.
func liveInputs(candles []market.Candle, half market.Price) (all []market.Input) {
	add := func(ev market.Event) { all = append(all, market.Input{Kind: market.InputEvent, Event: &ev}) }
	for i := range candles {
		c := &candles[i]
		for k, price := range sim.Adaptive.Points(c, false) {
			at := c.Start + market.Time(k)*19*second
			add(market.Event{Kind: market.KindTicker, At: at, Market: c.Market, Ticker: &market.Ticker{Market: c.Market,
				Last: price, Bid: price - half, Ask: price + half, BidSize: 100_000_000, AskSize: 100_000_000}})
			if k == 0 && i > 0 {
				add(market.Event{Kind: market.KindCandles, At: c.Start + 2*second, Candles: candles[i-1 : i : i]})
			}
		}
	}
	return all
}

func enterAll(t *testing.T, s *Session, inputs []market.Input) {
	for i := range inputs {
		require.NoError(t, s.Enter(&inputs[i]))
	}
	require.NoError(t, s.Account().Check())
}

// A session that is restored in the middle goes on as the one that was saved.
func TestARestoredSessionGoesOnAsTheSavedOne(t *testing.T) {
	fills := 0
	for _, kind := range shipped.Definitions() {
		for _, latency := range []market.Duration{0, 1500e6} {
			p := shippedPlan(t, kind, 1)
			p.From, p.Venue.Latency, p.Open = 0, latency, nil
			all := minutes(t, p.Catalog.Markets()[0], 2400)
			live := liveInputs(all, 1_00)
			one, err := NewSession(p, SessionOptions{})
			require.NoError(t, err)
			require.NoError(t, one.Open(all[0].Start, nil))
			middle := len(live)/2 + 1 // 1,199 candles have arrived, and commands may be under way
			enterAll(t, one, live[:middle])
			saved := map[string][]byte{}
			require.NoError(t, one.Engine().SaveAll(func(part string, data []byte) error {
				if data != nil {
					saved[part] = slices.Clone(data)
				}
				return nil
			}))
			other, err := NewSession(p, SessionOptions{Unrecorded: true})
			require.NoError(t, err)
			require.NoError(t, other.Restore(one.Engine().Now(), saved, all[:1199]))
			enterAll(t, one, live[middle:])
			enterAll(t, other, live[middle:])
			result, err := one.End(t.Context())
			require.NoError(t, err)
			fills += int(result.Orders.Fills)
			_, err = other.End(t.Context())
			require.NoError(t, err)
			a, err := one.Account().Equity(p.Currency.ID)
			require.NoError(t, err)
			b, err := other.Account().Equity(p.Currency.ID)
			require.NoError(t, err)
			require.Equal(t, a, b, "%s, latency %s, %d orders", kind.Name, latency, result.Orders.Orders)
			require.Equal(t, one.Account().Total(1), other.Account().Total(1), kind.Name)
		}
	}
	require.Positive(t, fills)
}

// A candle that changes nothing is newer than the quote before it: the next order waits for what
// moves the market next.
func TestAQuoteDoesNotStandBehindAQuietCandle(t *testing.T) {
	closes := 0
	s := &told{onCandle: func(d *strategy.Desk, _ market.Candle) {
		if closes++; closes == 2 {
			_, err := d.In(1).Buy(strategy.Amount(1_000_000))
			require.NoError(t, err)
		}
	}}
	run := liveSession(t, s, nil)
	candle(t, run, 0, 100_00, 100_50, 99_80, 100_00)
	ticker(t, run, 70*second, 100_00, 99_90, 100_10)
	candle(t, run, 120*second, 101_00, 102_00, 101_00, 102_00)
	require.Empty(t, s.fills)
	candle(t, run, 180*second, 103_00, 103_00, 103_00, 103_00)
	require.Len(t, s.fills, 1)
	require.Equal(t, market.Price(103_00), s.fills[0].Price)
}
