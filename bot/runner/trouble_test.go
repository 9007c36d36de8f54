package runner

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/strategy"
)

// trouble lets a bot trade for six minutes at an exchange where something happens, and requires
// that in the end the two agree.
func trouble(t *testing.T, change func(*sandbox.Config), prepare func(*stage), meanwhile func(*stage, *process)) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 4, change)
		if prepare != nil {
			prepare(s)
		}
		p := s.start()
		time.Sleep(2 * time.Minute)
		if meanwhile != nil {
			meanwhile(s, p)
		}
		before := s.traffic.sent()
		time.Sleep(3 * time.Minute)
		require.Greater(t, s.traffic.sent(), before, "it goes on by itself")
		s.sameOpen(p)
		require.NoError(t, p.end())
		s.onlyExits(p)
		require.Positive(t, s.agree(p).Fills)
	})
}

// sent is how many writes there were.
func (t *traffic) sent() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count
}

// orders is how many orders were placed.
func (t *traffic) orders() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.placed)
}

func TestAMachineWhoseClockIsFiveMinutesWrongTradesByTheExchangesTime(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	for _, wrong := range []time.Duration{5 * time.Minute, -5 * time.Minute} {
		trouble(t, nil, func(s *stage) { s.now = func() time.Time { return time.Now().Add(wrong) } }, nil)
	}
}

func TestAMachineWhoseClockIsSetWhileItTradesGoesOn(t *testing.T) {
	var jump atomic.Int64
	trouble(t, nil, func(s *stage) { s.now = func() time.Time { return time.Now().Add(time.Duration(jump.Load())) } },
		func(*stage, *process) { jump.Store(int64(5 * time.Minute)) })
}

func TestAMachineWhoseClockGoesTooSlowlyIsSetRightAgain(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	trouble(t, nil, func(s *stage) {
		begun := time.Now()
		s.now = func() time.Time { return time.Now().Add(-time.Since(begun) / 100) } // a second behind in a hundred
	}, func(s *stage, p *process) {
		time.Sleep(3*time.Minute + 30*time.Second)
		require.Less(s.T, market.Time(time.Now().UnixNano()).Sub(p.client.Now()).Abs(), time.Second)
		require.Contains(s.T, s.log.String(), "the exchange's clock was not where it had been reckoned to be")
	})
}

func TestAMinuteWithoutTheNetworkIsSurvived(t *testing.T) {
	trouble(t, nil, nil, func(s *stage, _ *process) {
		s.traffic.cut(true)
		time.Sleep(time.Minute)
		s.traffic.cut(false)
		require.Contains(s.T, s.log.String(), "no prices from the exchange")
		time.Sleep(30 * time.Second)
		again := `"feed":"tickers".*"the exchange answers again"`
		if s.hears != overPolls {
			again = `"the stream from the exchange has ended"(.|\n)*"the stream from the exchange is open"`
		}
		require.Regexp(s.T, again, s.log.String())
	})
}

// sitterKind rests one bid far away, and another one where that has ended.
var sitterKind = scripted("sitter", always(func(d *strategy.Desk, t market.Ticker) {
	if len(d.In(t.Market).OpenOrders()) == 0 {
		_, _ = d.In(t.Market).Buy(strategy.Amount(1_000_000), strategy.At(t.Last/2))
	}
}))

// For three minutes the bot cannot renew its timers, as one that was frozen could not: the exchange
// cancels the orders of its group, the strategy hears why, and goes on.
func TestABotThatWasCutOffForLongHearsThatItsOrdersHaveDied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 7, nil)
		s.kinds = append(s.kinds, sitterKind)
		s.config = strings.NewReplacer("strategies.restless", "strategies.sitter", `"restless"`, `"sitter"`,
			"params.seed = 7\n", "").Replace(s.config)
		p := s.start()
		time.Sleep(time.Minute)
		require.Len(t, s.OpenAtTheExchange(), 1)
		s.traffic.cut(true)
		time.Sleep(3 * time.Minute)
		s.onlyExits(p)
		s.traffic.cut(false)
		time.Sleep(time.Minute)
		require.Regexp(t, `"state":"canceled".*"reason":"cancelOnDisconnect".*"order ended"`, s.log.String())
		require.Len(t, s.OpenAtTheExchange(), 1)
		time.Sleep(3 * time.Minute)
		require.Equal(t, 1, strings.Count(s.log.String(), `"reason":"cancelOnDisconnect"`),
			"the timer is renewed again")
		require.NoError(t, p.end())
		s.agree(p)
	})
}

