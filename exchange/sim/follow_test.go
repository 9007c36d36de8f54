package sim

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// follower is a venue whose points a reader follows, who sends commands and sets watches by chance.
type follower struct {
	r       *rand.Rand
	venue   *Venue
	watches []market.Watch
	next    market.OrderID
	now     market.Time
	lines   []string
}

func newFollower(t *testing.T, seed uint64) *follower {
	f := &follower{r: rand.New(rand.NewPCG(seed, 1)), watches: make([]market.Watch, 3)}
	catalog := &market.Catalog{}
	for _, symbol := range [...]string{"EUR", "BTC", "ETH"} {
		must(catalog.AddAsset(symbol, 2))
	}
	for _, name := range [...]string{"BTC-EUR", "ETH-EUR"} {
		require.NoError(t, catalog.AddMarket(&market.Market{Name: name, Rules: market.Rules{QuantityDecimals: 2}}))
	}
	config := Config{Path: Path(f.r.IntN(5)), Watches: f.watches, Followed: []bool{false, true, f.r.IntN(2) == 0},
		Latency: market.Duration(f.r.IntN(3) * 20e9), Point: func(path []PathPoint) (taken int) {
			for acted := false; taken < len(path) && !acted; taken++ {
				p := &path[taken]
				f.lines = append(f.lines, fmt.Sprintf("point %d %d %d", p.Candle.Market, p.At, p.Price))
				f.now = max(f.now, p.At)
				acted = f.act() || f.now%7 == 0 // it may stop at any point
			}
			return taken
		}}
	f.venue = New(catalog, config, func(ev *market.Event) {
		line := fmt.Sprintf("%s %d %d", ev.Kind, ev.Market, ev.At)
		if ev.Report != nil {
			line += fmt.Sprintf(" %+v %+v", *ev.Report, ev.Fills)
		} else {
			line += fmt.Sprintf(" %+v", *ev.Trade)
			f.watches[ev.Market] = market.Watch{}
		}
		f.lines = append(f.lines, line)
		f.now = max(f.now, ev.At)
		f.act()
	})
	for asset := market.AssetID(1); asset <= 3; asset++ {
		require.NoError(t, f.venue.Deposit(asset, 1e6))
	}
	return f
}

// act mostly does nothing, and returns false.
func (f *follower) act() bool {
	m := market.ID(1 + f.r.IntN(2))
	price := market.Price(80 + f.r.Int64N(40))
	switch c := (market.Command{At: f.now, Attached: f.r.IntN(3) == 0}); f.r.IntN(60) {
	case 0, 1:
		f.next++
		c.Kind = market.CommandPlace
		c.Order = market.Order{ID: f.next, Market: m, Side: market.Side(1 + f.r.IntN(2)), Type: market.TypeLimit,
			OrderState: market.OrderState{Price: price, Amount: 100, TimeInForce: market.GTC,
				SelfTradePrevention: market.CancelNewest}}
		f.venue.Do(&c)
	case 2:
		c.Kind, c.Order = market.CommandCancel, market.Order{ID: 1 + market.OrderID(f.r.Int64N(int64(f.next)+1)),
			Market: m}
		f.venue.Do(&c)
	case 3:
		f.watches[m] = market.Watch{Below: price}
	case 4:
		f.watches[m] = market.Watch{Above: price}
	default:
		return false
	}
	return true
}

// group is the next candles of one or both markets.
func (f *follower) group(minute int64) (group []market.Candle) {
	for m := market.ID(1); m <= 2; m++ {
		if f.r.IntN(4) == 0 {
			continue
		}
		c := market.Candle{Market: m, Interval: market.Interval1m,
			Start: market.Interval1m.End(0) * market.Time(minute),
			Open:  market.Price(90 + f.r.Int64N(20)), Close: market.Price(90 + f.r.Int64N(20)), Volume: 100}
		c.High = max(c.Open, c.Close) + market.Price(f.r.IntN(8))
		c.Low = min(c.Open, c.Close) - market.Price(f.r.IntN(8))
		group = append(group, c)
	}
	return group
}

// walkEach is Venue.candles without its short ways: each followed path is walked.
func (v *Venue) walkEach(group []market.Candle) {
	v.movement++
	v.orders.recycle()
	v.active = v.active[:0]
	for i := range group {
		b := &v.books[group[i].Market]
		if b.quiet(&group[i]) && !v.follows(b) {
			b.last = group[i].Close
			continue
		}
		v.begin(b, &group[i])
		v.activate(b)
	}
	for point := range 4 {
		v.point(point)
	}
	for _, b := range v.active {
		b.last = b.candle.Close
		if b.lowHit && b.topHit {
			v.ambiguous++
		}
		b.setQuietRange()
	}
}

func TestAPathThatIsOnlyShownIsThatWhichIsWalked(t *testing.T) {
	trades := 0
	for seed := range uint64(200) {
		short, whole := newFollower(t, seed), newFollower(t, seed)
		for minute := range int64(150) {
			group := short.group(minute)
			require.NoError(t, short.venue.Advance(&market.Event{Kind: market.KindCandles, Candles: group}))
			whole.venue.walkEach(whole.group(minute))
			require.Equal(t, whole.lines, short.lines, "seed %d, minute %d", seed, minute)
			for m := range short.venue.books {
				x, y := &short.venue.books[m], &whole.venue.books[m]
				require.Equal(t, []any{y.last, y.quietLow, y.quietHigh}, []any{x.last, x.quietLow, x.quietHigh},
					"seed %d, minute %d", seed, minute)
			}
			require.Equal(t, whole.venue.Ambiguous(), short.venue.Ambiguous())
			check(t, short.venue)
			trades += len(short.lines)
			short.lines, whole.lines = short.lines[:0], whole.lines[:0]
			short.act()
			whole.act()
		}
	}
	require.Greater(t, trades, 100_000)
}
