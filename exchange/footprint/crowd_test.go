package footprint

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
)

// crowd is a market of accounts that trade by chance with each other, by price and time, whatever
// the book shows: with and without one more account they do the same.
type crowd struct {
	t       *testing.T
	venue   *sim.Venue
	market  *market.Market
	chance  *rand.Rand
	fair    market.Price
	placed  []market.OrderID // of the crowd, the latest
	next    market.OrderID   // of the crowd
	now     market.Time
	account sim.AccountID // whose command is carried out

	trades []market.Trade // of the step
	rests  []Rest         // of the own account
	fills  []market.Fill
}

const (
	crowdAccounts = 20
	ownAccount    = sim.AccountID(crowdAccounts)
	ownOrders     = market.OrderID(1 << 40) // ids of own orders lie above
)

func newCrowd(t *testing.T, seed uint64) *crowd {
	c := &crowd{t: t, chance: rand.New(rand.NewPCG(seed, 7)), fair: 10_000, now: 1_000_000_000_000}
	catalog := newCatalog(t)
	c.market = catalog.Market(1)
	c.venue = sim.New(catalog, sim.Config{Book: true}, c.hear)
	for range crowdAccounts {
		c.venue.OpenAccount(nil)
	}
	for a := range ownAccount + 1 {
		for _, asset := range catalog.Assets() {
			require.NoError(t, c.venue.Transfer(a, asset.ID, 1e15))
		}
	}
	return c
}

func newCatalog(t *testing.T) *market.Catalog {
	catalog := &market.Catalog{}
	for _, symbol := range [...]string{"EUR", "BTC"} {
		_, err := catalog.AddAsset(symbol, 0)
		require.NoError(t, err)
	}
	require.NoError(t, catalog.AddMarket(&market.Market{Name: "BTC-EUR", Rules: market.Rules{MaxOpenOrders: 1e6}}))
	return catalog
}

// hear keeps the trades, and what became of own orders.
func (c *crowd) hear(ev *market.Event) {
	for _, f := range ev.Fills {
		if f.Taker {
			c.trades = append(c.trades, market.Trade{Market: 1, Price: f.Price, Amount: f.Amount, Side: f.Side,
				Time: c.now})
		}
		if f.Order >= ownOrders {
			f.Time = c.now
			c.fills = append(c.fills, f)
		}
	}
	if r := ev.Report; r.Order >= ownOrders && r.Price != 0 {
		left := r.AmountRemaining
		if r.Status.Terminal() {
			left = 0
		}
		side := c.venue.Order(r.Order).Side
		c.rests = append(c.rests, Rest{At: c.now, Order: r.Order, Market: 1, Side: side, Price: r.Price, Amount: left})
	}
}

func (c *crowd) do(account sim.AccountID, kind market.CommandKind, o market.Order) {
	o.Market = 1
	if o.TimeInForce == 0 {
		o.TimeInForce = market.GTC
	}
	o.SelfTradePrevention = market.DecrementAndCancel
	_, err := c.venue.Submit(account, c.now, &market.Command{Kind: kind, Order: o})
	require.NoError(c.t, err)
}

// step lets a millisecond pass in which one of the crowd acts: mostly with a limit order
// around the fair price, which wanders, else with a cancel or a market order.
func (c *crowd) step() {
	c.now += 1_000_000
	c.trades = c.trades[:0]
	c.fair += market.Price(c.chance.IntN(3)-1) * market.Price(c.chance.IntN(8)/7)
	account, side := sim.AccountID(c.chance.IntN(crowdAccounts)), market.Side(1+c.chance.IntN(2))
	amount := market.Qty(1 + c.chance.IntN(8))
	draw, away, old := c.chance.IntN(100), market.Price(c.chance.ExpFloat64()*4), c.chance.IntN(120)
	switch {
	case draw < 63:
		if side == market.Buy {
			away = -away
		}
		c.next++
		c.placed = append(c.placed, c.next)
		c.do(account, market.CommandPlace, market.Order{ID: c.next, Type: market.TypeLimit, Side: side,
			OrderState: market.OrderState{Amount: amount, Price: c.fair + away, PostOnly: draw < 58}})
	case draw < 92 && old < len(c.placed):
		id := c.placed[len(c.placed)-1-old]
		if c.venue.Order(id) != nil {
			c.do(c.venue.Owner(id), market.CommandCancel, market.Order{ID: id})
		}
	default:
		c.next++
		c.do(account, market.CommandPlace, market.Order{ID: c.next, Type: market.TypeMarket, Side: side,
			OrderState: market.OrderState{Amount: amount}})
	}
}

// book is a snapshot of ten levels.
func (c *crowd) book() *market.Event {
	bids, asks := c.venue.AppendDepth(1, 10, nil, nil)
	return &market.Event{Kind: market.KindBook, At: c.now, Market: 1,
		Book: &market.OrderBook{Market: 1, Time: c.now, Bids: bids, Asks: asks}}
}

// ticker is the best bid and ask with their sizes.
func (c *crowd) ticker() *market.Event {
	bid, ask := c.venue.Best(1)
	return &market.Event{Kind: market.KindTicker, At: c.now, Market: 1, Ticker: &market.Ticker{Market: 1,
		Last: c.venue.Last(1), Bid: bid.Price, Ask: ask.Price, BidSize: bid.Amount, AskSize: ask.Amount}}
}

