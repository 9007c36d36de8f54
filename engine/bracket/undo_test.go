package bracket

import (
	"errors"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// fake is an engine that takes or refuses what brackets send, by chance.
type fake struct {
	chance *rand.Rand
	own    map[market.OrderID]*state.Order
	newest market.OrderID
}

func (f *fake) refuses() error {
	if f.chance.IntN(4) == 0 {
		return errors.New("refused")
	}
	return nil
}

func (f *fake) add(o market.Order) *state.Order {
	f.newest++
	o.ID, o.AmountRemaining = f.newest, o.Amount
	own := &state.Order{Order: o, State: state.Sent, InFlight: market.CommandPlace}
	f.own[o.ID] = own
	return own
}

func (f *fake) Last(market.ID) market.Price            { return 100_00 }
func (f *fake) Own(id market.OrderID) *state.Order     { return f.own[id] }
func (f *fake) Unprotect(o *state.Order)               { o.Bracket = market.Bracket{} }
func (f *fake) CancelAll(market.StrategyID, market.ID) {}
func (f *fake) Place(c *market.Command, _ bool) (market.OrderID, error) {
	if err := f.refuses(); err != nil {
		return 0, err
	}
	return f.add(c.Order).ID, nil
}

func (f *fake) Update(c *market.Command, _ bool) error {
	if f.own[c.Order.ID] == nil {
		return errors.New("gone")
	}
	return f.refuses()
}

func (f *fake) Cancel(id market.OrderID, _ bool) {
	if o := f.own[id]; o != nil {
		o.InFlight = market.CommandCancel
	}
}

func (f *fake) Position(market.StrategyID, market.ID) (held, free market.Qty) { return 1e12, 1e12 }
func (f *fake) Pending(market.StrategyID, market.ID, market.OrderID) bool {
	return f.chance.IntN(2) == 0
}
func (f *fake) Main(market.StrategyID) market.Interval { return market.Interval1m }
func (f *fake) TakerFee(market.ID) market.Rate         { return 250_000 }
func (f *fake) Cost(market.StrategyID, market.ID, market.Qty) market.Value {
	return market.ValueOf(1000)
}
func (f *fake) Newest() market.OrderID { return f.newest }
func (f *fake) MayLeave(market.StrategyID, market.ID, market.Qty) (market.OrderID, error) {
	return f.newest, nil
}

func (f *fake) MayClose(market.StrategyID, market.ID, market.Qty) (market.OrderID, error) {
	return f.newest, f.refuses()
}
func (f *fake) Buyers(market.OrderID) []market.OrderID { return nil }
func (f *fake) Moved(*strategy.StopMoved)              {}
func (f *fake) PartReached(*strategy.PartReached)      {}

// levels are exits by chance, around the price of 100.
func (f *fake) levels() (levels market.Bracket) {
	if f.chance.IntN(4) > 0 {
		levels.Stop = market.Price(90_00 + f.chance.IntN(900))
	}
	if levels.Stop == 0 || f.chance.IntN(4) > 0 {
		levels.Target = market.Price(101_00 + f.chance.IntN(900))
	}
	levels.Keep = market.Leg(f.chance.IntN(2))
	return levels
}

// any draws the number of an order of the fake, or the next number, which no order has yet.
func (f *fake) any() market.OrderID { return market.OrderID(1 + f.chance.IntN(int(f.newest)+1)) }

// asks does what a strategy may do within a callback.
func (f *fake) asks(s *Set) {
	id, m := market.StrategyID(1+f.chance.IntN(2)), market.ID(1+f.chance.IntN(2))
	amount := market.Qty(1 + f.chance.IntN(1e6))
	switch f.chance.IntN(9) {
	case 0, 1, 2:
		o := market.Order{Strategy: id, Market: m, Side: market.Buy, Bracket: f.levels()}
		o.Amount = amount
		s.Open(&f.add(o).Order)
	case 3:
		f.newest++
		_ = s.Protect(f.newest, id, m, amount, f.levels())
	case 4:
		s.End(id, f.any())
	case 5:
		if order := f.any(); s.of(order) != nil {
			levels := f.levels()
			_ = s.SetLevels(order, levels.Stop, levels.Target)
		}
	case 6:
		s.Follows(f.any(), strategy.Follow{Trail: market.Rate(f.chance.IntN(3)) * market.Percent})
	case 7:
		_ = s.Close(&Leave{Strategy: id, Market: m, Whole: f.chance.IntN(2) == 0, Amount: amount, Last: f.newest})
	case 8:
		entry := f.any()
		s.KeepOpen(entry)
		if f.chance.IntN(2) == 0 {
			s.Finish(entry)
		}
	}
}

// happens lets the exchange answer, and time pass.
func (f *fake) happens(s *Set, clock *market.Time) {
	*clock += market.Time(f.chance.Int64N(40e9))
	s.Candles([]market.Candle{{Market: 1, Interval: market.Interval1m, Start: *clock, Close: market.Price(
		85_00 + f.chance.IntN(3000))}})
	s.Price(market.ID(1+f.chance.IntN(2)), market.Price(85_00+f.chance.IntN(3000)))
	if o := f.own[f.any()]; o != nil && !o.State.Terminal() {
		o.State, o.InFlight = state.Open, 0
		var fresh []market.Fill
		if o.AmountRemaining > 0 && f.chance.IntN(2) == 0 {
			sold := 1 + market.Qty(f.chance.Int64N(int64(o.AmountRemaining)))
			o.AmountRemaining -= sold
			fresh = append(fresh, market.Fill{Order: o.ID, Market: o.Market, Amount: sold, Price: 100_00, Time: *clock})
		}
		if o.AmountRemaining == 0 {
			o.State = state.Filled
		} else if f.chance.IntN(4) == 0 {
			o.State = state.Canceled
		}
		s.Follow(o, &market.Report{Order: o.ID}, fresh, 1e12)
		if o.State.Terminal() {
			delete(f.own, o.ID)
		}
	}
	s.Retry()
}

// A callback that is taken back leaves the brackets as a copy of them all before it has them.
func TestARollbackRestoresWhatACopyOfAllHas(t *testing.T) {
	var catalog market.Catalog
	for _, symbol := range []string{"EUR", "BTC", "ETH"} {
		_, err := catalog.AddAsset(symbol, 8)
		require.NoError(t, err)
	}
	for _, name := range []string{"BTC-EUR", "ETH-EUR"} {
		require.NoError(t, catalog.AddMarket(&market.Market{Name: name, PriceDigits: 2, VolumeDigits: 4,
			Rules: market.Rules{QuantityDecimals: 8, NotionalDecimals: 2, TickSize: 1}}))
	}
	undone, bare := 0, 0
	for seed := range uint64(300) {
		f := &fake{chance: rand.New(rand.NewPCG(seed, 1)), own: map[market.OrderID]*state.Order{}}
		clock := market.Time(1e18)
		s := New(&catalog, &clock, f)
		for range 60 {
			before := append([]bracket(nil), s.all...)
			closes, exits := append([]closing(nil), s.closes.all...), maps.Clone(s.entryOf)
			own, newest := map[market.OrderID]state.Order{}, f.newest
			for id, o := range f.own {
				own[id] = *o
			}
			s.Mark()
			for range f.chance.IntN(5) {
				f.asks(s)
			}
			if f.chance.IntN(3) == 0 {
				undone += len(s.undo)
				for id := range f.own {
					if delete(f.own, id); id <= newest {
						kept := own[id]
						f.own[id] = &kept
					}
				}
				s.Rollback(func(market.OrderID) {})
				for i := range before {
					before[i].watched = s.watchOf(&before[i])
				}
				require.Equal(t, before, append([]bracket(nil), s.all...), "seed %d", seed)
				require.Equal(t, exits, s.entryOf)
				require.Equal(t, closes, append([]closing(nil), s.closes.all...))
			}
			s.Unmark()
			require.NoError(t, s.Check(), "seed %d", seed)
			f.happens(s, &clock)
			bare += len(s.bare)
			require.NoError(t, s.Check(), "seed %d", seed)
		}
	}
	require.Greater(t, undone, 1000)
	require.Greater(t, bare, 1000)
}
