package sandbox

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/market"
)

// TestTwoClientsConserveEveryAssetToTheLastUnit lets alice and bob send anything to an exchange
// with fees or rebates of any size, rounded in any way, with or without a house. Everything is read
// from answers: what an account has is what it began with, its deposits and withdrawals, and its
// trades with their fees; each trade is told alike on both sides, or was with the house; what
// orders hold is in order.
func TestTwoClientsConserveEveryAssetToTheLastUnit(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		houses := rapid.Bool().Draw(r, "house")
		s := &audit{stage: stageOf(t, r, houses), houses: houses}
		for range rapid.SampledFrom([]int{10, 30, 60}).Draw(r, "requests") {
			s.act(r)
		}
		s.ex.Advance() // nothing happens any more but that the latest fills settle
		s.ex.clock.Advance(time.Second)
		s.check(r)
	})
}

// audit is a stage with what it has been asked for.
type audit struct {
	*stage
	houses bool
	orders []string // "alice orderId"
}

// stageOf draws an exchange.
func stageOf(t testing.TB, r *rapid.T, houses bool) *stage {
	rate := func(name string, least int64) market.Rate {
		return market.Rate(rapid.Int64Range(least, 900_000).Draw(r, name))
	}
	return &stage{newRig(t, func(c *Config) {
		c.Tiers = []Tier{{Volume: "0",
			Fees: map[string]exchange.Fees{"": {Maker: rate("maker", -300_000), Taker: rate("taker", 0)}}}}
		c.Rules.FeeRounding = exchange.FeeRounding(rapid.IntRange(0, 2).Draw(r, "rounding"))
		c.Rules.SettleAfter = time.Second
		c.Budget = api.Budget{PerKey: -1, PerIP: -1}
		c.Assets[1].DepositFee = "0.00001"
		for i := range c.Accounts {
			c.Accounts[i].Balances = map[string]string{"EUR": "3000", "BTC": "30"}
		}
		for i := range c.Markets {
			c.Markets[i].Source = nil
		}
		if houses {
			c.Markets[0].Source = pricesOf("100", "101.37", "98.2", "97", "103.99", "100.01", "99", "104")
			c.Markets[0].Liquidity = Liquidity{Levels: 3, HalfSpread: 500_000, Step: 50, Size: "0.7"}
		}
	})}
}

// act sends one request, whatever comes of it. What stands first in a list is drawn more often.
func (s *audit) act(r *rapid.T) {
	who, side, _ := strings.Cut(rapid.SampledFrom([]string{"alice buy", "bob sell", "alice sell", "bob buy"}).Draw(r,
		"who"), " ")
	amount := rapid.SampledFrom([]string{"0.5", "1", "0.12345678", "1.33333333", "0.07000001", "2.00000001", "3",
		"0.00001"}).Draw(r, "amount")
	price := rapid.SampledFrom([]string{"97", "98.37", "99.99", "100", "100.01", "101.5", "103", "104.13"}).Draw(r,
		"price")
	switch rapid.SampledFrom([]int{5, 5, 5, 5, 5, 5, 4, 4, 3, 2, 1, 0}).Draw(r, "kind") {
	case 0:
		s.send1(r, who, "DELETE /orders operatorId=1")
	case 1:
		s.ex.clock.Advance(30 * time.Second)
	case 2:
		symbol := rapid.SampledFrom([]string{"BTC", "ETH"}).Draw(r, "symbol")
		_, _ = s.ex.bank.deposit(who, symbol, amount, s.ex.clock.Now()) // one that is refused changes nothing
	case 3:
		s.send1(r, who, "POST /withdrawal symbol=BTC address=x amount="+amount+rapid.SampledFrom([]string{"",
			" addWithdrawalFee=true"}).Draw(r, "fee"))
	case 4:
		if len(s.orders) > 0 {
			name, id, _ := strings.Cut(rapid.SampledFrom(s.orders).Draw(r, "order"), " ")
			s.send1(r, name, "PUT /order market=BTC-EUR operatorId=1 orderId="+id+rapid.SampledFrom([]string{" price=" +
				price, " amount=" + amount, " amountRemaining=" + amount}).Draw(r, "change"))
		}
	default:
		s.placeSome(r, who, side, amount, price)
	}
}

