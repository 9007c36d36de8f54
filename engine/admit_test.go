package engine_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/internal/goroutine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

func TestADeskUsedFromAnotherGoroutineHaltsItsStrategy(t *testing.T) {
	uses := map[string]func(d *strategy.Desk) error{
		"place":      func(d *strategy.Desk) error { _, err := d.In(1).Buy(strategy.Amount(btc)); return err },
		"update":     func(d *strategy.Desk) error { return d.Update(1, strategy.At(at1)) },
		"cancel":     func(d *strategy.Desk) error { return d.Cancel(1) },
		"CancelAll":  func(d *strategy.Desk) error { return d.CancelAll() },
		"Protect":    func(d *strategy.Desk) error { _, err := d.In(1).Protect(strategy.StopAt(at1)); return err },
		"Target":     func(d *strategy.Desk) error { _, err := d.In(1).Target(strategy.Amount(btc)); return err },
		"Position":   func(d *strategy.Desk) error { d.In(1).Position(); return strategy.ErrElsewhere },
		"Last":       func(d *strategy.Desk) error { d.In(77).Last(); return strategy.ErrElsewhere },
		"Balance":    func(d *strategy.Desk) error { d.Balance(77); return strategy.ErrElsewhere },
		"Cash":       func(d *strategy.Desk) error { d.In(77).Cash(); return strategy.ErrElsewhere },
		"Market":     func(d *strategy.Desk) error { d.In(77).Market(); return strategy.ErrElsewhere },
		"OpenOrders": func(d *strategy.Desk) error { d.OpenOrders(); return strategy.ErrElsewhere },
		"Order":      func(d *strategy.Desk) error { d.Order(1); return strategy.ErrElsewhere },
		"Timer":      func(d *strategy.Desk) error { d.Timer(0, 1); return strategy.ErrElsewhere },
		"Now":        func(d *strategy.Desk) error { d.Now(); return strategy.ErrElsewhere },
	}
	for name, use := range uses {
		t.Run(name, func(t *testing.T) {
			b := one(t, &script{candle: once(func(d *strategy.Desk) {
				d.In(1).Buy(strategy.Amount(btc), strategy.At(50*at1))
				answered := make(chan error)
				go func() { answered <- use(d) }()
				require.ErrorIs(t, <-answered, strategy.ErrElsewhere)
			})})
			b.flat(2, 100)
			require.Len(t, b.engine.Halts(), 1)
			require.Contains(t, b.engine.Halts()[0].Reason, "Desk."+name+" was called from another goroutine")
			require.NotEmpty(t, b.engine.Stack(1))
			require.Empty(t, b.sent, "what the callback asked for is dropped")
		})
	}
}

func TestADeskUsedBetweenCallbacksHaltsItsStrategyWithTheNextStep(t *testing.T) {
	var desk *strategy.Desk
	b := one(t, &script{candle: func(d *strategy.Desk, _ market.Candle) { desk = d }})
	b.flat(1, 100)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err := desk.In(1).Buy(strategy.Amount(btc))
		require.ErrorIs(t, err, strategy.ErrElsewhere)
	}()
	<-done
	_, err := desk.In(1).Buy(strategy.Amount(btc))
	require.ErrorIs(t, err, strategy.ErrElsewhere, "the goroutine of the engine, and no callback")
	require.Empty(t, b.engine.Halts())
	b.flat(1, 100)
	require.Len(t, b.engine.Halts(), 1)
	require.Empty(t, b.sent)
}

func TestAnotherStrategysDeskCannotBeUsed(t *testing.T) {
	var desk *strategy.Desk
	owner := &script{candle: func(d *strategy.Desk, _ market.Candle) { desk = d }}
	thief := &script{candle: func(*strategy.Desk, market.Candle) { desk.In(1).Buy(strategy.Amount(btc)) }}
	b := newBench(t, setup{slots: []engine.StrategyConfig{{Name: "owner", Strategy: owner}, {Name: "thief",
		Strategy: thief}}})
	b.flat(2, 100)
	require.Len(t, b.engine.Halts(), 1)
	require.Equal(t, "panic: Desk.place of strategy owner was called in a callback of thief",
		b.engine.Halts()[0].Reason)
}

// goner ends its goroutine in a callback.
type goner struct {
	strategy.Base
	in    engine.CallbackKind
	calls int
}

func (s *goner) end(d *strategy.Desk, in engine.CallbackKind) {
	if s.calls++; s.in == in {
		d.In(1).Buy(strategy.Amount(btc))
		runtime.Goexit()
	}
}

