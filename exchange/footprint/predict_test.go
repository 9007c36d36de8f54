package footprint

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
)

var crowds = flag.Int("crowds", 20, "how many markets TestPredictedFillsAreTheSeenOnes records")

// guess is a venue that predicts the fills of an account's resting orders from the recording
// without the account.
type guess struct {
	venue  *sim.Venue
	filled map[market.OrderID]market.Qty
}

func newGuess(t *testing.T, fill sim.LimitFill) *guess {
	g := &guess{filled: map[market.OrderID]market.Qty{}}
	catalog := newCatalog(t)
	g.venue = sim.New(catalog, sim.Config{LimitFill: fill}, func(ev *market.Event) {
		for _, f := range ev.Fills {
			g.filled[f.Order] += f.Amount
		}
	})
	for _, asset := range catalog.Assets() {
		require.NoError(t, g.venue.Deposit(asset.ID, 1e15))
	}
	return g
}

// do carries out a command at once.
func (g *guess) do(t *testing.T, at market.Time, kind market.CommandKind, o market.Order) {
	o.Market, o.TimeInForce, o.SelfTradePrevention = 1, market.GTC, market.DecrementAndCancel
	g.venue.Do(&market.Command{Kind: kind, At: at, Order: o})
	require.NoError(t, g.venue.Arrive(at))
}

// watched is an own order with what stood before it when it came to rest, as predicted.
type watched struct {
	market.Order
	since int
	ahead market.Qty
	known bool
}

// buckets are the limits of the amount before an order, in amounts of the order; the last is none.
var buckets = [...]market.Qty{0, 2, 5, 10, 1 << 40}

var bucketNames = [...]string{"0", "to 2", "to 5", "to 10", "more"}

func (o *watched) bucket() (bucket int) {
	for o.ahead > buckets[bucket]*o.Amount {
		bucket++
	}
	return bucket
}

// score collects a model's predictions of one bucket.
type score struct{ orders, predicted, seen, wrong int }

func (s *score) add(predicted, seen bool) {
	s.orders++
	if predicted {
		s.predicted++
	}
	if seen {
		s.seen++
	}
	if predicted != seen {
		s.wrong++
	}
}

// models are what predicts: the limit_fill of a backtest.
var models = [...]sim.LimitFill{sim.Touch, sim.Through, sim.Queue}

// results are the scores by model and bucket.
type results [len(models)][len(buckets)]score

// record plays one market in which the account joins the queue at and behind the best price, and
// adds what became of its orders: any fill within 150 steps. Without trades the recording has books
// and tickers alone.
func record(t *testing.T, seed uint64, trades bool, scores *results) {
	c, m, chance := newCrowd(t, seed), New(newCatalog(t)), rand.New(rand.NewPCG(seed, 11))
	var guesses [len(models)]*guess
	for i, fill := range models {
		guesses[i] = newGuess(t, fill)
	}
	seen, open, own := map[market.OrderID]market.Qty{}, []*watched(nil), ownOrders
	for i := range 4000 {
		c.step()
		feed := func(ev *market.Event) {
			if ev = m.Clean(ev); ev == nil {
				return
			}
			for _, g := range guesses {
				require.NoError(t, g.venue.Advance(ev))
			}
		}
		for _, f := range c.fills {
			seen[f.Order] += f.Amount
		}
		c.tell(m)
		for _, trade := range c.trades {
			if !trades {
				break
			}
			feed(&market.Event{Kind: market.KindTrade, At: c.now, Market: 1, Trade: &trade})
		}
		if i%5 == 0 {
			feed(c.book())
		} else if i%2 == 0 {
			feed(c.ticker())
		}
		if i > 300 && i%25 == 0 {
			own++
			if o := joining(c, chance, own); o != nil {
				o.since = i
				c.do(ownAccount, market.CommandPlace, o.Order)
				for _, g := range guesses {
					g.do(t, c.now, market.CommandPlace, o.Order)
				}
				o.ahead, o.known = guesses[len(models)-1].venue.Ahead(own)
				open = append(open, o)
			}
		}
		if len(open) > 0 && i-open[0].since >= 150 {
			o := open[0]
			open = open[1:]
			if c.venue.Order(o.ID) != nil {
				c.do(ownAccount, market.CommandCancel, market.Order{ID: o.ID})
			}
			for k, g := range guesses {
				g.do(t, c.now, market.CommandCancel, market.Order{ID: o.ID})
				if o.known {
					scores[k][o.bucket()].add(g.filled[o.ID] > 0, seen[o.ID] > 0)
				}
			}
		}
	}
}

// joining is an order at, before or behind the best price, or nil where there is no such price.
func joining(c *crowd, chance *rand.Rand, id market.OrderID) *watched {
	side, away, amount := market.Side(1+chance.IntN(2)), market.Price(chance.IntN(5)-1), market.Qty(1+chance.IntN(6))
	bid, ask := c.venue.Best(1)
	price := bid.Price - away
	if side == market.Sell {
		price = ask.Price + away
	}
	if bid.Price == 0 || ask.Price == 0 || price <= bid.Price && side == market.Sell || price >= ask.Price &&
		side == market.Buy {
		return nil
	}
	return &watched{Order: market.Order{ID: id, Type: market.TypeLimit, Side: side,
		OrderState: market.OrderState{Amount: amount, Price: price, PostOnly: true}}}
}

// The table of docs/venue.md:
//
//	go test ./exchange/footprint -run Predicted -v -crowds 400
func TestPredictedFillsAreTheSeenOnes(t *testing.T) {
	crowds := *crowds
	if testing.Short() {
		crowds = min(crowds, 5)
	}
	for _, trades := range []bool{true, false} {
		var scores results
		for seed := range uint64(crowds) {
			record(t, seed, trades, &scores)
		}
		brier := scores.table(t, trades)
		require.Less(t, brier[2], brier[0], "queue is better than touch")
		if trades {
			require.Less(t, brier[2], brier[1], "queue is better than through")
		}
	}
}

// table logs the scores, and returns the Brier score of each model over all orders.
func (r *results) table(t *testing.T, trades bool) (brier [len(models)]float64) {
	var text strings.Builder
	fmt.Fprintf(&text, "trades recorded: %t\nmodel   before orders predicted   seen  Brier\n", trades)
	for k, fill := range models {
		all := score{}
		for b, s := range r[k] {
			s.line(&text, fmt.Sprintf("%-8s%-6s", fill, bucketNames[b]))
			all.orders, all.wrong = all.orders+s.orders, all.wrong+s.wrong
			all.seen, all.predicted = all.seen+s.seen, all.predicted+s.predicted
		}
		all.line(&text, fmt.Sprintf("%-8sall   ", fill))
		brier[k] = all.share(all.wrong)
	}
	t.Log(text.String())
	return brier
}

func (s *score) line(text *strings.Builder, name string) {
	fmt.Fprintf(text, "%s %6d    %.4f %.4f %.4f\n", name, s.orders, s.share(s.predicted), s.share(s.seen),
		s.share(s.wrong))
}

func (s *score) share(n int) float64 { return float64(n) / float64(max(1, s.orders)) }
