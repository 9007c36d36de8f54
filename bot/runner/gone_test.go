package runner

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/adopt"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
)

// refusing answers every request that names a market as the exchange does after a delisting.
type refusing struct{ exchange.Trading }

func (refusing) Order(context.Context, market.ID, uuid.UUID, uuid.UUID) (exchange.WireOrder, error) {
	return exchange.WireOrder{}, exchange.Invalid("market")
}

func (refusing) OpenOrdersIn(context.Context, market.ID) ([]exchange.WireOrder, error) {
	return nil, exchange.Invalid("market")
}

func (refusing) Trades(context.Context, market.ID, market.Time) ([]exchange.Trade, bool, error) {
	return nil, false, exchange.Invalid("market")
}

func (refusing) Send(context.Context, *exchange.Intent) (exchange.WireOrder, error) {
	return exchange.WireOrder{}, exchange.Invalid("market")
}

func TestInAMarketThatHasGoneTheExchangeKnowsNoOrder(t *testing.T) {
	d := &delistings{Trading: refusing{}}
	code := func(err error) int {
		var refused *exchange.Error
		require.ErrorAs(t, err, &refused)
		return refused.Code
	}
	ask := func() error {
		_, err := d.Order(t.Context(), 1, uuid.New(), uuid.Nil)
		return err
	}
	require.Equal(t, exchange.CodeInvalid, code(ask()), "a market that is listed: the refusal says nothing")
	d.note(1, market.Delisted)
	require.Equal(t, exchange.CodeNotFound, code(ask()))
	open, err := d.OpenOrdersIn(t.Context(), 1)
	require.NoError(t, err)
	require.Empty(t, open)
	trades, more, err := d.Trades(t.Context(), 1, 1)
	require.NoError(t, err)
	require.Empty(t, trades)
	require.False(t, more)
	_, err = d.Send(t.Context(), &exchange.Intent{Command: market.CommandCancel, Market: 1})
	require.Equal(t, exchange.CodeNotFound, code(err))
	_, err = d.Send(t.Context(), &exchange.Intent{Command: market.CommandPlace, Market: 1})
	require.Equal(t, exchange.CodeInvalid, code(err), "a place is refused")
	_, err = d.Trading.OpenOrdersIn(t.Context(), 2)
	require.Equal(t, exchange.CodeInvalid, code(err), "another market")
	d.note(1, market.Trading)
	require.Equal(t, exchange.CodeInvalid, code(ask()), "it is back")
}

// ownedUntilItGoes is a stage and its bot, which holds a position with an exit. BTC-EUR goes where
// the bool is set, and ETH-EUR stays.
func ownedUntilItGoes(t *testing.T, more ...func(*sandbox.Config)) (*stage, *process, *atomic.Bool) {
	s := owned(t, overPolls, func(c *sandbox.Config) {
		c.Assets = append(c.Assets, sandbox.Asset{Symbol: "ETH", Decimals: 8})
		other := c.Markets[0]
		other.Name = "ETH-EUR"
		c.Markets = append(c.Markets, other)
		for _, change := range more {
			change(c)
		}
	})
	s.config = strings.Replace(s.config, "[poll]\n", "[poll]\nrules = \"30s\"\n", 1)
	gone := &atomic.Bool{}
	s.wrap = func(next http.RoundTripper) http.RoundTripper {
		return bottest.Delisted{Next: next, Market: "BTC-EUR", Gone: gone}
	}
	p := s.start()
	time.Sleep(30 * time.Second)
	require.NotEmpty(t, s.resting())
	return s, p, gone
}