// A bot that is killed renews nothing.
func TestTheOrdersOfABotThatIsDeadDie(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 4, nil)
		p := s.start()
		time.Sleep(time.Minute)
		for len(s.OpenAtTheExchange()) == 0 {
			time.Sleep(time.Second)
		}
		p.kill()
		p.bury()
		require.NotEmpty(t, s.OpenAtTheExchange())
		time.Sleep(151 * time.Second)
		require.Empty(t, s.OpenAtTheExchange())
		p = s.start()
		time.Sleep(time.Minute)
		require.NoError(t, p.end())
		s.agree(p)
	})
}

func TestTheLogTellsAChangeByWhatItAsksFor(t *testing.T) {
	bottest.Unraced(t)
	trouble(t, nil, nil, func(s *stage, _ *process) {
		price := func(message string) (prices []string) {
			for line := range strings.Lines(s.log.String()) {
				var said struct{ Message, Price string }
				if json.Unmarshal([]byte(line), &said) == nil && said.Message == message {
					prices = append(prices, said.Price)
				}
			}
			return prices
		}
		asked := s.traffic.changes()
		require.NotEmpty(s.T, asked)
		require.ElementsMatch(s.T, asked, price("change sent"))
		require.Subset(s.T, asked, price("change accepted"))
		require.NotEmpty(s.T, price("change accepted"))
	})
}

// changes are the prices that changes of orders asked for.
func (t *traffic) changes() (prices []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for write := range t.writes {
		if price := changedPrice.FindStringSubmatch(write); price != nil {
			prices = append(prices, price[1])
		}
	}
	return prices
}

var changedPrice = regexp.MustCompile(`^PUT .*"price":"([^"]+)"`)

func TestABanIsWaitedFor(t *testing.T) {
	ban := fault.Fault{Kind: fault.Error, Code: 105, Endpoints: []string{"POST /order"},
		After: 2 * time.Minute, Count: 1, Key: bottest.BotKey}
	trouble(t, func(c *sandbox.Config) { c.Faults = []fault.Fault{ban} }, nil, func(s *stage, _ *process) {
		time.Sleep(30 * time.Second)
		sent := s.traffic.sent()
		time.Sleep(20 * time.Second)
		require.Equal(s.T, sent, s.traffic.sent(), "nothing is sent during a ban")
		require.Contains(s.T, s.log.String(), "the exchange has banned the key")
	})
}

func TestAKeyThatIsRefusedAgainAndAgainHaltsAll(t *testing.T) {
	trouble(t, nil, nil, func(s *stage, p *process) {
		open := len(s.OpenAtTheExchange())
		s.traffic.bar(true)
		time.Sleep(time.Minute)
		placed := s.traffic.orders()
		time.Sleep(time.Minute)
		require.Equal(s.T, placed, s.traffic.orders(), "nothing is placed with a key that is refused")
		require.Equal(s.T, 1, strings.Count(s.log.String(), "the exchange refuses the key: all strategies are halted"))
		require.LessOrEqual(s.T, strings.Count(s.log.String(), "No active API key found"), 10+8*(open+1),
			"the commands until then, and the cancels of the halt, which come after 1, 2, 4, … seconds again")
		s.traffic.bar(false)
		require.NoError(s.T, p.loop.Do(context.Background(), func(at market.Time) []market.Command {
			halts := p.engine.Halts()
			require.Contains(s.T, halts[len(halts)-1].Reason, "the exchange refuses the key: ")
			return p.door.Enter(&market.Input{Kind: market.InputResume, At: at, Strategy: 1}).Commands
		}))
	})
}