// placeSome sends an order of any type.
func (s *audit) placeSome(r *rapid.T, who, side, amount, price string) {
	with := rapid.SampledFrom([]string{
		"limit price=%[2]s amount=%[1]s", "limit price=%[2]s amount=%[1]s",
		"limit price=%[2]s amount=%[1]s timeInForce=IOC", "limit price=%[2]s amount=%[1]s timeInForce=FOK",
		"limit price=%[2]s amount=%[1]s postOnly=true",
		"market amount=%[1]s", "market amountQuote=%[2]s", "stopLoss amount=%[1]s triggerAmount=%[2]s",
		"takeProfitLimit amount=%[1]s price=%[2]s triggerAmount=%[2]s",
		"stopLoss amountQuote=%[2]s triggerAmount=%[2]s",
	}).Draw(r, "order")
	prevention := rapid.SampledFrom(market.Words[market.SelfTradePrevention]()).Draw(r, "prevention")
	if a := s.send1(r, who, orderLine(side+" "+fmt.Sprintf(with, amount,
		price)+" selfTradePrevention="+prevention)); a.status == 200 {
		s.orders = append(s.orders, who+" "+decoded[row](s.stage, a).id())
	}
}

// send1 sends a line that is answered or refused, but nothing else.
func (s *audit) send1(r *rapid.T, who, line string) answer {
	a := s.ask(who, line)
	require.Contains(r, []int{200, 400, 404}, a.status, "%s: %s", line, a.body)
	return a
}

// check compares what the accounts have with what the answers tell.
func (s *audit) check(r *rapid.T) {
	sides := map[string][]row{}
	for _, who := range []string{"alice", "bob"} {
		want := map[string]decimal.Decimal{"EUR": number("3000"), "BTC": number("30")}
		for _, one := range s.rows(who, "GET /trades market=BTC-EUR limit=1000") {
			id := one["id"].(string)
			sides[id] = append(sides[id], one)
			settle(want, one)
		}
		for _, one := range s.rows(who, "GET /depositHistory limit=1000") {
			add(want, one["symbol"].(string), amountOf(one, "amount"))
		}
		for _, one := range s.rows(who, "GET /withdrawalHistory limit=1000") {
			add(want, one["symbol"].(string), amountOf(one, "amount").Add(amountOf(one, "fee")).Neg())
		}
		s.balances(r, who, want)
	}
	for id, told := range sides {
		if s.houses && len(told) == 1 {
			continue
		}
		require.Len(r, told, 2, "the trade %s has two sides", id)
		require.Equal(r, []any{told[0]["amount"], told[0]["price"], told[0]["timestamp"]},
			[]any{told[1]["amount"], told[1]["price"], told[1]["timestamp"]})
		require.NotEqual(r, told[0]["side"], told[1]["side"])
		require.NotEqual(r, told[0]["taker"], told[1]["taker"])
	}
}

// settle adds what one trade has changed.
func settle(want map[string]decimal.Decimal, trade row) {
	amount, gross := amountOf(trade, "amount"), amountOf(trade, "amount").Mul(amountOf(trade, "price"))
	if trade["side"] == "sell" {
		amount, gross = amount.Neg(), gross.Neg()
	}
	add(want, "BTC", amount)
	add(want, "EUR", gross.Add(amountOf(trade, "fee")).Neg())
}

// balances requires what an account has, and that what its open orders hold is in order.
func (s *audit) balances(r *rapid.T, who string, want map[string]decimal.Decimal) {
	held := map[string]decimal.Decimal{}
	for _, o := range s.rows(who, "GET /ordersOpen") {
		add(held, o["onHoldCurrency"].(string), amountOf(o, "onHold"))
	}
	have := map[string]decimal.Decimal{}
	for _, one := range s.rows(who, "GET /balance") {
		symbol := one["symbol"].(string)
		have[symbol] = amountOf(one, "available").Add(amountOf(one, "inOrder"))
		require.Equal(r, held[symbol].String(), amountOf(one, "inOrder").String(), "%s has in order of %s", who, symbol)
		require.False(r, amountOf(one, "available").IsNegative(), "%s overdraws %s", who, symbol)
	}
	for _, symbol := range []string{"EUR", "BTC", "ETH", "ADA"} {
		require.Equal(r, want[symbol].String(), have[symbol].String(), "%s has of %s", who, symbol)
	}
}

func add(to map[string]decimal.Decimal, symbol string, amount decimal.Decimal) {
	to[symbol] = to[symbol].Add(amount)
}

// amountOf is a decimal of an answer.
func amountOf(one row, name string) decimal.Decimal { return number(one[name].(string)) }

func number(text string) decimal.Decimal { return decimal.RequireFromString(text) }