// A handover promises no exit in a market that has gone.
func TestAHandoverSaysThatAMarketThatHasGoneHasNoExit(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s, p, gone := ownedUntilItGoes(t)
		gone.Store(true)
		time.Sleep(6 * time.Minute)
		require.NoError(t, p.end())
		s.rename("held", "heir")
		r, err := s.adopt("held", "heir", func(*adopt.Ask) {})
		require.NoError(t, err)
		said := strings.Join(r.Notes, "\n")
		require.Contains(t, said, "0.01 of BTC-EUR have no exit: the exchange lists BTC-EUR no more")
		require.NotContains(t, said, "the next start places it")
		p = s.start()
		time.Sleep(time.Minute)
		p.look(func() { require.EqualValues(t, 1_000_000, p.account.Position(1, 1).Amount) })
		require.NoError(t, p.end())
	})
}

// A strategy goes from the config with a position in a market that has gone: the start names the
// position and the way out, and loses nothing.
func TestARemovedStrategyInAMarketThatHasGoneNamesTheWayOut(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s, p, gone := ownedUntilItGoes(t)
		gone.Store(true)
		time.Sleep(3 * time.Minute)
		require.NoError(t, p.end())
		s.rename("held", "heir")
		_, err := s.open()
		require.ErrorContains(t, err, `strategy "held" is gone and holds 0.01 of BTC-EUR, which the exchange lists no `+
			"more; take it back into the config, start, then write it off: bot resolve --gone BTC-EUR")
		s.rename("heir", "held")
		p = s.start()
		time.Sleep(time.Minute)
		c := &control{r: p.runner, ctx: t.Context()}
		report, err := c.resolve(t.Context(), &operator.Request{Gone: "BTC-EUR"})
		require.NoError(t, err)
		require.Equal(t, []operator.WrittenOff{{Strategy: "held", Market: "BTC-EUR", Amount: "0.01"}},
			report.WrittenOff)
		require.NoError(t, p.end())
		s.rename("held", "heir")
		p = s.start() // a position that was written off hinders no start
		time.Sleep(time.Minute)
		require.NoError(t, p.end())
	})
}

// A market goes while a position is held there: the operator writes it off, the journal tells of
// it, and the next start goes on, with the market still in the config.
func TestAMarketThatHasGoneIsWrittenOffAndTheNextStartGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p, gone := ownedUntilItGoes(t)
		c := &control{r: p.runner, ctx: t.Context()}
		_, err := c.resolve(t.Context(), &operator.Request{Gone: "BTC-EUR"})
		require.ErrorContains(t, err, "the exchange lists BTC-EUR (trading): bot flatten sells what is held there")
		gone.Store(true)
		time.Sleep(3 * time.Minute)
		report, err := c.resolve(t.Context(), &operator.Request{Gone: "BTC-EUR"})
		require.NoError(t, err)
		require.Equal(t, []operator.WrittenOff{{Strategy: "held", Market: "BTC-EUR", Amount: "0.01"}},
			report.WrittenOff)
		require.True(t, report.Done)
		require.Contains(t, p.unallocated(), "1.01 BTC", "at once, and it is no news later")
		p.look(func() {
			require.Zero(t, p.account.Position(1, 1).Amount)
			require.NoError(t, p.account.Check())
		})
		time.Sleep(2 * time.Minute)
		p.look(func() {
			_, halted := p.engine.Halted(1)
			require.False(t, halted, "what the account still has of it is unallocated")
		})
		require.NoError(t, p.end())
		require.Contains(t, s.told(nil, "journal"), "transfer")

		p = s.start()
		time.Sleep(2 * time.Minute)
		p.look(func() {
			require.Zero(t, p.account.Position(1, 1).Amount)
			_, halted := p.engine.Halted(1)
			require.False(t, halted)
		})
		require.NoError(t, p.end())
		require.Empty(t, s.concluded())
	})
}