func TestAMarketThatHaltsAndComesBackIsTradedAgain(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	for _, status := range []market.MarketStatus{market.Halted, market.Auction, market.CancelOnly} {
		trouble(t, func(c *sandbox.Config) {
			c.Faults = []fault.Fault{{Kind: fault.MarketStatus, Market: "BTC-EUR", Status: status,
				After: 2 * time.Minute},
				{Kind: fault.MarketStatus, Market: "BTC-EUR", Status: market.Trading, After: 3 * time.Minute}}
		}, nil, func(s *stage, _ *process) {
			time.Sleep(35 * time.Second) // the rules are asked for every 30 s
			orders := s.traffic.orders()
			time.Sleep(20 * time.Second)
			if status != market.Auction { // which collects orders
				require.Equal(s.T, orders, s.traffic.orders(), "nothing is placed in a market that is %s", status)
			}
			time.Sleep(40 * time.Second)
			require.Contains(s.T, s.log.String(),
				`"market":"BTC-EUR","status":"`+status.String()+`","message":"the market does not trade`)
			require.Contains(s.T, s.log.String(), "the market trades again")
		})
	}
}

func TestATickThatChangesUnderRestingOrdersIsKeptTo(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	for _, tick := range []string{"5", "0.5"} {
		trouble(t, func(c *sandbox.Config) {
			c.Faults = []fault.Fault{{Kind: fault.TickSize, Market: "BTC-EUR", Tick: tick,
				After: 2 * time.Minute}}
		}, nil, func(s *stage, _ *process) {
			time.Sleep(time.Minute)
			require.Contains(s.T, s.log.String(), `"tick_size":"`+tick+`","before":"1"`)
		})
	}
}

func TestARefusalByNewRulesHasThemAskedForAtOnce(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	trouble(t, func(c *sandbox.Config) {
		c.Faults = []fault.Fault{{Kind: fault.TickSize, Market: "BTC-EUR", Tick: "50", After: 2 * time.Minute}}
	}, func(s *stage) { s.config = strings.Replace(s.config, "[poll]", "[poll]\nrules = \"1h\"", 1) },
		func(s *stage, _ *process) {
			time.Sleep(time.Minute)
			require.Equal(s.T, 1, strings.Count(s.log.String(), "(code 422,"),
				"one order is off the new tick, those after it know it")
		})
}

func TestOrdersThatTheExchangeCancelsAreNotMissed(t *testing.T) {
	bottest.Unraced(t)
	trouble(t, func(c *sandbox.Config) {
		// at some of them an order is open
		for after := 30 * time.Second; after < 2*time.Minute; after += 5 * time.Second {
			c.Faults = append(c.Faults, fault.Fault{Kind: fault.CancelOrders, Account: "bot", After: after})
		}
	}, nil, func(s *stage, _ *process) {
		require.Regexp(s.T, `"state":"canceled".*"reason":"cancelOnAdminRequest".*"order ended"`, s.log.String())
	})
}

func TestASecondBotOnTheSameStateIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1, nil)
		p := s.start()
		time.Sleep(10 * time.Second)
		_, err := s.open()
		require.ErrorIs(t, err, bolt.ErrLocked)
		require.NoError(t, p.end())
		s.agree(p)
	})
}

func TestOrdersOfSomebodyElseOnTheAccountAreReportedAndLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1, nil)
		p := s.start()
		time.Sleep(30 * time.Second)
		foreign := s.place(s.Auditor, 99, market.Buy, "0.01", "15000")
		time.Sleep(25 * time.Second) // a reconcile is due every 20 s
		require.Contains(t, s.log.String(), "open orders on this account that are not ours")
		require.NoError(t, p.end())
		open := s.OpenAtTheExchange()
		require.Len(t, open, 1)
		require.Equal(t, foreign, open[0].Order.ClientOrderID)
	})
}

// place places a limit order by a client, and returns the name that it gave it.
func (s *stage) place(c *rest.Client, operator int64, side market.Side, amount, price string) uuid.UUID {
	m := s.Market()
	q, err := m.ParseQty(amount)
	require.NoError(s.T, err)
	at, err := m.ParsePrice(price)
	require.NoError(s.T, err)
	s.placed++
	name := market.ClientOrderID(uuid.UUID{9}, s.placed)
	intent, err := c.Prepare(&market.Command{Kind: market.CommandPlace,
		Order: market.Order{ID: s.placed, ClientOrderID: name, OperatorID: operator, Market: m.ID, Side: side,
			Type: market.TypeLimit, OrderState: market.OrderState{Amount: q, Price: at, TimeInForce: market.GTC,
				SelfTradePrevention: market.DecrementAndCancel}}})
	require.NoError(s.T, err)
	_, err = c.Send(context.Background(), &intent)
	require.NoError(s.T, err)
	return name
}

