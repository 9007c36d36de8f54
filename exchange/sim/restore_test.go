package sim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// lived is a venue with a Book, a house and three accounts, and everything that it has told.
type lived struct {
	venue   *Venue
	catalog *market.Catalog
	told    []string
}

// settings of the venues whose lives are compared.
type livedConfig struct {
	house    Liquidity
	rounding exchange.FeeRounding
	fees     exchange.Fees
}

func newLived(t require.TestingT, c livedConfig) *lived {
	l := &lived{catalog: &market.Catalog{}}
	for _, symbol := range [...]string{"EUR", "BTC"} {
		_, err := l.catalog.AddAsset(symbol, 4)
		require.NoError(t, err)
	}
	require.NoError(t, l.catalog.AddMarket(&market.Market{Name: "BTC-EUR", PriceDigits: 2,
		Rules: market.Rules{QuantityDecimals: 4, NotionalDecimals: 4, TickSize: 5}}))
	fees := func(*market.Market) exchange.Fees { return c.fees }
	l.venue = New(l.catalog,
		Config{Book: true, Fees: fees, FeeRounding: c.rounding,
			Liquidity: func(*market.Market) Liquidity { return c.house }}, l.hear)
	for range 2 {
		l.venue.OpenAccount(fees)
	}
	return l
}

func (l *lived) hear(ev *market.Event) {
	l.told = append(l.told, fmt.Sprintf("%d %+v %+v", ev.At, *ev.Report, ev.Fills))
}

// again is the venue anew, from what can be asked of it, as text and back.
func (l *lived) again(t require.TestingT, c livedConfig) *lived {
	next := newLived(t, c)
	was := l.catalog.Market(1)
	next.catalog.Market(1).Status, next.catalog.Market(1).TickSize = was.Status, was.TickSize
	state := l.venue.BookState(1)
	next.venue.Resume(1, &state)
	for a := range AccountID(3) {
		for asset := market.AssetID(1); asset <= 2; asset++ {
			require.NoError(t, next.venue.Transfer(a, asset, l.venue.BalanceOf(a, asset).Total))
		}
	}
	var all []Resting
	for id := range market.OrderID(200) {
		r, ok := l.venue.Snapshot(id)
		if !ok {
			continue
		}
		text, err := json.Marshal(r.Settlement)
		require.NoError(t, err)
		r.Settlement = exchange.Settlement{}
		require.NoError(t, json.Unmarshal(text, &r.Settlement))
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b Resting) int { return cmp.Compare(a.Sequence, b.Sequence) })
	for i := range all {
		require.NoError(t, next.venue.Restore(l.venue.Owner(all[i].Order.ID), &all[i]))
	}
	return next
}

// view is everything that can be seen of a venue.
func (l *lived) view() string {
	bids, asks := l.venue.AppendDepth(1, 100, nil, nil)
	text := fmt.Sprintln(bids, asks, l.venue.AppendCounts(1, market.Buy, bids, nil), l.venue.Last(1),
		l.catalog.Market(1).Status)
	for a := range AccountID(3) {
		text += fmt.Sprintln(l.venue.BalanceOf(a, 1), l.venue.BalanceOf(a, 2), l.venue.accounts.list[a].markets[1].open)
	}
	for id := range market.OrderID(200) {
		if o := l.venue.Order(id); o != nil {
			text += fmt.Sprintf("%+v\n", *o)
		}
	}
	return text
}

// move is one thing that happens to a venue.
type move func(v *Venue) (*exchange.Error, error)

