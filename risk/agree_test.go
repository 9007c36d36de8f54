package risk_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
)

// pair is a gate with its account beside a venue, which see the same market at the same instant.
type pair struct {
	t       testing.TB
	random  *rand.Rand
	m       *market.Market
	account *state.Account
	gate    *risk.Gate
	venue   *sim.Venue
	now     market.Time
	id      market.OrderID
	price   market.Price
	both    bool // the venue is asked what the gate refused, too
	answer  int  // of the venue to the command at hand: -1 accepted, else the error code
	asked   market.OrderID
	open    []*market.Order
}

func newPair(t testing.TB, seed uint64, config risk.Config) *pair {
	c, m := newMarket(t)
	m.MaxOpenOrders, m.MinOrderInBase = 6, 50_000
	m.MaxOrderInQuote = 90_000 * eur
	fees := func(*market.Market) exchange.Fees { return exchange.Fees{Maker: 150_000, Taker: 250_000} }
	config.Fees, config.Strategies = fees, append(config.Strategies, make([]risk.Limits, 2)...)
	config.Account.AllowSelfCross, config.Account.Currency = true, m.Quote
	p := &pair{t: t, random: rand.New(rand.NewPCG(seed, 1)), m: m, account: state.NewAccount(c, 1, nil),
		gate: risk.New(c, config), now: 1000 * second}
	p.venue = sim.New(c, sim.Config{Fees: fees, HalfSpread: config.Spread.Half, Slippage: config.Spread.Slippage},
		p.hear)
	p.pay()
	p.move(100 * at1)
	return p
}

// pay gives both sides the same.
func (p *pair) pay() {
	for asset, money := range map[market.AssetID]market.Money{p.m.Quote: 50_000 * eur, p.m.Base: 500 * btc} {
		more := money - p.account.Total(asset).Total
		require.NoError(p.t, p.venue.Deposit(asset, more))
		_, err := p.account.Apply(&market.Event{Kind: market.KindTransfer, At: p.now, Asset: asset, Money: more})
		require.NoError(p.t, err)
	}
}

func (p *pair) hear(ev *market.Event) {
	_, err := p.account.Apply(ev)
	require.NoError(p.t, err)
	if ev.Report != nil && ev.Report.Order == p.asked && ev.Report.Exec == market.ExecRejected {
		p.answer = ev.Report.Code
	}
}

// move brings both to a price.
func (p *pair) move(price market.Price) {
	p.price = price
	p.now += second
	// a trade would fill what rests inside a spread
	ev := market.Event{Kind: market.KindTicker, At: p.now, Market: p.m.ID,
		Ticker: &market.Ticker{Market: p.m.ID, Last: price}}
	require.NoError(p.t, p.venue.Advance(&ev))
	_, err := p.account.Apply(&ev)
	require.NoError(p.t, err)
	require.NoError(p.t, p.gate.Observe(p.account, p.now))
}

// ask puts a command to the gate, then to the venue, and returns both answers: -1 accepted, else
// the error code; 0 is a refusal of the gate's own.
func (p *pair) ask(c *market.Command) (gate, venue int) {
	raw := *c
	c.At, c.Order.Strategy = p.now, 1
	gate, p.answer, p.asked = -1, -1, c.Order.ID
	approved, err := p.gate.Check(p.account, c)
	send := *c
	if refusal, refused := err.(*risk.Refusal); refused {
		gate = refusal.Code
		if send = raw; !p.both {
			return gate, p.answer
		}
	} else if c.Kind == market.CommandPlace {
		p.account.Send(&c.Order, approved.Hold())
	} else if c.Kind == market.CommandUpdate {
		p.account.SendUpdate(p.account.Own(c.Order.ID), approved.Hold())
	}
	p.venue.Do(&send)
	p.move(p.price)
	return gate, p.answer
}

// same requires that account and venue agree to the unit.
func (p *pair) same() {
	require.NoError(p.t, p.account.Check())
	for _, asset := range []market.AssetID{p.m.Quote, p.m.Base} {
		ours, theirs := p.account.Total(asset), p.venue.Balance(asset)
		require.Equal(p.t, sim.Balance(ours), theirs, "asset %d", asset)
	}
	require.Equal(p.t, p.venue.Open(p.m.ID), p.account.OpenIn(p.m.ID))
}