// Kills at the boundaries of an order's life: as a write is about to reach the exchange, and when
// it has been carried out and the bot has not heard of it.
func TestABotKilledAtAnyBoundaryOfAnOrdersLifeGoesOn(t *testing.T) {
	eachBoundary(t, 2**liveSeeds-1, killAt)
}

// eachBoundary plays kills with some seeds at each boundary: as a write of each kind is about to
// reach the exchange, and when the exchange has carried it out and the bot has not heard of it.
// With -short and one seed, it plays one of the two for each kind.
func eachBoundary(t *testing.T, seeds int, play func(t *testing.T, seed uint64, kind market.CommandKind, before bool)) {
	few := testing.Short() && *liveSeeds == 1
	if few {
		seeds = 1
	}
	for _, kind := range []market.CommandKind{market.CommandPlace, market.CommandUpdate, market.CommandCancel} {
		for _, before := range []bool{true, false} {
			if few && before != (kind == market.CommandUpdate) {
				continue
			}
			name := kind.String() + " done"
			if before {
				name = kind.String() + " about to be sent"
			}
			t.Run(name, func(t *testing.T) {
				for seed := range uint64(seeds) {
					synctest.Test(t, func(t *testing.T) { play(t, seed+1, kind, before) })
				}
			})
		}
	}
}

// killAtWrite starts the bot and kills it at the nth write of a kind, before or after the exchange
// has carried it out. It reports false if there were too few writes in five minutes; the bot is
// killed in any case.
func (s *stage) killAtWrite(kind market.CommandKind, before bool, nth int64) (came bool) {
	p, killed, writes := s.start(), make(chan struct{}), atomic.Int64{}
	s.traffic.on(func(r *http.Request, about bool) {
		if commandOf(r) == kind && about == before && writes.Add(1) == nth {
			p.kill()
			close(killed)
		}
	})
	select {
	case <-killed:
		came = true
	case <-time.After(5 * time.Minute):
		s.traffic.on(nil)
		p.kill()
	}
	p.bury()
	return came
}

func killAt(t *testing.T, seed uint64, kind market.CommandKind, before bool) {
	s := newStage(t, seed, nil)
	s.tighten(seed - 1)
	for range 4 {
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
}

func TestFillsOfAWeekendAreBookedAtTheNextStart(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	const fills = 1500
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1, func(c *sandbox.Config) {
			c.Markets[0].Source, c.Markets[0].Liquidity = prices.Fixed("30000"), sandbox.Liquidity{}
		})
		s.config, s.traffic.limits = keeperBot, limits{value: 9000}
		s.kinds = append(s.kinds, keeperKind)
		other, _ := s.client(bottest.OtherKey, "secret of the other")
		p := s.start()
		time.Sleep(30 * time.Second)
		require.NoError(t, p.end())
		open := s.OpenAtTheExchange()
		require.Len(t, open, 1, "kept")
		for n := range fills {
			s.place(other, 1, market.Sell, "0.0002", "29000")
			if n%10 == 9 {
				time.Sleep(25 * time.Minute)
			}
		}
		p = s.start()
		time.Sleep(time.Minute)
		require.NoError(t, p.end())
		require.Equal(t, fills, s.agree(p).Fills)
		held := p.account.Position(1, 1)
		require.EqualValues(t, fills*20_000, held.Amount)
	})
}

// The machine sleeps for an hour: its uptime, by which the bot reckons the exchange's time, stands
// still, and the exchange goes on.
func TestAMachineThatSleptKnowsTheExchangesTimeAtOnce(t *testing.T) {
	var hour atomic.Int64
	behind := func() time.Duration { return time.Duration(hour.Load()) }
	trouble(t, nil, func(s *stage) {
		s.now = func() time.Time { return time.Now().Add(-behind()) }
		s.slept = behind
	}, func(s *stage, p *process) {
		s.traffic.cut(true)
		before := p.client.Now()
		time.Sleep(time.Second)
		hour.Store(int64(time.Hour))
		time.Sleep(10 * time.Second)
		s.traffic.cut(false) // the network comes back a while after the machine
		require.Less(s.T, p.client.Now(), before, "it reckons by its uptime")
		time.Sleep(10 * time.Second)
		require.Less(s.T, market.Time(time.Now().UnixNano()).Sub(p.client.Now()).Abs(), time.Second)
	})
}