// drawMove draws a command of some account, a movement of the price, or another status of the
// market.
func drawMove(t *rapid.T, at market.Time, next *market.OrderID) move {
	price := func() market.Price { return 100_00 + 5*market.Price(rapid.IntRange(-15, 15).Draw(t, "price")) }
	event := &market.Event{At: at, Market: 1}
	account := AccountID(rapid.IntRange(0, 2).Draw(t, "account"))
	c := &market.Command{Order: market.Order{Market: 1}}
	switch draw := rapid.IntRange(0, 99).Draw(t, "what"); {
	case draw < 20:
		event.Kind, event.Trade = market.KindTrade, &market.Trade{Market: 1, Price: price(), Time: at}
		return func(v *Venue) (*exchange.Error, error) { return nil, v.Advance(event) }
	case draw < 25:
		event.Kind, event.Price = market.KindMarketStatus, price()
		event.Status = rapid.SampledFrom([]market.MarketStatus{market.Trading, market.Trading, market.Halted,
			market.Auction, market.AuctionMatching, market.CancelOnly}).Draw(t, "status")
		return func(v *Venue) (*exchange.Error, error) { return nil, v.Advance(event) }
	case draw < 30 && *next > 0:
		id := market.OrderID(rapid.Int64Range(1, int64(*next)).Draw(t, "order"))
		return func(v *Venue) (*exchange.Error, error) { _, err := v.Release(id, at); return nil, err }
	case draw < 40 && *next > 0:
		c.Kind, c.Order.ID = market.CommandCancel, market.OrderID(rapid.Int64Range(1, int64(*next)).Draw(t, "order"))
	case draw < 55 && *next > 0:
		c.Kind, c.Order.ID, c.Changed = market.CommandUpdate, market.OrderID(rapid.Int64Range(1, int64(*next)).Draw(t,
			"order")), market.ChangePrice
		c.Order.Price = price()
	default:
		*next++
		c.Kind, c.Order = market.CommandPlace, drawOrder(t, *next, price)
		if draw < 62 {
			return func(v *Venue) (*exchange.Error, error) { return v.SubmitLate(account, at, c) }
		}
	}
	return func(v *Venue) (*exchange.Error, error) { return v.Submit(account, at, c) }
}

func drawOrder(t *rapid.T, id market.OrderID, price func() market.Price) market.Order {
	o := market.Order{ID: id, Market: 1, Side: market.Side(rapid.IntRange(1, 2).Draw(t, "side")),
		OrderState: market.OrderState{TimeInForce: market.GTC}}
	o.Type = rapid.SampledFrom([]market.OrderType{market.TypeLimit, market.TypeLimit, market.TypeMarket,
		market.TypeStopLoss, market.TypeStopLossLimit, market.TypeTakeProfit, market.TypeTakeProfitLimit}).Draw(t,
		"type")
	o.SelfTradePrevention = market.SelfTradePrevention(rapid.IntRange(1, 4).Draw(t, "self-trade prevention"))
	if o.Type.HasPrice() {
		o.Price = price()
		o.PostOnly = rapid.IntRange(0, 4).Draw(t, "post-only") == 0
	}
	if o.Type.HasTrigger() {
		o.TriggerType, o.TriggerAmount = market.TriggerPrice, price()
		o.TriggerReference = market.TriggerReference(rapid.IntRange(1, 4).Draw(t, "reference"))
	}
	if o.Amount = market.Qty(rapid.Int64Range(1, 50_000).Draw(t, "amount")); !o.Type.HasPrice() &&
		rapid.Bool().Draw(t, "by quote") {
		o.AmountQuote, o.Amount = market.Money(o.Amount)*50, 0
	}
	return o
}

func TestARestoredVenueLivesOnLikeTheOneItWasTakenFrom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := livedConfig{rounding: exchange.FeeRounding(rapid.IntRange(0, 2).Draw(t, "rounding")),
			fees: exchange.Fees{Maker: 150_000, Taker: 250_000}}
		if rapid.Bool().Draw(t, "house") {
			c.house = Liquidity{Levels: 3, Step: 5, HalfSpread: 50_000, Size: 20_000}
		}
		one, next, at := newLived(t, c), market.OrderID(0), market.Time(0)
		for a := range AccountID(3) {
			require.NoError(t, one.venue.Transfer(a, 1, 50_000_0000))
			require.NoError(t, one.venue.Transfer(a, 2, 50_0000))
		}
		for range rapid.IntRange(0, 40).Draw(t, "before") {
			at = at.Add(time.Second)
			_, err := drawMove(t, at, &next)(one.venue)
			require.NoError(t, err)
		}
		two := one.again(t, c)
		require.Equal(t, one.view(), two.view())
		one.told = nil
		for range rapid.IntRange(1, 40).Draw(t, "after") {
			at = at.Add(time.Second)
			happen := drawMove(t, at, &next)
			refused, err := happen(one.venue)
			refusedToo, errToo := happen(two.venue)
			require.Equal(t, refused, refusedToo)
			require.Equal(t, err, errToo)
			require.Equal(t, one.told, two.told)
			require.Equal(t, one.view(), two.view())
		}
	})
}

