package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
)

// limits are what the bot's config sets. Everything that reaches the exchange is held against them,
// as it is sent and as it has been carried out. A zero is none.
type limits struct {
	open, perMinute int
	value, position float64
	age             time.Duration
	money           float64 // that the bot trades with; 0: its account is not followed, and nothing below is looked at
	exposure        float64
	dailyLoss       float64
	drawdown        float64 // part of the highest equity
}

// stageLimits are those of stageBot.
var stageLimits = limits{open: 4, perMinute: 40, value: 700, position: 2500, age: 30 * time.Second, money: 10_000,
	exposure: 4000, dailyLoss: 4000}

// tight are limits that a bot on a stage comes to: each lets another one be reached.
var tight = []limits{{exposure: 600}, {dailyLoss: 8}, {drawdown: 0.001}}

// tighten sets one of the tight limits.
func (s *stage) tighten(n uint64) {
	l, g := &tight[n%uint64(len(tight))], &s.traffic.limits
	set := func(name, value string) {
		const risk = "[risk]\n"
		s.config = strings.Replace(s.config, name+" = \"4000\"\n", "", 1)
		s.config = strings.Replace(s.config, risk, risk+name+" = \""+value+"\"\n", 1)
	}
	text := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	switch {
	case l.exposure > 0:
		set("max_exposure", text(l.exposure))
		g.exposure = l.exposure
	case l.dailyLoss > 0:
		set("max_daily_loss", text(l.dailyLoss))
		g.dailyLoss = l.dailyLoss
	default:
		set("max_drawdown", text(l.drawdown))
		g.drawdown = l.drawdown
	}
}

// refusals counts what the gate refused, over many plays.
type refusalCount struct {
	mu    sync.Mutex
	plays int
	by    map[string]int64
}

func (c *refusalCount) add(p *process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]int64{}
	}
	c.plays++
	for _, refused := range p.gate.Refused(1) {
		c.by[refused.Reason] += refused.N
	}
}

// require wants every tight limit to have kept something back; few plays may come to none.
func (c *refusalCount) require(t *testing.T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t.Logf("refused in %d plays: %v", c.plays, c.by)
	if c.plays < 4*len(tight) {
		return
	}
	for _, reason := range []risk.Reason{risk.ReasonMaxExposure, risk.ReasonDailyLoss, risk.ReasonDrawdown} {
		require.Positive(t, c.by[reason.String()], reason)
	}
}

const (
	drift    = 1.02             // how far the price moves at most between a decision and its look at it, over a play
	underWay = 10 * time.Second // how long a decision may be on its way: its window
)

// gauge watches over the limits. Its traffic's lock guards it.
type gauge struct {
	limits
	auditor *rest.Client // nil: what the exchange holds is not looked at
	market  *market.Market
	before  market.Money // of its base
	price   float64      // as the bot last heard it
	heard   time.Time    // when
	growing []time.Time  // of places and updates
	exits   map[string]bool
	most    int // open orders, at any moment
	told
}

// write is the body of a place or an update.
type write struct {
	ClientOrderID string `json:"clientOrderId"`
	Side          string `json:"side"`
	Amount        string `json:"amount"`
	Price         string `json:"price"`
	Trigger       string `json:"triggerAmount"`
	CodGroupID    int    `json:"codGroupId"`
}

// passage is a write on its way.
type passage struct {
	write
	method string
	left   time.Time
	day    int64 // on the exchange's clock
	before standing
}

// standing is an order as the exchange has it.
type standing struct {
	there, buy                   bool
	price, amount, trigger, hold float64
}

