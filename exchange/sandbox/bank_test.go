package sandbox

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/market"
)

// branch is an exchange for the tests of balances, fees and transfers, which opens at noon: alice,
// who can also trade, and bob. It has the words of the bank beside those of a stage.
type branch struct {
	*stage
	*bank
}

// bankStart is noon of a UTC day.
const bankStart = market.Time(1_767_268_800e9) // 2026-01-01 12:00

func newBranch(t testing.TB, change ...func(*Config)) *branch {
	s := newStage(t, append([]func(*Config){bankConfig}, change...)...)
	return &branch{s, s.ex.bank}
}

func bankConfig(c *Config) {
	c.Clock = ManualClock(bankStart)
	c.Assets = []Asset{
		{Symbol: "EUR", Decimals: 2},
		{Symbol: "BTC", Decimals: 8, DepositFee: "0.0001", WithdrawalFee: "0.0002", WithdrawalMin: "0.001",
			Confirmations: 2, BlockTime: 10 * time.Minute},
		{Symbol: "USDC", Decimals: 6, DepositFee: "none", WithdrawalFee: "0.5", WithdrawalMin: "1.2",
			Networks: []string{"ETH"}},
	}
	c.Markets = []Market{rigMarket("BTC-EUR", "", 2, "0.01", 8, "0", "A"),
		rigMarket("BTC-USDC", "", 2, "0.01", 8, "0", "C"), rigMarket("USDC-EUR", "", 4, "0.0001", 6, "0", "B")}
	c.Markets[1].NotionalDecimals = 6
	for i := range c.Markets {
		c.Markets[i].Source, c.Markets[i].MinOrderInQuote = nil, "0"
	}
	c.Tiers, c.Budget = standardTiers(), api.Budget{PerKey: -1, PerIP: -1}
	for i := range c.Accounts {
		c.Accounts[i].Balances = nil
	}
}

// bankWith is the config of a branch, changed.
func bankWith(change func(*Config)) Config {
	c := rigConfig()
	bankConfig(&c)
	change(&c)
	return c
}

// get asks for what is answered: get("bob", "GET /balance", "symbol=BTC&…").
func (b *branch) get(name, what, query string) string {
	return b.ask(name, what+" "+strings.ReplaceAll(query, "&", " ")).ok(b.t).body
}

// refused asks for what is not answered, and returns the code and message.
func (b *branch) refused(name, what, query string) string {
	a := b.ask(name, what+" "+strings.ReplaceAll(query, "&", " "))
	require.NotEqual(b.t, http.StatusOK, a.status, query)
	return wording(exchange.ParseError(a.status, []byte(a.body)))
}

func (b *branch) now() market.Time { return b.ex.clock.Now() }

// wait lets time pass.
func (b *branch) wait(d time.Duration) {
	b.pass(d)
	b.ex.Advance()
}

// give deposits and lets the deposit arrive.
func (b *branch) give(name, symbol, amount string) {
	t, refused := b.deposit(name, symbol, amount, b.now())
	require.Nil(b.t, refused)
	for t.Due != never {
		b.wait(t.Due.Sub(b.now()))
	}
	require.Equal(b.t, transferCompleted, t.Status)
}

// take asks for a withdrawal and returns its record.
func (b *branch) take(name, symbol, amount, address string, more ...string) *transfer {
	b.get(name, "POST /withdrawal",
		strings.Join(append([]string{"symbol=" + symbol + "&amount=" + amount + "&address=" + address}, more...), "&"))
	list := b.bank.accounts.named(name).withdrawals
	return list[len(list)-1]
}

// trades lets alice meet an order of bob in BTC-EUR: "buy 0.01 40000".
func (b *branch) trades(side, amount, price string) {
	other := map[string]string{"buy": "sell", "sell": "buy"}[side]
	b.place("bob", other+" limit amount="+amount+" price="+price)
	b.place("alice", side+" limit amount="+amount+" price="+price)
}

// price moves a market to a price.
func (b *branch) price(name, text string) {
	l := b.ex.listings[b.catalog.MarketNamed(name).ID]
	p, err := l.ParsePrice(text)
	require.NoError(b.t, err)
	b.ex.move(l, &prices.Movement{At: b.now(), Price: p})
}

func (b *branch) balances(name string) string { return b.get(name, "GET /balance", "") }

func someID(n byte) (id uuid.UUID) {
	id[15] = n
	return id
}

func wording(refused *exchange.Error) string {
	return strconv.Itoa(refused.Code) + " " + refused.Message
}
