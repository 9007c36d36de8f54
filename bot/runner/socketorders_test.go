package runner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
)

// newSocketStage is a stage whose bot sends its orders over a socket, and hears by polls.
func newSocketStage(t *testing.T, seed uint64, faults ...fault.Fault) *stage {
	s := newStage(t, seed, func(c *sandbox.Config) { c.Faults = faults })
	s.hears = overPolls
	s.everySet = []config.Override{{Path: []string{"stream", "orders"}, Text: config.OrdersStream}}
	return s
}

// overSocket is how many writes of the stage went over a socket, and how many over HTTP.
func (t *traffic) overSocket() (socket, http int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count - len(t.writes), len(t.writes)
}

// Faults strike half of the replies to orders, or the socket as a whole, for a minute and a half.
// The wire fails the test where an order leaves before its intent is stored, or leaves twice.
func TestOrdersOverASocketAreNeitherDoubledNorLost(t *testing.T) {
	for i, c := range []struct {
		name  string
		fault fault.Fault
	}{
		{"no fault", fault.Fault{Kind: fault.DuplicateFrame, Channel: "ticker24h"}},
		{"dropped before the reply", fault.Fault{Kind: fault.DropSocket, Channel: "reply", Probability: 0.5}},
		{"cut within the reply", fault.Fault{Kind: fault.CutFrame, Channel: "reply", Probability: 0.5}},
		{"reply late", fault.Fault{Kind: fault.DelayFrame, Channel: "reply", Delay: 4 * time.Second,
			Probability: 0.5}},
		{"reply later than the client waits", fault.Fault{Kind: fault.DelayFrame, Channel: "reply",
			Delay: 25 * time.Second, Probability: 0.2}},
		{"reply twice", fault.Fault{Kind: fault.DuplicateFrame, Channel: "reply", Probability: 0.5}},
		{"reply lost", fault.Fault{Kind: fault.SkipFrame, Channel: "reply", Probability: 0.2}},
		{"replies swapped", fault.Fault{Kind: fault.SwapFrames, Channel: "reply", Probability: 0.5}},
		{"silent", fault.Fault{Kind: fault.Silence, Channel: "reply", Probability: 0.2}},
		{"mute", fault.Fault{Kind: fault.Mute}},
		{"refused", fault.Fault{Kind: fault.RefuseSocket}},
		{"500, done", fault.Fault{Kind: fault.Error, Code: 101, Work: true, Probability: 0.3,
			Endpoints: []string{"POST /order", "DELETE /order"}}},
		{"429 (105)", fault.Fault{Kind: fault.Error, Code: 105, Probability: 0.1,
			Endpoints: []string{"POST /order"}}},
	} {
		if testing.Short() && i%4 != 1 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(*liveSeeds) {
				synctest.Test(t, func(t *testing.T) {
					f := c.fault
					f.Until = 90 * time.Second
					s := newSocketStage(t, seed+1, f)
					s.tighten(seed)
					p := s.start()
					time.Sleep(3 * time.Minute)
					s.sameOpen(p)
					require.NoError(t, p.end())
					s.onlyExits(p)
					require.Positive(t, s.agree(p).Fills)
					socket, http := s.traffic.overSocket()
					t.Logf("%d writes over the socket, %d over HTTP", socket, http)
					require.True(t, socket > 0 || seed > 0, "limits may stop a bot before its socket is open again")
				})
			}
		})
	}
}

// A bot whose orders go over a socket is killed as a write is about to reach the exchange, and when
// the exchange has carried it out.
func TestABotKilledWithOrdersOnItsSocketGoesOn(t *testing.T) {
	eachBoundary(t, *liveSeeds, func(t *testing.T, seed uint64, kind market.CommandKind, before bool) {
		s := newSocketStage(t, seed, fault.Fault{Kind: fault.DropSocket, Channel: "reply", Probability: 0.05})
		s.tighten(seed - 1)
		for range 2 {
			s.killAtWrite(kind, before, 5)
			time.Sleep(time.Duration(seed) * 20 * time.Second)
		}
		s.traffic.on(nil)
		p := s.start()
		time.Sleep(2 * time.Minute)
		s.sameOpen(p)
		require.NoError(t, p.end())
		s.onlyExits(p)
		require.Positive(t, s.agree(p).Orders)
		require.Zero(t, s.replayed().Unchecked, "a kill loses no cause")
		socket, _ := s.traffic.overSocket()
		require.Positive(t, socket)
	})
}

// For a minute the replies of the socket say of each order that it has ended: REST denies it,
// nothing is booked, and orders leave over HTTP.
func TestFalseEndsInTheRepliesOfASocketAreNotBooked(t *testing.T) {
	for _, status := range []string{"canceled", "expired"} {
		toldFalsely(t, overPolls, true, func(text []byte) []byte {
			return bytes.Replace(text, []byte(`"status":"new"`), []byte(`"status":"`+status+`"`), 1)
		})
	}
}

// For a minute the replies of the socket refuse each place, update and cancel, and the exchange has
// carried them out: REST denies it, and the books have what the exchange has.
func TestFalseRefusalsInTheRepliesOfASocketAreNotBelieved(t *testing.T) {
	bottest.Unraced(t)
	for _, code := range []int{exchange.CodeNotFound, exchange.CodeHalted} {
		toldFalsely(t, overPolls, true, func(text []byte) []byte {
			var m message
			_ = json.Unmarshal(text, &m)
			if socketWrites[m.Action] == "" {
				return text
			}
			return fmt.Appendf(nil, `{"action":%q,"requestId":%s,"errorCode":%d,"error":"no"}`, m.Action, m.RequestID, code)
		})
	}
}

// For a minute each order in replies and events has its status twice, one of them false: neither is
// believed, and REST is asked.
func TestAMemberThatComesTwiceOverASocketIsNotBelieved(t *testing.T) {
	bottest.Unraced(t)
	for _, hears := range []string{overPolls, overOrders} {
		for _, both := range []string{`"status":"canceled","status":"new"`, `"status":"new","status":"canceled"`} {
			toldFalsely(t, hears, false, func(text []byte) []byte {
				return bytes.Replace(text, []byte(`"status":"new"`), []byte(both), 1)
			})
		}
	}
}

// toldFalsely plays a bot whose socket lies for a minute; denied: REST denies it, and the stream
// is set aside.
func toldFalsely(t *testing.T, hears string, denied bool, lie func(text []byte) []byte) {
	synctest.Test(t, func(t *testing.T) {
		s := newSocketStage(t, 5)
		s.hears = hears
		p := s.start()
		time.Sleep(20 * time.Second)
		s.traffic.sockets.mu.Lock()
		s.traffic.sockets.lie = lie
		s.traffic.sockets.mu.Unlock()
		aside := false
		for range 30 {
			time.Sleep(2 * time.Second)
			s.sameOpen(p)
			require.NoError(t, p.loop.Inspect(t.Context(), func(market.Time) {
				aside = aside || p.loop.ChannelAside() != ""
			}))
		}
		require.Equal(t, denied, aside)
		socket, _ := s.traffic.overSocket()
		s.traffic.sockets.mu.Lock()
		s.traffic.sockets.lie = nil
		s.traffic.sockets.mu.Unlock()
		time.Sleep(2 * time.Minute)
		now, _ := s.traffic.overSocket()
		require.Equal(t, denied, socket == now, "the stream is set aside for ten minutes")
		require.NoError(t, p.end())
		s.onlyExits(p)
		s.agree(p)
	})
}
