package sandbox

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// TestTheBookThatIsAnsweredIsTheOneAtTheVenue lets two clients, the prices and the operator do
// anything, with orders that come to the book late. After each step the answer at any depth is what
// is written of the venue's levels at that instant.
func TestTheBookThatIsAnsweredIsTheOneAtTheVenue(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := &audit{stage: stageOf(t, r, rapid.Bool().Draw(r, "house"))}
		s.delaySomeOrders()
		for range 40 {
			if rapid.IntRange(0, 3).Draw(r, "operator") == 0 {
				s.operate(r)
			} else {
				s.act(r)
			}
			for range 2 {
				s.sameBook(r, rapid.SampledFrom([]int{1, 2, 3, 5, 1000}).Draw(r, "depth"))
			}
		}
	})
}

// delaySomeOrders installs a fault: each third order comes to the book two seconds late.
func (s *audit) delaySomeOrders() {
	late := []fault.Fault{{Kind: fault.LateFill, Endpoints: []string{"POST /order"}, Probability: 0.3,
		Delay: 2 * time.Second}}
	script, err := s.ex.loadFaults(late, 1, s.ex.reached)
	require.NoError(s.t, err)
	s.ex.install(script)
}

// operate does what is no client's to do: the price, the status, the tick, time, the end of orders.
func (s *audit) operate(r *rapid.T) {
	price := market.Price(rapid.Int64Range(97_00, 104_00).Draw(r, "price"))
	switch rapid.IntRange(0, 5).Draw(r, "what") {
	case 0:
		spread := market.Price(rapid.Int64Range(0, 2_00).Draw(r, "spread"))
		require.NoError(r, s.ex.SetQuote("BTC-EUR", price, price-spread, price+spread))
	case 1:
		status := rapid.SampledFrom([]market.MarketStatus{market.Trading, market.Trading, market.Halted,
			market.Auction, market.AuctionMatching}).Draw(r, "status")
		s.direct(r, func(l *listing, now market.Time) { s.ex.setStatus(l, status, 0, now) })
	case 2:
		tick := market.Price(rapid.Int64Range(1, 3).Draw(r, "tick"))
		s.direct(r, func(l *listing, _ market.Time) { s.ex.setTick(l, tick) })
	case 3:
		s.direct(r, func(l *listing, now market.Time) {
			s.ex.cancelAll(l, nil, market.CancelOnAdminRequest, now, nil)
		})
	default:
		s.ex.clock.Advance(time.Second)
	}
}

func (s *audit) direct(r *rapid.T, act func(*listing, market.Time)) {
	require.NoError(r, s.ex.direct("BTC-EUR", act))
}

// sameBook requires that an answer is the naive one.
func (s *audit) sameBook(r *rapid.T, depth int) {
	told := s.get("/BTC-EUR/book?depth=" + strconv.Itoa(depth))
	l := s.ex.listings[1]
	if l.Status != market.Trading {
		require.Equal(r, http.StatusConflict, told.status)
		return
	}
	require.Equal(r, naiveBook(s.ex, l, depth), told.body)
}

// naiveBook writes a book as of now, from the venue's levels.
func naiveBook(ex *Exchange, l *listing, depth int) string {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	bids, asks := ex.venue.AppendDepth(l.ID, depth, nil, nil)
	w := wire.Writer{}
	w.Open('{')
	w.Text("market", l.Name)
	w.Integer("nonce", l.nonce)
	w.Key("bids")
	w.Levels(l.Market, bids)
	w.Key("asks")
	w.Levels(l.Market, asks)
	w.Integer("timestamp", int64(max(ex.clock.Now(), ex.reached)))
	w.Close('}')
	return string(w.Dst)
}

// BenchmarkBookOfAThousandLevels answers GET /{market}/book without a connection: of a book that
// stands, and of one that has changed since the answer before.
func BenchmarkBookOfAThousandLevels(b *testing.B) {
	r := newRig(b, func(c *Config) {
		c.Budget = api.Budget{PerKey: -1, PerIP: -1}
		c.Markets[0].Liquidity = Liquidity{Levels: 1000, HalfSpread: 10_000, Size: "0.5"}
	})
	request := r.request("", http.MethodGet, "/BTC-EUR/book", "")
	for _, changed := range []bool{false, true} {
		name := "standing"
		if changed {
			name = "changed"
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			w := &discard{header: http.Header{}}
			for b.Loop() {
				if changed {
					r.ex.touch(r.ex.listings[1])
				}
				r.ex.ServeHTTP(w, request)
			}
		})
	}
}