// standing asks the exchange for an order by its name.
func (t *traffic) standing(name string) (s standing) {
	g := &t.gauge
	id, err := uuid.Parse(name)
	if err != nil {
		return s
	}
	record, err := g.auditor.Order(context.Background(), g.market.ID, id, uuid.Nil)
	if err != nil {
		return s
	}
	o, m := &record.Order, g.market
	return standing{there: true, buy: o.Side == market.Buy, price: number(m.FormatPrice(o.Price)),
		amount: number(m.FormatQty(o.Amount)), trigger: number(m.FormatPrice(o.TriggerAmount)),
		hold: float64(o.OnHold) / 100}
}

// leave notes a write that is about to leave the bot.
func (t *traffic) leave(method string, body []byte) *passage {
	p := &passage{method: method, left: time.Now()}
	_ = json.Unmarshal(body, &p.write)
	if g := &t.gauge; g.money > 0 {
		p.day = g.auditor.Now().Day()
		if method == http.MethodPut {
			p.before = t.standing(p.ClientOrderID)
		}
	}
	return p
}

// sentWrite looks at a place or an update that leaves the bot.
func (t *traffic) sentWrite(p *passage) {
	g, w := &t.gauge, &p.write
	if p.method == http.MethodPost && w.Price+w.Trigger != "" && w.CodGroupID == 0 {
		g.exits[w.ClientOrderID] = true // of a bracket: it protects, and only what the exchange asks holds for it
	}
	if p.method == http.MethodDelete || g.exits[w.ClientOrderID] {
		return
	}
	if worth := number(w.Amount) * number(w.Price); g.value > 0 && worth > g.value {
		t.t.Errorf("an order over %f, beyond the limit: %+v", worth, w)
	}
	now := time.Now()
	if g.age > 0 && p.opens() && now.Sub(g.heard) > g.age+underWay {
		t.t.Errorf("an order that opens on prices of %s ago: %+v", now.Sub(g.heard), w)
	}
	if g.money > 0 {
		t.heedEquity(p)
	}
	g.growing = slices.DeleteFunc(append(g.growing, now),
		func(at time.Time) bool { return now.Sub(at) >= time.Minute-underWay })
	if g.perMinute > 0 && len(g.growing) > g.perMinute {
		t.t.Errorf("%d places and updates within a minute, %s %+v, %v", len(g.growing), p.method, p.write, g.growing)
	}
}