func TestWhatCannotRestIsNotRestored(t *testing.T) {
	fresh := newLived(t, livedConfig{})
	require.NoError(t, fresh.venue.Transfer(0, 1, 1_000_0000))
	fresh.venue.Resume(1, &BookState{Last: 100_00, Placed: 3})
	good := Resting{Sequence: 3, Order: market.Order{ID: 7, Market: 1, Side: market.Buy, Type: market.TypeLimit,
		OnHoldCurrency: 1,
		OrderState: market.OrderState{TimeInForce: market.GTC, Status: market.StatusNew, Price: 99_00, Amount: 10,
			AmountRemaining: 10, OnHold: 100}}}
	for what, spoil := range map[string]func(r *Resting){
		"an order of no market":        func(r *Resting) { r.Order.Market = 2 },
		"one without an id":            func(r *Resting) { r.Order.ID = 0 },
		"one that has ended":           func(r *Resting) { r.Order.Status = market.StatusCanceled },
		"one of the market kind":       func(r *Resting) { r.Order.Type = market.TypeMarket },
		"one of which nothing is left": func(r *Resting) { r.Order.AmountRemaining = 0 },
		"one without a side":           func(r *Resting) { r.Order.Side = 0 },
		"one without a price":          func(r *Resting) { r.Order.Price = 0 },
		"one that holds too much":      func(r *Resting) { r.Order.OnHold = 1_000_0001 },
		"one that holds the wrong":     func(r *Resting) { r.Order.OnHoldCurrency = 2 },
		"a trigger that is new":        func(r *Resting) { r.Order.Type = market.TypeStopLossLimit },
	} {
		bad := good
		spoil(&bad)
		require.Error(t, fresh.venue.Restore(0, &bad), what)
	}
	require.Error(t, fresh.venue.Restore(1, &good), "the other account has no money")
	require.Error(t, fresh.venue.Restore(3, &good), "there is no such account")
	require.NoError(t, fresh.venue.Restore(0, &good))
	require.ErrorContains(t, fresh.venue.Restore(0, &good), "taken")
	older := good
	older.Order.ID, older.Sequence = 8, 2
	require.ErrorContains(t, fresh.venue.Restore(0, &older), "stands behind 3 of order 7")
	check(t, fresh.venue)
}

// At one price the house stands behind the orders that were there before it came, and before those
// that came later; what was taken of its levels stays taken.
func TestARestoredHouseKeepsItsPlaceInTheQueue(t *testing.T) {
	c := livedConfig{house: Liquidity{Levels: 3, Step: 5, Size: 20_000}}
	one := newLived(t, c)
	require.NoError(t, one.venue.Transfer(0, 1, 50_000_0000))
	require.NoError(t, one.venue.Transfer(1, 2, 50_0000))
	price := func(at market.Time, p market.Price) {
		require.NoError(t, one.venue.Advance(&market.Event{At: at, Kind: market.KindTrade, Market: 1,
			Trade: &market.Trade{Market: 1, Price: p, Time: at}}))
	}
	perform := func(v *Venue, a AccountID, o market.Order) {
		o.Market, o.Amount, o.SelfTradePrevention, o.TimeInForce = 1, 10_000, market.CancelBoth, market.GTC
		refused, err := v.Submit(a, 9, &market.Command{Kind: market.CommandPlace, Order: o})
		require.Nil(t, refused)
		require.NoError(t, err)
	}
	price(1, 105_00)
	perform(one.venue, 0, market.Order{ID: 1, Side: market.Buy, Type: market.TypeLimit,
		OrderState: market.OrderState{Price: 99_95}})
	price(2, 100_00)
	perform(one.venue, 0, market.Order{ID: 2, Side: market.Buy, Type: market.TypeLimit,
		OrderState: market.OrderState{Price: 99_95}})
	perform(one.venue, 1, market.Order{ID: 3, Side: market.Sell, Type: market.TypeMarket})
	two := one.again(t, c)
	one.told = nil
	for id := market.OrderID(4); id < 12; id++ {
		for _, each := range [...]*lived{one, two} {
			perform(each.venue, 1, market.Order{ID: id, Side: market.Sell, Type: market.TypeMarket})
		}
		require.Equal(t, one.told, two.told)
		require.Equal(t, one.view(), two.view())
	}
	require.Empty(t, openOrders(two.venue), "both orders have been reached")
}
