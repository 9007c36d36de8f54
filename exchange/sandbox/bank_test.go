package sandbox

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
)

// branch is an exchange with a clock of its own for the tests of balances, fees and transfers:
// alice, who can also trade, and bob.
type branch struct {
	*bank
	ex     *Exchange
	t      require.TestingT
	now    market.Time
	orders market.OrderID
}

// bankStart is noon of a UTC day.
const bankStart = market.Time(1_767_268_800e9) // 2026-01-01 12:00

func newBranch(t require.TestingT, change ...func(*Config)) *branch {
	b, err := openBranch(t, change...)
	require.NoError(t, err)
	return b
}

func openBranch(t require.TestingT, change ...func(*Config)) (*branch, error) {
	config := Config{
		Assets: []Asset{
			{Symbol: "EUR", Decimals: 2},
			{Symbol: "BTC", Decimals: 8, DepositFee: "0.0001", WithdrawalFee: "0.0002", WithdrawalMin: "0.001",
				Confirmations: 2, BlockTime: 10 * time.Minute},
			{Symbol: "USDC", Decimals: 6, DepositFee: "none", WithdrawalFee: "0.5", WithdrawalMin: "1.2",
				Networks: []string{"ETH"}},
		},
		Tiers:    standardTiers(),
		Accounts: []Account{{Name: "alice"}, {Name: "bob"}},
	}
	for _, f := range change {
		f(&config)
	}
	ex := &Exchange{config: config, catalog: &market.Catalog{}}
	ex.bank = &bank{config: &ex.config, catalog: ex.catalog}
	b := &branch{t: t, now: bankStart, ex: ex, bank: ex.bank}
	for _, a := range config.Assets {
		_, err := b.catalog.AddAsset(a.Symbol, a.Decimals)
		require.NoError(t, err)
	}
	for _, m := range []*market.Market{
		{Name: "BTC-EUR", PriceDigits: 2, Rules: market.Rules{TickSize: 1, FeeCategory: "A", QuantityDecimals: 8,
			NotionalDecimals: 2}},
		{Name: "BTC-USDC", PriceDigits: 2, Rules: market.Rules{TickSize: 1, FeeCategory: "C", QuantityDecimals: 8,
			NotionalDecimals: 6}},
		{Name: "USDC-EUR", PriceDigits: 4, Rules: market.Rules{TickSize: 1, FeeCategory: "B", QuantityDecimals: 6,
			NotionalDecimals: 2}},
	} {
		require.NoError(t, b.catalog.AddMarket(m))
	}
	b.venue = sim.New(b.catalog, sim.Config{}, b.hearFills)
	for i := range config.Accounts {
		a := &account{name: config.Accounts[i].Name, config: &b.config.Accounts[i]}
		if i > 0 {
			a.id = b.venue.OpenAccount(nil)
		}
		b.accounts = append(b.accounts, a)
	}
	ex.venue, ex.accounts = b.venue, b.accounts
	ex.schedule = []scheduled{&transferSchedule{b.bank}, &tierSchedule{b.bank}}
	return b, b.open(b.now)
}

// hearFills hands fills on as the exchange does.
func (b *branch) hearFills(ev *market.Event) {
	for i := range ev.Fills {
		b.traded(b.accounts[b.venue.Owner(ev.Report.Order)], &ev.Fills[i])
	}
}

// ask carries out a request that has passed all checks of the wire: ask("bob", "GET /balance",
// "symbol=BTC").
func (b *branch) ask(name, what, query string) (string, *exchange.Error) {
	values, err := url.ParseQuery(query)
	require.NoError(b.t, err)
	for i := range endpoints {
		e := &endpoints[i].endpoint
		if e.Method+" "+e.Path != what {
			continue
		}
		c := api.Call{Endpoint: e, Account: b.accounts.named(name).place(), Now: b.now,
			Args: make(api.Arguments, len(e.Params))}
		for at, p := range e.Params {
			if !values.Has(p.Name) {
				continue
			}
			c.Args[at] = api.Argument{Set: true, Text: values.Get(p.Name)}
			if p.Kind == api.Integer {
				c.Args[at].Number, err = strconv.ParseInt(values.Get(p.Name), 10, 64)
				require.NoError(b.t, err)
			}
			values.Del(p.Name)
		}
		require.Empty(b.t, values, "the endpoint has no such parameters")
		b.ex.advance(b.now)
		refused := endpoints[i].do(b.ex, &c)
		require.True(b.t, refused != nil || json.Valid(c.Out), "%s", c.Out)
		return string(c.Out), refused
	}
	require.Fail(b.t, "no endpoint "+what)
	return "", nil
}

