package runner

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy"
)

// A write that was about to leave when the bot died is known to have come to nothing as soon as the
// window that it was signed with is over, however soon the bot is started again.
func TestAWriteThatDidNotLeaveIsInDoubtForTheWindowThatTheJournalTells(t *testing.T) {
	for _, kind := range []market.CommandKind{market.CommandPlace, market.CommandUpdate, market.CommandCancel} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, 1, nil)
			p, killed := s.start(), make(chan time.Time, 1)
			var once sync.Once
			s.traffic.on(func(r *http.Request, about bool) {
				if about && commandOf(r) == kind {
					once.Do(func() {
						p.kill()
						killed <- time.Now()
					})
				}
			})
			at := <-killed
			p.bury()
			s.traffic.on(nil)
			time.Sleep(2 * time.Second)

			p, err := s.open()
			require.NoError(t, err)
			var order market.OrderID
			for _, o := range p.account.Pending(nil) {
				if o.InFlight == kind {
					order = o.ID
					until, known := p.sentUntil(o.ID, kind)
					require.True(t, known)
					require.WithinRange(t, until.Std(), at.Add(9*time.Second), at.Add(10*time.Second+trip),
						"the window is 10 s, on the exchange's clock")
				}
			}
			require.NotZero(t, order)
			go func() { p.done <- p.trade(p.ctx()) }()
			time.Sleep(time.Until(at.Add(20 * time.Second)))
			require.NoError(t, p.loop.Inspect(t.Context(), func(market.Time) {
				if o := p.account.Own(order); o != nil {
					require.NotEqual(t, kind, o.InFlight, "%s", s.Story(p.store, order))
				}
			}))
			require.NoError(t, p.end())
			s.agree(p)
		})
	}
}

// onceHalfKind rests one bid over 0.015, in a bracket, between bid and ask.
var onceHalfKind = scripted("onehalf", func() onTicker {
	rest, asked := half(), false
	return func(d *strategy.Desk, t market.Ticker) {
		if !asked {
			asked = true
			rest(d, t)
		}
	}
})

// hidden is an exchange that shows nothing of a place whose answer is lost, until it does. Then
// something happens between its list and the record.
type hidden struct {
	http.RoundTripper
	shows   atomic.Bool
	lost    atomic.Bool
	between func()
	once    sync.Once
}

func (h *hidden) RoundTrip(r *http.Request) (*http.Response, error) {
	if h.shows.Load() {
		if r.Method == http.MethodGet && r.URL.Path == "/v2/order" {
			h.once.Do(h.between)
		}
		return h.RoundTripper.RoundTrip(r)
	}
	answer, err := h.RoundTripper.RoundTrip(r)
	switch {
	case err != nil:
	case r.Method == http.MethodPost && r.URL.Path == "/v2/order":
		if !h.lost.Swap(true) {
			return nil, errWire
		}
	case r.URL.Path == "/v2/order":
		answer.StatusCode = http.StatusNotFound
		answer.Body = io.NopCloser(strings.NewReader(`{"errorCode":240,"error":"No order found."}`))
	case r.URL.Path == "/v2/ordersOpen", r.URL.Path == "/v2/trades":
		answer.Body = io.NopCloser(strings.NewReader("[]"))
	}
	return answer, err
}

// A purchase is taken for absent, and is there all the same: the list shows it, and by the record
// it has filled in part and been cancelled. Its row ends as the exchange says, its story tells both
// in order, and what it bought has its exit.
func TestAnOrderThatWasRejectedAndHasFilledEndsAsTheExchangeSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := halfStage(t)
		s.kinds = append(s.kinds, onceHalfKind)
		s.config = strings.NewReplacer("strategies.half", "strategies.onehalf", `"half"`, `"onehalf"`).Replace(s.config)
		s.hears = overPolls
		h := &hidden{between: func() {
			s.sellInto("0.005")
			open := s.OpenAtTheExchange()
			require.Len(t, open, 1)
			s.byHand(open[0].Order, market.CommandCancel, 0)
		}}
		s.wrap = func(next http.RoundTripper) http.RoundTripper {
			h.RoundTripper = next
			return h
		}
		p := s.start()
		time.Sleep(time.Minute)
		p.look(func() { require.Equal(t, state.Rejected, p.account.Known(1).State) })
		h.shows.Store(true)
		time.Sleep(2 * time.Minute)
		p.look(func() {
			require.Nil(t, p.account.Known(1))
			require.EqualValues(t, 500_000, p.account.Position(1, 1).Amount)
			require.Equal(t, market.Qty(500_000), p.engine.Brackets().Covered(1, 1))
			require.Empty(t, p.engine.Brackets().Bare())
			require.NoError(t, p.account.Check())
		})
		require.NoError(t, p.end())
		row, err := s.Stored().Order(1)
		require.NoError(t, err)
		require.Equal(t, state.Canceled, row.State)
		require.EqualValues(t, 500_000, row.FilledAmount)
		story := s.told(nil, "explain", "1")
		rejected, cancelled := strings.Index(story, "rejected"), strings.LastIndex(story, "canceled")
		require.Positive(t, rejected, story)
		require.Greater(t, cancelled, rejected, story)
		s.told(nil, "state", "check")
		s.agree(p)
	})
}