// tidy keeps orders and balances near the limits without staying beyond them.
func (p *pair) tidy() {
	p.open = p.account.Open(p.open[:0], 0, 0)
	if len(p.open) > 0 && p.random.IntN(3) == 0 {
		o := p.open[p.random.IntN(len(p.open))]
		_, venue := p.ask(&market.Command{Kind: market.CommandCancel, Order: market.Order{ID: o.ID, Market: p.m.ID}})
		require.Equal(p.t, -1, venue)
	}
	if p.random.IntN(200) == 0 {
		for _, o := range p.account.Open(nil, 0, 0) {
			p.ask(&market.Command{Kind: market.CommandCancel, Order: market.Order{ID: o.ID, Market: p.m.ID}})
		}
		p.pay()
	}
	if p.random.IntN(4) == 0 {
		p.move(min(max(20*at1, p.price+market.Price(p.random.IntN(801)-400)), 300*at1))
	}
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// draw makes an order: mostly sane, sometimes off the tick, too fine, too small, too large, too
// dear, or of fields that do not belong together.
func (p *pair) draw() market.Order {
	r := p.random
	o := market.Order{
		Market: p.m.ID, Strategy: 1, Side: pick(r, market.Buy, market.Sell), Type: market.OrderType(1 + r.IntN(6)),
		OrderState: market.OrderState{TimeInForce: pick(r, market.GTC, market.GTC, market.GTC, market.IOC, market.FOK),
			SelfTradePrevention: market.SelfTradePrevention(1 + r.IntN(4)),
			Amount:              p.amount(), PostOnly: r.IntN(8) == 0},
	}
	if o.Type.HasPrice() != (r.IntN(40) == 0) {
		o.Price = p.near()
	}
	if o.Type.HasTrigger() && r.IntN(40) > 0 {
		o.TriggerAmount, o.TriggerType = p.near(), market.TriggerPrice
		o.TriggerReference = market.LastTrade
	}
	if !o.Type.HasPrice() && r.IntN(3) == 0 || r.IntN(50) == 0 {
		o.AmountQuote = market.Money(r.IntN(5000 * eur))
		if r.IntN(20) > 0 {
			o.Amount = 0
		}
	}
	if r.IntN(40) == 0 {
		o.CodGroupID = pick(r, uint16(1), 1000, 1001)
	}
	return o
}

func (p *pair) near() market.Price {
	r := p.random
	price := p.price + market.Price(r.IntN(2001)-1000)
	switch r.IntN(40) {
	case 0:
		return pick(r, market.Price(1<<62), 5*100_000_000_000*at1, 100_000_000_000*at1, 5, 0)
	case 1, 2:
		return price
	}
	return max(5, market.FloorTo(price, 5))
}

func (p *pair) amount() market.Qty {
	r := p.random
	amount := market.Qty(1+r.IntN(400_000)) * 10_000 // up to 40 BTC
	switch r.IntN(40) {
	case 0:
		return pick(r, market.Qty(1<<62), 1000*btc, 1000*btc+10_000, 10_000, 0, 5_000_000)
	case 1, 2:
		return amount + market.Qty(r.IntN(10_000))
	case 3:
		return market.Qty(1 + r.IntN(60_000)*100)
	}
	return amount
}

func (p *pair) command() *market.Command {
	p.open = p.account.Open(p.open[:0], 0, 0)
	if len(p.open) == 0 || p.random.IntN(4) > 0 {
		p.id++
		c := &market.Command{Kind: market.CommandPlace, Order: p.draw()}
		c.Order.ID = p.id
		return c
	}
	drawn := p.draw()
	c := &market.Command{Kind: market.CommandUpdate,
		Order: market.Order{ID: pick(p.random, p.open...).ID, Market: p.m.ID,
			OrderState: market.OrderState{AmountRemaining: p.amount()}}}
	c.Order.Amount, c.Order.AmountQuote, c.Order.Price, c.Order.TriggerAmount = p.amount(), drawn.AmountQuote, p.near(),
		p.near()
	c.Order.TimeInForce, c.Order.PostOnly, c.Order.SelfTradePrevention = drawn.TimeInForce, drawn.PostOnly,
		drawn.SelfTradePrevention
	c.Changed = 1 << p.random.IntN(8)
	if p.random.IntN(3) == 0 {
		c.Changed |= 1 << p.random.IntN(8)
	}
	if p.random.IntN(50) == 0 {
		c.Changed, c.Order.ID = c.Changed*market.Change(p.random.IntN(2)),
			c.Order.ID+1000*market.OrderID(p.random.IntN(2))
	}
	return c
}

const seed = 20240607

// agree puts n random orders and changes to both and returns how often the venue gave each answer.
func agree(t *testing.T, spread exchange.Spread, n int) map[int]int {
	p := newPair(t, seed, risk.Config{NoRounding: true, Spread: spread})
	p.both = true
	answers := map[int]int{}
	for i := range n {
		c := p.command()
		asked := *c
		gate, venue := p.ask(c)
		if gate == 0 { // the gate's own words for what the exchange puts differently
			require.Contains(t, []int{exchange.CodeRequired, exchange.CodeNotFound, exchange.CodeStopLossParameters,
				exchange.CodeStopLossLimitParameters, exchange.CodeInsufficientBalance}, venue,
				"seed %d, order %d: %+v", seed, i, asked)
		} else {
			require.Equal(t, venue, gate, "seed %d, order %d: %+v", seed, i, asked)
		}
		answers[venue]++
		p.same()
		p.tidy()
	}
	return answers
}

// wide is a spread and slippage that a hold would notice.
var wide = exchange.Spread{Half: 50_000, Slippage: 200_000}

func TestGateAndVenueAgreeOnEveryOrderAcrossASpread(t *testing.T) {
	require.Greater(t, agree(t, wide, 30_000)[exchange.CodeInsufficientBalance], 50)
}

func TestGateAndVenueAgreeOnEveryOrder(t *testing.T) {
	answers := agree(t, exchange.Spread{}, 100_000)
	require.Greater(t, answers[-1], 30_000, "too few were accepted to prove anything: %v", answers)
	for _, code := range []int{202, 203, 205, 206, 210, 211, 212, 216, 217, 232, 234, 235, 236, 237, 238, 239, 240, 422,
		429} {
		if code == exchange.CodeMarketOrderUpdate {
			continue // a market order is never open for longer than its own match here
		}
		require.Greater(t, answers[code], 5, "code %d was hardly met: %v", code, answers)
	}
}

func TestTheVenueTakesWhateverTheGateLetsPass(t *testing.T) {
	limits := risk.Limits{MaxOpenOrders: 4, MaxOrderValue: 4000 * eur, MaxPosition: 20_000 * eur,
		PriceCollar: 5_000_000}
	rows := []struct {
		config risk.Config
		met    []risk.Reason
	}{
		{risk.Config{Strategies: []risk.Limits{limits}},
			[]risk.Reason{risk.ReasonMaxOpenOrders, risk.ReasonMaxOrderValue, risk.ReasonMaxPosition,
				risk.ReasonPriceCollar}},
		{risk.Config{Account: risk.AccountLimits{MaxExposure: 80_000 * eur}}, []risk.Reason{risk.ReasonMaxExposure}},
		{risk.Config{Spread: wide}, []risk.Reason{risk.ReasonTooSmall}},
	}
	for i, row := range rows {
		p := newPair(t, seed+1+uint64(i), row.config)
		passed := 0
		for at := range 30_000 {
			c := p.command()
			gate, venue := p.ask(c)
			if gate == -1 {
				require.Equal(t, -1, venue, "row %d, order %d: %+v", i, at, *c)
				passed++
			}
			p.same()
			p.tidy()
		}
		require.Greater(t, passed, 5_000, "row %d", i)
		for _, want := range row.met {
			require.Contains(t, reasons(p.gate.Refused(1)), want.String(), "the limit was never met")
		}
	}
}

func reasons(counts []risk.Count) (names []string) {
	for _, c := range counts {
		names = append(names, c.Reason)
	}
	return names
}