// get is ask for what is answered.
func (b *branch) get(name, what, query string) string {
	answer, refused := b.ask(name, what, query)
	require.Nil(b.t, refused)
	return answer
}

// refused is ask for what is not, and returns the code and message.
func (b *branch) refused(name, what, query string) string {
	_, refused := b.ask(name, what, query)
	require.NotNil(b.t, refused, query)
	return wording(refused)
}

// wait lets time pass.
func (b *branch) wait(d time.Duration) {
	b.now = b.now.Add(d)
	b.ex.advance(b.now)
}

// give deposits and lets the deposit arrive.
func (b *branch) give(name, symbol, amount string) {
	t, refused := b.deposit(name, symbol, amount, b.now)
	require.Nil(b.t, refused)
	for t.Due != never {
		b.wait(t.Due.Sub(b.now))
	}
	require.Equal(b.t, transferCompleted, t.Status)
}

// take asks for a withdrawal and returns its record.
func (b *branch) take(name, symbol, amount, address string, more ...string) *transfer {
	b.get(name, "POST /withdrawal",
		strings.Join(append([]string{"symbol=" + symbol + "&amount=" + amount + "&address=" + address}, more...), "&"))
	list := b.accounts.named(name).withdrawals
	return list[len(list)-1]
}

// order places a limit order of alice in BTC-EUR while the price is elsewhere; trade lets the price
// go to where it fills.
func (b *branch) order(side market.Side, amount, price string) market.OrderID {
	m := b.catalog.MarketNamed("BTC-EUR")
	qty, err := m.ParseQty(amount)
	require.NoError(b.t, err)
	limit, err := m.ParsePrice(price)
	require.NoError(b.t, err)
	b.orders++
	b.venue.Do(&market.Command{Kind: market.CommandPlace, At: b.now, Order: market.Order{
		ID: b.orders, Market: m.ID, Side: side, Type: market.TypeLimit,
		OrderState: market.OrderState{TimeInForce: market.GTC, SelfTradePrevention: market.DecrementAndCancel,
			Amount: qty, Price: limit},
	}})
	return b.orders
}

// price moves a market to a price.
func (b *branch) price(name, text string) {
	m := b.catalog.MarketNamed(name)
	p, err := m.ParsePrice(text)
	require.NoError(b.t, err)
	require.NoError(b.t, b.venue.Advance(&market.Event{At: b.now, Kind: market.KindTrade, Market: m.ID,
		Trade: &market.Trade{Market: m.ID, Price: p, Time: b.now}}))
}

func (b *branch) balances(name string) string { return b.get(name, "GET /balance", "") }

// fixtureKeys returns the members that a recorded answer has, those of the first element of a list;
// it skips the test where the recordings are not there.
func fixtureKeys(t *testing.T, file string) map[string]any {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "spec", "fixtures", file))
	if err != nil {
		t.Skipf("the recorded answers are not here: %v", err)
	}
	return firstObject(t, string(text))
}

func firstObject(t *testing.T, text string) map[string]any {
	if strings.HasPrefix(strings.TrimSpace(text), "[") {
		var list []map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &list))
		require.NotEmpty(t, list)
		return list[0]
	}
	var object map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &object))
	return object
}

// sameShape requires of an answer every member that a recorded one has, with a value of the same
// JSON type.
func sameShape(t *testing.T, recorded, answer map[string]any) {
	for name, value := range recorded {
		require.Contains(t, answer, name)
		require.IsType(t, value, answer[name], name)
	}
}

func someID(n byte) (id uuid.UUID) {
	id[15] = n
	return id
}

func wording(refused *exchange.Error) string {
	return strconv.Itoa(refused.Code) + " " + refused.Message
}
