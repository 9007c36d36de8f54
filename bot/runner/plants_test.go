package runner

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/rerun/gap"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// plant is one cause of a difference between live and backtest, planted into a live run.
type plant struct {
	name     string
	fact     gap.Fact // whose term is to have the difference
	exchange func(*sandbox.Config)
	wrap     func(http.RoundTripper) http.RoundTripper // between the bot and the wire
	acts     []act
}

// act is something that happens in a live run, so long after its trading begins. It returns the
// process that goes on.
type act struct {
	at time.Duration
	do func(s *stage, b *process) *process
}

// growth is a live run with its plants, and the backtest of the same candles and settings.
type growth struct {
	folder   string // of its state
	settings string // of the bot
	candles  []stored
	db       string // of the candles
	from, to market.Time

	live, tested ends
}

// ends is how a run ended.
type ends struct {
	orders, fills int
	equity        market.Money // of the account, in cents
}

// bed is where causes are planted: strategies that trade the same live and in a backtest where
// nothing is planted.
type bed struct {
	seed    uint64
	minutes int
}

// bedSections take and make, each strategy in a market of its own: two orders that arrive in one
// market at one instant would be filled in any order. A wrong price, a late or a refused order, and
// a missing candle each change what they do.
var bedSections = section("trend", "smacross", bitcoin, "1m",
	`allocation = "12000"`+"\n"+`params = { fast = 1, slow = 2, share = "0.9" }`) +
	section("revert", "rsirevert", ether, "1m", `allocation = "8000"
params = { period = 2, low = 49.0, high = 51.0, offset_bps = "2", target_bps = "8", expire = 3, share = "0.9" }`)

const bedHead = `
[bot]
keep_orders = true
[exchange]
base_url = "https://exchange.test/v2"
key_env = "KEY"
secret_env = "SECRET"
window = "60s"
weight_per_key = 1000000
weight_per_ip = 1000000
[poll]
tickers = "2s"
balances = "10s"
`

// grow runs the bed live with the plants, and its backtest.
func (d *bed) grow(t *testing.T, plants ...*plant) *growth {
	g := &growth{folder: filepath.Join(memoryFolder(t), "state"), settings: bedHead + bedSections}
	synctest.Test(t, func(t *testing.T) { d.trade(t, g, plants) })
	p := play{}
	p.strategies = bedSections
	observed := &purse{trail: newTrail(g.to)}
	g.db = p.testedBy(t, g.candles, g.from, g.to, observed)
	g.tested = observed.ends()
	return g
}

// trade runs the bed live.
func (d *bed) trade(t *testing.T, g *growth, plants []*plant) {
	const history = 3 * time.Hour
	begin, err := market.TimeOf(time.Now())
	require.NoError(t, err)
	p := play{weather: weather{seed: d.seed, wicks: true, daily: 0.1}}
	p.still = func(minute int) bool { return minute >= 180+d.minutes-3 } // the end of the record changes nothing
	all := p.markets(t, begin.Add(-history), 180+d.minutes+1)
	g.to = begin.Add(time.Duration(d.minutes) * time.Minute)
	s := newStage(t, d.seed, func(c *sandbox.Config) {
		world(all, history)(c)
		c.Admin, c.Accounts[0].Keys[1].Withdraw = "open", true
		for _, one := range plants {
			if one.exchange != nil {
				one.exchange(c)
			}
		}
	})
	s.kinds, s.config, s.traffic.limits = shipped.Definitions(), g.settings, limits{value: 1e12}
	s.wrap = wrapAll(plants)
	time.Sleep(10 * time.Second)
	live := &purse{trail: newTrail(g.to)}
	b := s.begin(live)
	g.from = market.Interval1m.Floor(b.began)
	b = s.perform(b, begin, plants)
	time.Sleep(g.to.Sub(s.ex.Clock().Now()) - 2*time.Second)
	require.NoError(t, b.end())
	live.Ended(b.account)
	g.live = live.ends()
	for _, one := range all {
		g.candles = append(g.candles, s.candlesOf(one, g.to))
	}
	require.NoError(t, s.ex.Err())
	s.replayed()
	require.NoError(t, os.CopyFS(g.folder, os.DirFS(s.Folder)))
}

// begin starts a bot that the purse follows.
func (s *stage) begin(live *purse) *process {
	s.observer = live
	b, err := s.open()
	require.NoError(s.T, err)
	live.of(b.plan.Catalog, b.plan.Names())
	ctx := b.ctx()
	go func() { b.done <- b.trade(ctx) }()
	return b
}

// perform carries out the acts of the plants, each at its time.
func (s *stage) perform(b *process, begin market.Time, plants []*plant) *process {
	var all []act
	for _, one := range plants {
		all = append(all, one.acts...)
	}
	slices.SortStableFunc(all, func(a, b act) int { return cmp.Compare(a.at, b.at) })
	for _, one := range all {
		time.Sleep(begin.Add(one.at).Sub(s.ex.Clock().Now()))
		b = one.do(s, b)
	}
	return b
}

// wrapAll is all wires of the plants, one around the other.
func wrapAll(plants []*plant) func(http.RoundTripper) http.RoundTripper {
	return func(inner http.RoundTripper) http.RoundTripper {
		for _, one := range plants {
			if one.wrap != nil {
				inner = one.wrap(inner)
			}
		}
		return inner
	}
}

