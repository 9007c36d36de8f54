package risk_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/state"
)

const (
	btc = 100_000_000 // units of Qty
	eur = 100         // units of Money
	at1 = 100         // units of Price
	buy = market.Buy
)

// bench is a gate in front of an account. Prices have 2 decimals and a tick of 5 cents, BTC has 8
// decimals of which orders may use 4, EUR 2. The price stands at 100, and there are 10 000 EUR and
// 10 BTC.
type bench struct {
	t       testing.TB
	m       *market.Market
	account *state.Account
	gate    *risk.Gate
	now     market.Time
	id      market.OrderID
}

func newMarket(t testing.TB) (*market.Catalog, *market.Market) {
	c := &market.Catalog{}
	_, err := c.AddAsset("EUR", 2)
	require.NoError(t, err)
	_, err = c.AddAsset("BTC", 8)
	require.NoError(t, err)
	m := &market.Market{Name: "BTC-EUR", PriceDigits: 2, Status: market.Trading,
		Rules: market.Rules{TickSize: 5, QuantityDecimals: 4, NotionalDecimals: 2,
			MinOrderInBase: 10_000, MinOrderInQuote: 5 * eur, MaxOrderInBase: 1000 * btc, MaxOpenOrders: 100}}
	require.NoError(t, c.AddMarket(m))
	return c, m
}

func newBench(t testing.TB, limits risk.Limits, account risk.AccountLimits) *bench {
	c, m := newMarket(t)
	account.Currency = m.Quote
	b := &bench{t: t, m: m, account: state.NewAccount(c, 2, nil), now: 1000 * second,
		gate: risk.New(c, risk.Config{Account: account, Strategies: []risk.Limits{limits, {}}})}
	b.step(market.Event{Kind: market.KindTransfer, Asset: m.Quote, Money: 10_000 * eur})
	b.step(market.Event{Kind: market.KindTransfer, Asset: m.Base, Money: 10 * btc, Market: m.ID, Price: 100 * at1})
	b.price(100 * at1)
	return b
}

const second = 1_000_000_000

// step folds an event as the engine does.
func (b *bench) step(ev market.Event) {
	b.t.Helper()
	ev.At = b.now
	applied, err := b.account.Apply(&ev)
	require.NoError(b.t, err)
	if ev.Kind == market.KindTransfer {
		require.NoError(b.t, b.gate.Transferred(b.account, b.now))
	} else {
		require.NoError(b.t, b.gate.Observe(b.account, b.now))
	}
	if applied.Ended {
		b.gate.Closed(b.account, &applied.Order.Order, b.now)
	}
	require.NoError(b.t, b.account.Check())
}

func (b *bench) price(p market.Price) {
	b.t.Helper()
	b.step(market.Event{Kind: market.KindTrade, Trade: &market.Trade{Market: b.m.ID, Price: p}})
}

func (b *bench) check(c market.Command) (risk.Approved, *market.Command, *risk.Refusal) {
	b.t.Helper()
	c.At = b.now
	if c.Order.Strategy == 0 {
		c.Order.Strategy = 1
	}
	approved, err := b.gate.Check(b.account, &c)
	if err == nil {
		require.Same(b.t, &c, approved.Command())
		return approved, &c, nil
	}
	var refusal *risk.Refusal
	require.ErrorAs(b.t, err, &refusal)
	require.Zero(b.t, approved, "a refusal approves nothing")
	copied := *refusal
	return approved, &c, &copied
}

// passes asks for the command and requires that the gate lets it pass; it is not sent.
func (b *bench) passes(c market.Command) *market.Command {
	b.t.Helper()
	_, asked, refusal := b.check(c)
	require.Nil(b.t, refusal)
	return asked
}

// refused asks for the command and requires this refusal, counted once.
func (b *bench) refused(c market.Command, want risk.Reason) *risk.Refusal {
	b.t.Helper()
	before := b.count(want.String())
	_, _, refusal := b.check(c)
	require.NotNil(b.t, refusal, "want %s", want)
	require.Equal(b.t, want.String(), refusal.Reason.String())
	if want != risk.ReasonExchange {
		require.Equal(b.t, before+1, b.count(want.String()))
	}
	return refusal
}

func (b *bench) count(reason string) int64 {
	for _, c := range b.gate.Refused(1) {
		if c.Reason == reason {
			return c.N
		}
	}
	return 0
}

// sent asks, requires a yes, sends the order, and lets the exchange accept it.
func (b *bench) sent(c market.Command) *state.Order {
	b.t.Helper()
	approved, asked, refusal := b.check(c)
	require.Nil(b.t, refusal)
	b.id++
	asked.Order.ID = b.id
	o := b.account.Send(&asked.Order, approved.Hold())
	r := market.ReportOf(&o.Order, market.ExecNew)
	r.Status, r.Updated = market.StatusNew, b.now
	if o.Type.HasTrigger() {
		r.Status = market.StatusAwaitingTrigger
	}
	b.step(market.Event{Kind: market.KindReport, Report: &r})
	return o
}

// filled sends an order and fills it whole at a price.
func (b *bench) filled(c market.Command, price market.Price) {
	b.t.Helper()
	b.fills(b.sent(c), price)
}

func (b *bench) fills(o *state.Order, price market.Price) {
	b.t.Helper()
	r := market.ReportOf(&o.Order, market.ExecTrade)
	r.Status, r.Updated, r.FilledAmount, r.AmountRemaining, r.OnHold = market.StatusFilled, b.now, o.Amount, 0, 0
	fill := market.Fill{ID: [16]byte{byte(o.ID)}, Order: o.ID, Side: o.Side, Price: price, Amount: o.Amount,
		Settled: true}
	b.step(market.Event{Kind: market.KindReport, Report: &r, Fills: []market.Fill{fill}})
}

func place(o market.Order) market.Command {
	o.Market = max(o.Market, 1)
	if o.TimeInForce == 0 {
		o.TimeInForce = market.GTC
	}
	return market.Command{Kind: market.CommandPlace, Order: o}
}

func limit(side market.Side, amount market.Qty, price market.Price) market.Command {
	return place(market.Order{Type: market.TypeLimit, Side: side,
		OrderState: market.OrderState{Amount: amount, Price: price}})
}

func atMarket(side market.Side, amount market.Qty) market.Command {
	return place(market.Order{Type: market.TypeMarket, Side: side, OrderState: market.OrderState{Amount: amount}})
}

func trigger(kind market.OrderType, side market.Side, amount market.Qty, at market.Price) market.Command {
	return place(market.Order{Type: kind, Side: side, OrderState: market.OrderState{Amount: amount, TriggerAmount: at}})
}

func attached(c market.Command) market.Command {
	c.Attached = true
	return c
}

func update(id market.OrderID, changed market.Change, to market.OrderState) market.Command {
	return market.Command{Kind: market.CommandUpdate, Changed: changed, Order: market.Order{ID: id, OrderState: to}}
}

// zeroFees is the account's fee plan where a test needs one.
func zeroFees(*market.Market) exchange.Fees { return exchange.Fees{} }