// An exit fills just before its market goes, and the bot could not hear of it. Its end is booked
// without the fill, because nothing tells of it; what the exchange has then is not another's. When
// the market is back, its trades tell, also a later start.
func TestAFillFromBeforeAMarketWentIsBookedWhenItIsBack(t *testing.T) {
	bottest.Unraced(t)
	for name, restarts := range map[string]bool{"it runs on": false, "a start": true} {
		for own, balance := range map[string]string{"": "0", ", beside the owner's coins": "1"} {
			t.Run(name+own, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, p, gone := ownedUntilItGoes(t, func(c *sandbox.Config) {
						c.Admin, c.Accounts[0].Balances["BTC"] = "open", balance
					})
					gone.Store(true)
					s.admin(http.MethodPost, "price",
						map[string]any{"market": "BTC-EUR", "price": "20000", "amount": "0.01"})
					time.Sleep(4 * time.Minute)
					require.Empty(t, s.OpenAtTheExchange(), "the exit has sold")
					p.look(func() { require.Equal(t, market.Qty(1_000_000), p.account.Position(1, 1).Amount) })
					if restarts {
						require.NoError(t, p.end())
						gone.Store(false)
						p = s.start()
					}
					gone.Store(false)
					time.Sleep(2 * time.Minute)
					var flaw error
					var held market.Qty
					p.look(func() { flaw, held = p.account.Check(), p.account.Position(1, 1).Amount })
					require.NoError(t, flaw)
					require.EqualValues(t, s.Holdings()[s.Market().Base]-s.Before[s.Market().Base], held)
					if !restarts { // a start buys again
						s.holds(p, 0)
					}
					require.NoError(t, p.end())
				})
			})
		}
	}
}

// dusty is a stage whose bot holds less than the market's minimum: the owner has sold the rest. The
// market goes then, if gone is true.
func dusty(t *testing.T, gone bool) *stage {
	s, p, isGone := ownedUntilItGoes(t, func(c *sandbox.Config) { c.Accounts[0].Balances["BTC"] = "0" })
	exit := s.resting()
	s.byHand(exit, market.CommandCancel, 0)
	s.byHand(market.Order{Market: 1, Side: market.Sell, Type: market.TypeMarket, ClientOrderID: uuid.New(),
		OrderState: market.OrderState{Amount: 999_000, TimeInForce: market.GTC,
			SelfTradePrevention: market.DecrementAndCancel}}, market.CommandPlace, 0)
	time.Sleep(5 * time.Minute)
	p.look(func() { require.EqualValues(t, 1_000, p.account.Position(1, 1).Amount) })
	isGone.Store(gone)
	time.Sleep(3 * time.Minute)
	require.NoError(t, p.end())
	return s
}

// A strategy with dust goes from the config, or another takes it over, also where the market has
// gone: the start says what becomes of it, once.
func TestDustHindersNoStartAndIsNamed(t *testing.T) {
	bottest.Unraced(t)
	for _, gone := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := dusty(t, gone)
			s.rename("held", "heir")
			p := s.start()
			time.Sleep(time.Minute)
			require.Contains(t, s.log.Tail(100), `"strategy":"held","market":"BTC-EUR","amount":"0.00001","message":`+
				`"a strategy that is gone from the config has left dust`)
			require.NoError(t, p.end())
			before := len(s.log.Tail(1000))
			p = s.start()
			time.Sleep(time.Minute)
			require.NotContains(t, s.log.Tail(1000)[before:], "has left dust")
			require.NoError(t, p.end())
		})
		synctest.Test(t, func(t *testing.T) {
			s := dusty(t, gone)
			s.rename("held", "heir")
			_, err := s.adopt("held", "heir", func(*adopt.Ask) {})
			require.NoError(t, err)
			p := s.start()
			time.Sleep(time.Minute)
			p.look(func() { // a strategy that begins buys, where it can
				require.EqualValues(t, 1_000, p.account.Position(1, 1).Amount%1_000_000)
			})
			require.NoError(t, p.end())
		})
	}
}