// tell gives what the own account did since the last call to the markets.
func (c *crowd) tell(m *Markets) {
	for _, r := range c.rests {
		m.Rest(r)
	}
	for i := range c.fills {
		m.Fill(&c.fills[i])
	}
	c.rests, c.fills = c.rests[:0], c.fills[:0]
}

// Own orders that never fill change nothing for others: without them the recording is that of a
// market in which the account never was.
func TestWithoutItsRestingOrdersARecordingIsThatOfTheOthers(t *testing.T) {
	for seed := range uint64(20) {
		with, without, m := newCrowd(t, seed), newCrowd(t, seed), New(newCatalog(t))
		own, chance, compared := ownOrders, rand.New(rand.NewPCG(seed, 9)), 0
		for range 300 {
			with.step()
			without.step()
		}
		for range 300 {
			with.step()
			without.step()
			if chance.IntN(10) == 0 { // a bid or an ask behind the best ones, for a while
				own++
				side, price := market.Side(1+chance.IntN(2)), market.Price(0)
				bid, ask := with.venue.Best(1)
				if price = bid.Price - market.Price(2+chance.IntN(6)); side == market.Sell {
					price = ask.Price + market.Price(2+chance.IntN(6))
				}
				with.do(ownAccount, market.CommandPlace, market.Order{ID: own, Type: market.TypeLimit, Side: side,
					OrderState: market.OrderState{Amount: market.Qty(1 + chance.IntN(9)), Price: max(1, price)}})
			}
			if chance.IntN(4) == 0 && own > ownOrders {
				id := own - market.OrderID(chance.IntN(3))
				if with.venue.Order(id) != nil {
					with.do(ownAccount, market.CommandCancel, market.Order{ID: id})
				}
			}
			if len(with.fills) > 0 {
				break // from here on the markets differ
			}
			with.tell(m)
			have, want := m.Clean(with.book()), without.book()
			// The tenth level of the one may be the eleventh of the other.
			n, k := min(len(have.Book.Bids), len(want.Book.Bids)), min(len(have.Book.Asks), len(want.Book.Asks))
			if n == 0 || k == 0 {
				continue
			}
			require.Equal(t, want.Book.Bids[:n], have.Book.Bids[:n], "seed %d", seed)
			require.Equal(t, want.Book.Asks[:k], have.Book.Asks[:k], "seed %d", seed)
			require.Equal(t, *without.ticker().Ticker, *m.Clean(with.ticker()).Ticker, "seed %d", seed)
			compared++
		}
		require.Positive(t, compared)
		require.Zero(t, m.Counts().Unseen)
	}
}

// distance is how much two snapshots differ, in units of base at the prices that both reach.
func distance(a, b *market.OrderBook) (sum market.Qty) {
	for _, sides := range [...][2][]market.Level{{a.Bids, b.Bids}, {a.Asks, b.Asks}} {
		amounts := map[market.Price]market.Qty{}
		for i := range min(5, len(sides[0])) {
			amounts[sides[0][i].Price] += sides[0][i].Amount
		}
		for i := range min(5, len(sides[1])) {
			amounts[sides[1][i].Price] -= sides[1][i].Amount
		}
		for _, amount := range amounts {
			sum += max(amount, -amount)
		}
	}
	return sum
}

// An account that takes once: without it the recording is nearer to that of the others, and its
// trades are gone.
func TestWhatTheAccountTookIsPutBack(t *testing.T) {
	const spans, steps = 4, 25
	var recorded, cleaned [spans]market.Qty
	for seed := range uint64(60) {
		with, without, m := newCrowd(t, seed), newCrowd(t, seed), New(newCatalog(t))
		for range 300 {
			with.step()
			without.step()
		}
		m.Clean(with.book())
		with.trades = with.trades[:0]
		with.do(ownAccount, market.CommandPlace, market.Order{ID: ownOrders, Type: market.TypeMarket,
			Side: market.Side(1 + seed%2), OrderState: market.OrderState{Amount: 12}})
		with.tell(m)
		for _, trade := range with.trades {
			require.Nil(t, m.Clean(&market.Event{Kind: market.KindTrade, At: with.now, Trade: &trade}))
		}
		for i := range spans * steps {
			book, want := with.book(), without.book().Book
			near := distance(m.Clean(book).Book, want)
			recorded[i/steps] += distance(book.Book, want)
			cleaned[i/steps] += near
			require.True(t, i > 0 || near == 0, "right after the trade, seed %d", seed)
			with.step()
			without.step()
			for _, trade := range with.trades {
				require.NotNil(t, m.Clean(&market.Event{Kind: market.KindTrade, At: with.now, Trade: &trade}))
			}
		}
		require.Zero(t, m.Counts().Untraded)
	}
	t.Logf("distance from the market without the account, by %d steps: %d as recorded, %d cleaned", steps, recorded,
		cleaned)
	require.Less(t, cleaned[0]*2, recorded[0])
	for i := range spans {
		require.Less(t, cleaned[i], recorded[i])
	}
}
