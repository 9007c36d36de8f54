package sandbox

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
)

// ledger is the test's own account of a bank: every transfer that it asked for.
type ledger struct {
	*branch
	deposits, withdrawals []*transfer
}

// pocket is one account's balance of one asset.
type pocket struct {
	account sim.AccountID
	asset   market.AssetID
}

func TestNoMoneyAppearsOrVanishes(t *testing.T) {
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		l := &ledger{branch: newBranch(outer, func(c *Config) {
			c.Retention.Transactions = 1_000_000
			for i := range c.Markets { // alice may trade as often as she likes
				c.Markets[i].MaxOpenOrders = 1_000_000
			}
		})}
		l.price("BTC-EUR", "1000")
		t.Repeat(map[string]func(*rapid.T){
			"deposit": l.depositSome, "withdraw": l.withdrawSome, "cancel": l.cancelOne, "trade": l.tradeSome,
			"wait": l.waitSome, "": l.check,
		})
	})
}

// some draws an account, an asset and up to three whole units of it.
func (l *ledger) some(t *rapid.T) (name string, v *assetRules, money market.Money) {
	v = rapid.SampledFrom(l.assets).Draw(t, "asset")
	money = market.Money(rapid.Int64Range(1, 3*market.Pow10(v.Digits)).Draw(t, "units"))
	return rapid.SampledFrom([]string{"alice", "bob"}).Draw(t, "name"), v, money
}

func (l *ledger) depositSome(t *rapid.T) {
	name, v, money := l.some(t)
	d, refused := l.deposit(name, v.Symbol, market.FormatFixed(int64(money), v.Digits), l.now())
	require.Equal(t, money <= v.depositFee, refused != nil)
	if refused == nil {
		require.Equal(t, money, d.Amount+d.Fee)
		l.deposits = append(l.deposits, d)
	}
}

// withdrawSome asks for a withdrawal: it is refused and changes nothing, or takes what the answer
// says of what no order holds.
func (l *ledger) withdrawSome(t *rapid.T) {
	name, v, money := l.some(t)
	a, onTop, address := l.bank.accounts.named(name), rapid.Bool().Draw(t, "fee on top"), "x"
	if v.fiat {
		address = someIBAN
	}
	before := l.venue.BalanceOf(a.id, v.ID)
	query := fmt.Sprintf("symbol=%s amount=%s address=%s addWithdrawalFee=%t", v.Symbol,
		market.FormatFixed(int64(money), v.Digits), address, onTop)
	answer := l.ask(name, "POST /withdrawal "+query)
	if onTop {
		money += v.withdrawalFee
	}
	after := l.venue.BalanceOf(a.id, v.ID)
	if answer.status != 200 {
		require.Equal(t, before, after)
		return
	}
	w := a.withdrawals[len(a.withdrawals)-1]
	require.LessOrEqual(t, money, before.Total-before.Held)
	require.Equal(t, before.Total-money, after.Total)
	require.Equal(t, money, w.Amount+w.Fee)
	require.Contains(t, answer.body, `"amount":"`+market.FormatFixed(int64(money), v.Digits)+`"`)
	l.withdrawals = append(l.withdrawals, w)
}

// cancelOne cancels one of all transfers, whatever has become of it.
func (l *ledger) cancelOne(t *rapid.T) {
	all := append(append([]*transfer(nil), l.deposits...), l.withdrawals...)
	if len(all) == 0 {
		return
	}
	one := rapid.SampledFrom(all).Draw(t, "transfer")
	early := one.Status <= transferApproved
	require.Equal(t, early, l.cancelTransfer(one.ID, l.now()) == nil)
	require.True(t, !early || one.Status == transferCanceled)
}

// tradeSome adds an order of alice, which may hold something, and moves the price.
func (l *ledger) tradeSome(t *rapid.T) {
	side := rapid.SampledFrom([]market.Side{market.Buy, market.Sell}).Draw(t, "side")
	amount := rapid.SampledFrom([]string{"0.00001", "0.0005", "0.1"}).Draw(t, "amount")
	limit := rapid.SampledFrom([]string{"900", "1000", "1100"}).Draw(t, "limit")
	l.quick("alice", orderLine(side.String()+" limit amount="+amount+" price="+limit)) // taken or not
	l.price("BTC-EUR", rapid.SampledFrom([]string{"901", "1000", "1099"}).Draw(t, "price"))
}

func (l *ledger) waitSome(t *rapid.T) {
	l.wait(rapid.SampledFrom([]time.Duration{1, time.Second, 10 * time.Second, 10 * time.Minute, day}).Draw(t, "time"))
}

// check adds up: a balance is what was credited, less what was taken and did not come back, and
// what trades moved; and the history says the same.
func (l *ledger) check(t *rapid.T) {
	want, told := map[pocket]market.Money{}, map[pocket]market.Money{}
	for _, d := range l.deposits {
		if d.Status == transferCompleted {
			want[pocket{d.Account, d.Asset}] += d.Amount
		}
	}
	for _, w := range l.withdrawals {
		if w.Status != transferCanceled {
			want[pocket{w.Account, w.Asset}] -= w.Amount + w.Fee
		}
	}
	for _, a := range l.bank.accounts {
		for _, x := range a.transactions {
			received, sent := pocket{a.id, x.Received.Asset}, pocket{a.id, x.Sent.Asset}
			told[received] += x.Received.Money
			told[sent] -= x.Sent.Money
			if x.Type == typeBuy || x.Type == typeSell {
				want[received] += x.Received.Money
				want[sent] -= x.Sent.Money
			}
		}
		for _, v := range l.assets {
			have := l.venue.BalanceOf(a.id, v.ID)
			require.Equal(t, want[pocket{a.id, v.ID}], have.Total, "%s of %s", v.Symbol, a.name)
			require.Equal(t, told[pocket{a.id, v.ID}], have.Total, "%s of %s by the history", v.Symbol, a.name)
			require.True(t, have.Held >= 0 && have.Held <= have.Total, "%+v", have)
		}
	}
	for _, one := range l.inFlight {
		require.True(t, one.Due > l.now() && one.Status < transferCompleted, "%+v", one)
	}
}

func TestTransfersGoOnInTheOrderInWhichTheyAreDue(t *testing.T) {
	b := newBranch(t)
	b.give("alice", "BTC", "1.0001")
	b.give("alice", "EUR", "10")
	slow, refused := b.deposit("alice", "BTC", "1", b.now())
	require.Nil(t, refused)
	quick := b.take("alice", "EUR", "10", someIBAN)
	again := b.take("alice", "BTC", "0.5", "x")
	require.Equal(t, quick.Due, b.inFlight[0].Due)
	require.Equal(t, quick, b.inFlight[0], "the older of two that are due at once")
	b.wait(30 * time.Second) // both in one step
	require.Equal(t, []transferState{transferCompleted, transferInMempool, transferConfirming},
		[]transferState{quick.Status, again.Status, slow.Status})
	require.Equal(t, again.Due, b.inFlight[0].Due)
	b.wait(20*time.Minute - 30*time.Second)
	require.Equal(t, []transferState{transferProcessed, transferCompleted}, []transferState{again.Status, slow.Status})
	require.Equal(t, b.now(), slow.Listed)
}