// A bid fills as its market goes, and the account has no money beside the bot's: the exchange has
// less than the books, and more of the coin. Only the strategy of that market is halted. The fill
// is booked when the market is back, also by a later start, or what is missing is written off.
func TestAPurchaseAsItsMarketWentHaltsOnlyItsStrategy(t *testing.T) {
	for _, end := range []string{"it is back", "it is back at a start", "it is written off",
		"it is written off after a start"}[:bottest.Rounds(4, 1)] {
		t.Run(end, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p, gone := boughtAsItGoes(t)
				halts := func(bids bool) string {
					var first, second bool
					var halt engine.Halt
					var flaw error
					p.look(func() {
						halt, first = p.engine.Halted(1)
						_, second = p.engine.Halted(2)
						flaw = p.account.Check()
					})
					require.NoError(t, flaw)
					require.Equal(t, []bool{bids, false}, []bool{first, second}, halt.Reason)
					return halt.Reason
				}
				require.Contains(t, halts(true), "the exchange has 150.23 EUR less and 0.005 BTC more than the books: "+
					"a purchase in BTC-EUR as it went would explain it")
				if strings.HasSuffix(end, "start") {
					require.NoError(t, p.end())
					gone.Store(end == "it is written off after a start")
					p = s.start()
					time.Sleep(2 * time.Minute)
				}
				if strings.HasPrefix(end, "it is back") {
					gone.Store(false)
					time.Sleep(2 * time.Minute)
					var held market.Qty
					p.look(func() { held = p.account.Position(1, 1).Amount })
					require.EqualValues(t, 500_000, held)
				} else {
					c := &control{r: p.runner, ctx: t.Context()}
					report, err := c.resolve(t.Context(), &operator.Request{Gone: "BTC-EUR"})
					require.NoError(t, err)
					require.Contains(t, report.Words(operator.PathResolve, &operator.Request{Gone: "BTC-EUR"}),
						"written off, what purchases there seem to have cost: half 150.23")
				}
				_, err := (&control{r: p.runner, ctx: t.Context()}).resume(t.Context(), &operator.Request{})
				require.NoError(t, err)
				time.Sleep(3 * time.Minute)
				halts(false)
				have, quote, total := s.Holdings(), s.Market().Quote, market.Money(0)
				p.look(func() { total = p.account.Total(quote).Total })
				require.Equal(t, have[quote], total)
				require.NoError(t, p.end())
			})
		})
	}
}

// boughtAsItGoes is a stage of two strategies that have all money of the account. A bid of the
// first has filled as its market went.
func boughtAsItGoes(t *testing.T) (*stage, *process, *atomic.Bool) {
	s := newStage(t, 7, func(c *sandbox.Config) {
		c.Admin, c.Assets = "open", append(c.Assets, sandbox.Asset{Symbol: "ETH", Decimals: 8})
		c.Accounts[0].Balances["BTC"], c.Accounts[0].Balances["EUR"] = "0", "6000"
		c.Markets[0].Source = prices.Fixed("30000")
		other := c.Markets[0]
		other.Name = "ETH-EUR"
		c.Markets = append(c.Markets, other)
	})
	s.kinds = append(s.kinds, halfKind)
	s.config = strings.NewReplacer("strategies.restless", "strategies.half", `"restless"`, `"half"`,
		"params.seed = 7\n", "", "[poll]\n", "[poll]\nrules = \"30s\"\n").Replace(s.config)
	s.twins("half", "other", `["ETH-EUR"]`)
	gone := &atomic.Bool{}
	s.wrap = func(next http.RoundTripper) http.RoundTripper {
		return bottest.Delisted{Next: next, Market: "BTC-EUR", Gone: gone}
	}
	p := s.start()
	time.Sleep(time.Minute)
	require.Len(t, s.OpenAtTheExchange(), 2)
	gone.Store(true)
	s.sellInto("0.005")
	s.admin(http.MethodPost, "cancelOrders", map[string]any{"market": "BTC-EUR", "reason": "cancelOnDelisting"})
	time.Sleep(4 * time.Minute)
	return s, p, gone
}