// hearPrices reads the prices that the bot hears.
func (t *traffic) hearPrices(path string, answer *http.Response) {
	if path != "/v2/ticker/price" && path != "/v2/ticker/book" || answer.StatusCode != http.StatusOK {
		return
	}
	body := answer.Body.(*served)
	text, _ := io.ReadAll(body.Reader)
	body.Reader = bytes.NewReader(text)
	var list []struct{ Price string }
	if json.Unmarshal(text, &list) != nil || body.broken {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.heard = time.Now()
	for _, row := range list {
		if price, err := strconv.ParseFloat(row.Price, 64); err == nil {
			t.price = price
		}
	}
}

// holding is what the exchange has of the bot.
type holding struct {
	open        int
	base, reach float64 // what it holds, and could with what its buys have open
	hold        float64 // money for those
}

// look asks the exchange what it has of the bot.
func (t *traffic) look() (h holding) {
	g := &t.gauge
	held, records := t.snapshot()
	base, reach, hold := -g.before, market.Money(0), market.Money(0)
	for _, h := range held {
		if h.Asset == g.market.Base {
			base += h.Available + h.Orders
		}
	}
	for i := range records {
		o := &records[i].Order
		if o.CodGroupID != 0 {
			h.open++
		}
		if o.Side == market.Buy && o.CodGroupID != 0 { // a foreign buy does not count towards the bot's position
			reach += market.Money(o.AmountRemaining)
			hold += o.OnHold
		}
	}
	h.base, h.reach, h.hold = float64(base)/1e8, float64(base+reach)/1e8, float64(hold)/100
	return h
}

// carriedOut looks at the exchange after it has carried out a write.
func (t *traffic) carriedOut(p *passage) {
	g := &t.gauge
	if g.auditor == nil {
		return
	}
	have := t.look()
	grew := false
	if g.money > 0 && (p.method == http.MethodPost && p.Side == "buy" || p.method == http.MethodPut && p.before.buy) {
		after := t.standing(p.ClientOrderID)
		grew = after.there && (!p.before.there || after.hold > p.before.hold)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	g.most = max(g.most, have.open)
	if g.open > 0 && have.open > g.open {
		t.t.Errorf("%d orders are open at the exchange", have.open)
	}
	if g.position > 0 && have.reach*g.price > g.position*drift {
		t.t.Errorf("the position can come to %f BTC at %f; %s %+v left at %s, %+v", have.reach, g.price, p.method,
			p.write, p.left, have)
	}
	// Its price is one that the bot had been told when it decided, or a later one: other orders may
	// have been decided on that.
	if exposure := have.base*g.lowest(p.left.Add(-underWay)) + have.hold; grew && exposure > g.exposure+0.01 {
		t.t.Errorf("%s %+v, left at %s, lets the exposure come to %f: %+v", p.method, p.write, p.left, exposure, have)
	}
}

// snapshot is the balances and the open orders of one moment: a fill between the two questions
// would count in both.
func (t *traffic) snapshot() (held []exchange.Holding, records []exchange.WireOrder) {
	for {
		held, err := t.gauge.auditor.Holdings(context.Background())
		require.NoError(t.t, err)
		records, err := t.gauge.auditor.OpenOrders(context.Background())
		require.NoError(t.t, err)
		after, err := t.gauge.auditor.Holdings(context.Background())
		require.NoError(t.t, err)
		if slices.Equal(held, after) {
			return held, records
		}
	}
}

// reached is how many orders were open at once, at most.
func (t *traffic) reached() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.most
}

// sameOpen waits for a moment at which the bot and the exchange have the same open orders. The two
// differ while a request is under way or the bot has not heard of a fill yet. Only the bot trades
// on this exchange.
func (s *stage) sameOpen(p *process) {
	var theirs, ours []string
	for range 240 {
		theirs, ours = nil, nil
		for _, r := range s.OpenAtTheExchange() {
			theirs = append(theirs, r.Order.ClientOrderID.String())
		}
		require.NoError(s.T, p.loop.Inspect(context.Background(), func(market.Time) {
			for _, o := range p.account.Open(nil, 0, 0) {
				ours = append(ours, o.ClientOrderID.String())
			}
		}))
		slices.Sort(theirs)
		slices.Sort(ours)
		if slices.Equal(theirs, ours) {
			return
		}
		time.Sleep(250 * time.Millisecond)
	}
	require.Equal(s.T, theirs, ours)
}

// The closes of volatility_target outlive a stop: the bot goes on as if there had been none. A
// replay makes the same smaller orders of them.
func TestTheClosesOfATargetOutliveAStop(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 4, nil)
		s.config = strings.Replace(s.config, "[risk]\n", "[risk]\nvolatility_target = \"2%\"\n"+
			"max_asset_exposure = {BTC = 3000}\nopposite = \"refuse\"\n", 1)
		scaled := func(p *process) (n int64) {
			p.look(func() {
				use, followed, err := p.gate.Volatility(p.account)
				require.NoError(t, err)
				require.True(t, followed)
				require.Empty(t, use.Short)
				n = p.gate.Scaled(1)
				t.Logf("expected %s, %d orders smaller", use.Expected, n)
			})
			return n
		}
		p := s.start()
		time.Sleep(24 * time.Minute)
		before := scaled(p)
		require.Positive(t, before)
		require.NoError(t, p.end())
		p = s.start()
		require.GreaterOrEqual(t, scaled(p), before)
		time.Sleep(4 * time.Minute)
		require.Greater(t, scaled(p), before)
		require.NoError(t, p.end())
		s.agree(p)
		require.Zero(t, s.replayed().Unchecked)
	})
}