func (s *goner) OnCandle(d *strategy.Desk, _ market.Candle) {
	if s.in == engine.CallFill || s.in == engine.CallOrder {
		d.In(1).Buy(strategy.Amount(btc))
	}
	s.end(d, engine.CallCandle)
}
func (s *goner) OnTicker(d *strategy.Desk, _ market.Ticker)    { s.end(d, engine.CallTicker) }
func (s *goner) OnBook(d *strategy.Desk, _ strategy.OrderBook) { s.end(d, engine.CallBook) }
func (s *goner) OnFill(d *strategy.Desk, _ market.Fill)        { s.end(d, engine.CallFill) }
func (s *goner) OnOrder(d *strategy.Desk, _ market.Order, _ market.Report) {
	s.end(d, engine.CallOrder)
}
func (s *goner) OnTimer(d *strategy.Desk, _ int64) { s.end(d, engine.CallTimer) }
func (s *goner) OnStart(d *strategy.Desk)          { d.Timer(start, 1); s.end(d, engine.CallStart) }
func (s *goner) OnStop(d *strategy.Desk)           { s.end(d, engine.CallStop) }

func TestACallbackThatEndsItsGoroutineIsAHalt(t *testing.T) {
	for in := engine.CallStart; in <= engine.CallTimer; in++ {
		t.Run(in.String(), func(t *testing.T) {
			seen, gone := 0, &goner{in: in}
			b := newBench(t, setup{apart: goroutine.Call, slots: []engine.StrategyConfig{
				{Strategy: gone, Ticker: true, Book: true},
				{Strategy: &script{candle: func(*strategy.Desk, market.Candle) { seen++ }}},
			}})
			b.send(b.engine.Start(start))
			b.flat(2, 100)
			b.step(&market.Event{Kind: market.KindTimer, At: b.now})
			b.step(&market.Event{Kind: market.KindTicker, At: b.now, Ticker: &market.Ticker{Market: 1, Last: 100}})
			b.step(&market.Event{Kind: market.KindBook, At: b.now, Book: &market.OrderBook{Market: 1}})
			b.flat(2, 100)
			b.send(b.engine.Stop(b.now))
			require.Equal(t, 4, seen, "the other one goes on")
			require.Len(t, b.engine.Halts(), 1)
			require.Contains(t, b.engine.Halts()[0].Reason, "runtime.Goexit")
			require.Contains(t, string(b.engine.Stack(1)), "goner")
		})
	}
}

func TestTimersForNowWithoutEndHaltTheirStrategy(t *testing.T) {
	for name, ahead := range map[string]market.Time{"now": 0, "before": -minute, "a nanosecond ahead": 1} {
		t.Run(name, func(t *testing.T) {
			rings := 0
			b := one(t, &script{
				candle: once(func(d *strategy.Desk) { d.Timer(d.Now(), 1) }),
				timer:  func(d *strategy.Desk, _ int64) { rings++; d.Timer(d.Now()+ahead, 1) },
			})
			b.flat(1, 100)
			for range 100 {
				if at, waiting := b.engine.NextTimer(); waiting {
					b.step(&market.Event{Kind: market.KindTimer, At: max(at, b.engine.Now())})
				}
			}
			require.Equal(t, 17, rings)
			require.Len(t, b.engine.Halts(), 1)
			require.Contains(t, b.engine.Halts()[0].Reason, "16 timers in a row")
		})
	}
	b := one(t, &script{ // many at once, and each a minute on, are no such row
		candle: once(func(d *strategy.Desk) {
			for i := range int64(50) {
				d.Timer(d.Now(), i)
			}
		}),
		timer: func(d *strategy.Desk, name int64) { d.Timer(d.Now()+minute, name) },
	})
	b.flat(30, 100)
	require.Empty(t, b.engine.Halts())
}