// candlesOf is what the exchange tells of a market, as `bot candles fetch` stores it.
func (s *stage) candlesOf(one *series, to market.Time) stored {
	told, err := s.Auditor.Candles(context.Background(), s.Units.MarketNamed(one.name), market.Interval1m,
		one.candles[0].Start, to, 1440, nil)
	require.NoError(s.T, err)
	return stored{name: one.name, tick: tickText(one.tick),
		candles: map[market.Interval][]market.Candle{market.Interval1m: told}}
}

// purse is a trail that knows what the account was worth in the end.
type purse struct {
	*trail
	equity market.Money
}

// Ended is of backtest.Observer.
func (p *purse) Ended(a *state.Account) {
	p.trail.Ended(a)
	p.equity, _ = a.Equity(p.catalog.AssetNamed("EUR").ID)
}

func (p *purse) ends() ends { return ends{p.counts["place"], p.counts["fill"], p.equity} }

// plants are the causes, each by itself.
var plants = []*plant{
	{name: "latency", fact: gap.Orders,
		exchange: faulty(fault.Fault{Kind: fault.DelayRequest, Delay: 40_400 * time.Millisecond,
			Endpoints: []string{"POST /order"}, Key: bottest.BotKey})},
	{name: "spread", fact: gap.Data, exchange: func(c *sandbox.Config) {
		for i := range c.Markets {
			c.Markets[i].Liquidity.HalfSpread = 200_000
		}
	}},
	{name: "missed candle", fact: gap.Data, wrap: without(10*time.Minute, 14*time.Minute, 22*time.Minute,
		42*time.Minute)},
	{name: "refused order", fact: gap.Orders,
		exchange: faulty(fault.Fault{Kind: fault.Error, Code: 400, Nth: 4, Market: "BTC-EUR",
			Endpoints: []string{"POST /order"}, Key: bottest.BotKey})},
	{name: "foreign order", fact: gap.People, acts: []act{{5*time.Minute + 30*time.Second, foreignOrder}}},
	{name: "late fee", fact: gap.Fees, exchange: faulty(fault.Fault{Kind: fault.LateSettlement, Delay: 5 * time.Hour,
		After: 15 * time.Minute, Key: bottest.BotKey})},
	{name: "restart", fact: gap.People, acts: []act{{30*time.Minute + calmSecond*time.Second, restarted}}},
	{name: "withdrawal", fact: gap.People, acts: []act{{8*time.Minute + 30*time.Second, withdrawal}}},
}

// foreignOrder buys with the money of the strategies.
func foreignOrder(s *stage, b *process) *process {
	s.saved(8000_00)
	s.place(s.Auditor, 99, market.Buy, "0.2", "32400")
	return b
}

// saved waits until so many cents lie free on the account in the middle of a minute, when no order
// is on its way.
func (s *stage) saved(cents market.Money) {
	for free := market.Money(0); ; time.Sleep(time.Minute) {
		held, err := s.Auditor.Holdings(context.Background())
		require.NoError(s.T, err)
		for _, h := range held {
			if h.Asset == s.Market().Quote {
				free = h.Available
			}
		}
		if free >= cents {
			return
		}
	}
}

// restarted ends a bot in good order and starts it again after four minutes.
func restarted(s *stage, b *process) *process {
	require.NoError(s.T, b.end())
	time.Sleep(4 * time.Minute)
	return s.begin(s.observer.(*purse))
}

// withdrawal takes money away that no position needs.
func withdrawal(s *stage, b *process) *process {
	s.saved(8000_00)
	s.withdraw("EUR", "6000", "GB82WEST12345698765432")
	return b
}

func faulty(f fault.Fault) func(*sandbox.Config) {
	return func(c *sandbox.Config) { c.Faults = append(c.Faults, f) }
}

// without is a wire on which the candles of some minutes of BTC-EUR never arrive.
func without(minutes ...time.Duration) func(http.RoundTripper) http.RoundTripper {
	return func(inner http.RoundTripper) http.RoundTripper {
		var missing [][]byte
		begin := market.Interval1m.Floor(market.Time(time.Now().UnixNano()))
		for _, minute := range minutes {
			missing = append(missing, fmt.Appendf(nil, "[%d,", begin.Add(minute).Millis()))
		}
		return hook(func(r *http.Request) (*http.Response, error) {
			answer, err := inner.RoundTrip(r)
			if err != nil || !strings.HasSuffix(r.URL.Path, "/BTC-EUR/candles") || answer.StatusCode != http.StatusOK {
				return answer, err
			}
			body, err := io.ReadAll(answer.Body)
			var rows []json.RawMessage
			if err == nil {
				err = json.Unmarshal(body, &rows)
			}
			if err != nil {
				return nil, err
			}
			rows = slices.DeleteFunc(rows, func(row json.RawMessage) bool {
				return slices.ContainsFunc(missing, func(m []byte) bool { return bytes.HasPrefix(row, m) })
			})
			body, err = json.Marshal(rows)
			answer.Body = io.NopCloser(bytes.NewReader(body))
			return answer, err
		})
	}
}

// hook is a function as a RoundTripper.
type hook func(*http.Request) (*http.Response, error)

// RoundTrip calls it.
func (h hook) RoundTrip(r *http.Request) (*http.Response, error) { return h(r) }
