package runner

import (
	"flag"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
)

// Every test of a stage can be played over the stream:
//
//	go test ./bot/runner -over mixed -live-seeds 2 -timeout 1h
//
// A storm is a bot with sockets, which meets faults of sockets and of requests, and kills:
//
//	go test ./bot/runner -run Storm -storms 2000 -timeout 4h
var (
	over = flag.String("over", overPolls,
		"how the bots of a stage hear the exchange: poll, stream, orders (over sockets, too) or mixed (by chance)")
	storms     = flag.Int("storms", 2, "how many seeds of storms are played")
	firstStorm = flag.Uint64("first-storm", 0, "seed of the first of them, less one")
)

// The ways of a bot to its exchange.
const (
	overPolls  = "poll"
	overStream = "stream" // feeds and account
	overOrders = "orders" // orders, too
	overMixed  = "mixed"  // one of all combinations at each start
)

// socketMishaps are what can befall a socket, and of which channels.
var socketMishaps = []struct {
	mishap
	channels []string
}{
	{mishap{"refused", fault.Fault{Kind: fault.RefuseSocket, Probability: 0.7}}, []string{""}},
	{mishap{"dropped", fault.Fault{Kind: fault.DropSocket, Probability: 0.05}},
		[]string{"", "account", "reply", "ticker"}},
	{mishap{"cut in the middle of a frame", fault.Fault{Kind: fault.CutFrame, Probability: 0.05}},
		[]string{"", "account", "reply", "candles"}},
	{mishap{"late", fault.Fault{Kind: fault.DelayFrame, Delay: 4 * time.Second, Probability: 0.1}},
		[]string{"", "account", "reply", "ticker"}},
	{mishap{"twice", fault.Fault{Kind: fault.DuplicateFrame, Probability: 0.34}},
		[]string{"", "account", "reply", "candles"}},
	{mishap{"lost", fault.Fault{Kind: fault.SkipFrame, Probability: 0.2}},
		[]string{"account", "reply", "ticker", "candles"}},
	{mishap{"swapped", fault.Fault{Kind: fault.SwapFrames, Probability: 0.34}},
		[]string{"", "account", "reply", "candles"}},
	{mishap{"silent", fault.Fault{Kind: fault.Silence, Probability: 0.01}},
		[]string{"", "account", "reply", "ticker"}},
	{mishap{"mute", fault.Fault{Kind: fault.Mute, Probability: 0.5}}, []string{"account", "ticker", "candles"}},
}

// Each fault strikes sockets for a minute and a half, and then everything is well.
func TestWhateverBefallsASocketExchangeAndBotAgree(t *testing.T) {
	var refused refusalCount
	t.Cleanup(func() { refused.require(t) })
	count := 0
	for _, m := range socketMishaps {
		for _, channel := range m.channels {
			count++
			n := count
			if *liveSeeds == 1 && (n%6 != 1 || testing.Short() && n%18 != 1) {
				continue // from two seeds on all pairs, else a sixth, with -short an eighteenth
			}
			t.Run(m.name+"/"+channel, func(t *testing.T) {
				t.Parallel()
				for seed := range uint64(*liveSeeds) {
					ways := []string{overStream, overOrders, overMixed}
					synctest.Test(t, func(t *testing.T) {
						f := m.fault
						f.Channel, f.Until = channel, 90*time.Second
						s := newStage(t, seed+1, faulty(f))
						s.hears = ways[(uint64(n)+seed)%uint64(len(ways))]
						s.tighten(seed + uint64(n))
						s.tradesOn(s.start(), &refused)
					})
					if t.Failed() {
						t.Fatalf("seed %d", seed+1)
					}
				}
			})
		}
	}
}

// tradesOn lets a bot trade for three minutes and requires that exchange and books agree then.
func (s *stage) tradesOn(p *process, refused *refusalCount) {
	time.Sleep(3 * time.Minute)
	s.sameOpen(p)
	require.NoError(s.T, p.end())
	s.onlyExits(p)
	require.Positive(s.T, s.agree(p).Orders)
	refused.add(p)
}

// A storm has one to four faults of sockets, perhaps one of requests, and up to three kills.
func TestInAStormExchangeAndBotAgree(t *testing.T) {
	many := *storms
	if testing.Short() {
		many = min(many, 1)
	}
	var refused refusalCount
	for seed := range uint64(many) {
		seed += *firstStorm
		synctest.Test(t, func(t *testing.T) { storm(t, seed+1, &refused) })
		if t.Failed() {
			t.Fatalf("seed %d", seed+1)
		}
	}
}

func storm(t *testing.T, seed uint64, refused *refusalCount) {
	chance := rand.New(rand.NewPCG(seed, 31))
	var faults []fault.Fault
	for range 1 + chance.IntN(4) {
		m := &socketMishaps[chance.IntN(len(socketMishaps))]
		f := m.fault
		f.Channel = m.channels[chance.IntN(len(m.channels))]
		f.After = time.Duration(chance.IntN(60)) * time.Second
		f.Until = f.After + time.Duration(1+chance.IntN(60))*time.Second
		faults = append(faults, f)
	}
	if chance.IntN(2) == 0 {
		f := mishaps[chance.IntN(len(mishaps))].fault
		f.Endpoints, f.Key = []string{boundaries[chance.IntN(8)].endpoint}, bottest.BotKey
		f.Probability, f.Until = 0.3, 2*time.Minute
		faults = append(faults, f)
	}
	s := newStage(t, seed, func(c *sandbox.Config) { c.Faults = faults })
	s.hears = []string{overStream, overOrders, overMixed}[chance.IntN(3)]
	s.tighten(seed)
	for range chance.IntN(4) {
		kind := []market.CommandKind{market.CommandPlace, market.CommandUpdate, market.CommandCancel}[chance.IntN(3)]
		s.killAtWrite(kind, chance.IntN(2) == 0, 1+chance.Int64N(8))
		time.Sleep(time.Duration(chance.IntN(60)) * time.Second)
	}
	s.traffic.on(nil)
	s.tradesOn(s.start(), refused)
	if s.hears != overMixed { // by chance everything is polled
		require.Positive(t, s.traffic.sockets.count)
	}
}

// ways are the settings of a start that say how the bot hears the exchange.
func (s *stage) ways() (all []config.Override) {
	set := func(key string, streams bool) {
		word := config.FeedPoll
		switch {
		case streams:
			word = config.FeedStream
		case key == "orders":
			return
		}
		all = append(all, config.Override{Path: []string{"stream", key}, Text: word, Word: true})
	}
	switch s.hears {
	case overStream, overOrders:
		set("feed", true)
		set("orders", s.hears == overOrders)
	case overMixed:
		chance := rand.New(rand.NewPCG(s.seed, uint64(s.starts)))
		for _, key := range []string{"tickers", "books", "candles", "account"} {
			set(key, chance.IntN(3) > 0)
		}
		set("orders", chance.IntN(3) > 0)
	}
	return all
}