func TestMeaninglessAsksAreRefusedWithWords(t *testing.T) {
	asks := map[string]func(d *strategy.Desk) error{
		"InForce(9)": func(d *strategy.Desk) error {
			_, err := d.In(1).Buy(strategy.Amount(btc), strategy.At(at1), strategy.InForce(9))
			return err
		},
		"InForce(0)": func(d *strategy.Desk) error {
			_, err := d.In(1).Buy(strategy.Amount(btc), strategy.At(at1), strategy.InForce(0))
			return err
		},
		"SelfTrade(9)": func(d *strategy.Desk) error {
			_, err := d.In(1).Buy(strategy.Amount(btc), strategy.At(at1), strategy.SelfTrade(9))
			return err
		},
		"Keep(9)": func(d *strategy.Desk) error {
			_, err := d.In(1).Buy(strategy.Amount(btc), strategy.StopAt(at1), strategy.Keep(9))
			return err
		},
		"Reference(9)": func(d *strategy.Desk) error {
			_, err := d.In(1).Sell(strategy.Amount(btc), strategy.StopLoss(at1), strategy.Reference(9))
			return err
		},
		"side 9": func(d *strategy.Desk) error {
			_, err := d.In(1).Place(9, strategy.Amount(btc), strategy.At(at1))
			return err
		},
		"side 0": func(d *strategy.Desk) error {
			_, err := d.In(1).Place(0, strategy.Amount(btc), strategy.StopLoss(at1))
			return err
		},
		"At(0)": func(d *strategy.Desk) error {
			_,
				err := d.In(1).Buy(strategy.Amount(btc), strategy.At(0))
			return err
		},
		"At(-5)":       func(d *strategy.Desk) error { return d.Update(1, strategy.At(-5)) },
		"Resize(0)":    func(d *strategy.Desk) error { return d.Update(1, strategy.Resize(strategy.Amount(0))) },
		"Trigger(-1)":  func(d *strategy.Desk) error { return d.Update(1, strategy.Trigger(-1)) },
		"Exits(-1)":    func(d *strategy.Desk) error { return d.Update(1, strategy.Exits(-1, 0)) },
		"target of -1": func(d *strategy.Desk) error { return d.Update(1, strategy.Exits(1, -1)) },
		"zero":         func(d *strategy.Desk) error { return d.Update(1, strategy.Option{}) },
		"order -1":     func(d *strategy.Desk) error { return d.Cancel(-1) },
		"order 0":      func(d *strategy.Desk) error { return d.Update(0, strategy.At(at1)) },
		"amount -1":    func(d *strategy.Desk) error { _, err := d.In(1).Sell(strategy.Amount(-1)); return err },
		"-1 quote":     func(d *strategy.Desk) error { _, err := d.In(1).Buy(strategy.Money(-1)); return err },
		"Target(-1)":   func(d *strategy.Desk) error { _, err := d.In(1).Target(strategy.Amount(-1)); return err },
		"market 9":     func(d *strategy.Desk) error { _, err := d.In(9).Target(strategy.Amount(btc)); return err },
		"market 0":     func(d *strategy.Desk) error { _, err := d.In(0).Protect(strategy.StopAt(at1)); return err },
		"market 7":     func(d *strategy.Desk) error { return d.In(7).CancelAll() },
		"StopAt(-2)":   func(d *strategy.Desk) error { _, err := d.In(1).Protect(strategy.StopAt(-2)); return err },
		"market 65000": func(d *strategy.Desk) error { _, err := d.In(65000).Protect(strategy.StopAt(1)); return err },
		"TakeProfit(-1234)": func(d *strategy.Desk) error {
			_,
				err := d.In(1).Sell(strategy.Amount(btc), strategy.TakeProfit(-1234))
			return err
		},
	}
	for name, ask := range asks {
		t.Run(name, func(t *testing.T) {
			asked := false
			b := one(t, &script{candle: once(func(d *strategy.Desk) {
				err := ask(d)
				require.ErrorIs(t, err, strategy.ErrMeaningless)
				require.ErrorContains(t, err, name)
				asked = true
			})})
			b.flat(2, 100)
			require.True(t, asked)
			require.Empty(t, b.sent)
			require.Empty(t, b.engine.Halts())
		})
	}
	b := one(t, &script{candle: once(func(d *strategy.Desk) {
		_, err := d.In(9).Buy(strategy.Amount(btc))
		require.ErrorContains(t, err, "unknown_market")
		require.ErrorContains(t, d.Cancel(77), "no_such_order")
		_, open := d.Order(-3)
		require.False(t, open)
	})})
	b.flat(2, 100)
	require.Empty(t, b.engine.Halts())
}

func TestReadingWhatTheRunDoesNotHaveHaltsWithWords(t *testing.T) {
	for name, read := range map[string]func(d *strategy.Desk){
		"Position of market 9":     func(d *strategy.Desk) { d.In(9).Position() },
		"Last of market 0":         func(d *strategy.Desk) { d.In(0).Last() },
		"Cash of market 65535":     func(d *strategy.Desk) { d.In(65535).Cash() },
		"Market of market 9":       func(d *strategy.Desk) { d.In(9).Market() },
		"OpenOrders of market 300": func(d *strategy.Desk) { d.In(300).OpenOrders() },
		"Balance of asset 9":       func(d *strategy.Desk) { d.Balance(9) },
	} {
		t.Run(name, func(t *testing.T) {
			b := one(t, &script{candle: once(read)})
			b.flat(2, 100)
			require.Len(t, b.engine.Halts(), 1)
			require.Contains(t, b.engine.Halts()[0].Reason, "Desk."+name)
		})
	}
}
