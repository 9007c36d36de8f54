package tax

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/rest"
)

var start = time.Date(2025, 12, 30, 0, 0, 0, 0, time.UTC)

// randomChanges are purchases, sales, deposits and withdrawals of one asset.
func randomChanges(chance *rand.Rand, count int) (changes []Transaction) {
	at := start
	for i := range count {
		at = at.Add(time.Duration(chance.Int64N(int64(time.Hour))))
		amount := Amount{"BTC", decimal.New(1+chance.Int64N(1e9), -8)}
		money := Amount{"EUR", decimal.New(1+chance.Int64N(1e7), -2)}
		c := Transaction{ID: fmt.Sprint(i), At: at}
		switch chance.IntN(7) {
		case 0:
			c.Type, c.Received = "deposit", amount
		case 1:
			c.Type, c.Sent = "withdrawal", amount
		case 2, 3:
			c.Type, c.Sent, c.Received = "sell", amount, money
		default:
			c.Type, c.Sent, c.Received = "buy", money, amount
		}
		changes = append(changes, c)
	}
	return changes
}

// naiveLot is a lot with fractions.
type naiveLot struct{ amount, cost *big.Rat } // cost nil: not known

// naivePool takes lots as a person would, with fractions instead of a cut.
type naivePool struct {
	method Method
	lots   []naiveLot
}

func (p *naivePool) take(amount *big.Rat) (cost, unknown *big.Rat) {
	cost, unknown = new(big.Rat), new(big.Rat)
	all := new(big.Rat)
	for _, l := range p.lots {
		all.Add(all, l.amount)
	}
	if p.method == Average && all.Cmp(amount) > 0 { // the same part of every lot
		share := new(big.Rat).Quo(amount, all)
		for i := range p.lots {
			p.takeFrom(i, new(big.Rat).Mul(share, p.lots[i].amount), cost, unknown)
		}
		return cost, unknown
	}
	left := new(big.Rat).Set(amount)
	for left.Sign() > 0 && len(p.lots) > 0 {
		i := 0
		if p.method == LIFO {
			i = len(p.lots) - 1
		}
		part := new(big.Rat).Set(left)
		if part.Cmp(p.lots[i].amount) > 0 {
			part.Set(p.lots[i].amount)
		}
		left.Sub(left, part)
		p.takeFrom(i, part, cost, unknown)
		if p.lots[i].amount.Sign() == 0 {
			p.lots = append(p.lots[:i:i], p.lots[i+1:]...)
		}
	}
	unknown.Add(unknown, left)
	return cost, unknown
}

func (p *naivePool) takeFrom(i int, part, cost, unknown *big.Rat) {
	l := &p.lots[i]
	if l.cost == nil {
		unknown.Add(unknown, part)
	} else {
		share := new(big.Rat).Mul(l.cost, new(big.Rat).Quo(part, l.amount))
		cost.Add(cost, share)
		l.cost = new(big.Rat).Sub(l.cost, share)
	}
	l.amount = new(big.Rat).Sub(l.amount, part)
}

func near(t *testing.T, want *big.Rat, have, note string) {
	if have == "" {
		have = "0"
	}
	number, ok := new(big.Rat).SetString(have)
	require.True(t, ok, have)
	gap, _ := number.Sub(number, want).Float64()
	size, _ := want.Float64()
	require.InDelta(t, 0, gap, 1e-9*(1+size), note)
}

// rowsOf are the rows of a report by the names of their columns.
func rowsOf(t *testing.T, text []byte) (rows []map[string]string) {
	all, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	require.NoError(t, err)
	for _, cells := range all[1:] {
		one := map[string]string{}
		for i, name := range all[0] {
			one[name] = cells[i]
		}
		rows = append(rows, one)
	}
	return rows
}

func TestEachMethodUsesTheLotsOfItsTwin(t *testing.T) {
	for range 10 {
		seed := rand.Uint64()
		changes := randomChanges(rand.New(rand.NewPCG(seed, 1)), 150)
		var out bytes.Buffer
		_, err := Report(&out, changes, &Options{Currency: "EUR", Zone: time.UTC})
		require.NoError(t, err)
		rows := rowsOf(t, out.Bytes())
		for m, name := range methodNames {
			p := naivePool{method: Method(m)}
			paid, spent := decimal.Zero, decimal.Zero
			for i, c := range changes {
				note := fmt.Sprintf("seed %d, change %d, %s", seed, i, name)
				row := rows[i]
				require.Equal(t, c.ID, row["transaction"])
				switch {
				case c.Type == "deposit":
					p.lots = append(p.lots, naiveLot{amount: c.Received.Number.Rat()})
					require.Equal(t, UnknownBasis, row["note"], note)
				case c.Type == "buy":
					p.lots = append(p.lots, naiveLot{c.Received.Number.Rat(), c.Sent.Number.Rat()})
					paid = paid.Add(c.Sent.Number)
				default:
					cost, unknown := p.take(c.Sent.Number.Rat())
					near(t, cost, row["basis_"+name], note)
					near(t, unknown, row["unknown_"+name], note)
					require.Equal(t, c.Type == "sell" && row["unknown_"+name] == "", row["gain_"+name] != "", note)
					if text := row["basis_"+name]; text != "" {
						spent = spent.Add(decimal.RequireFromString(text))
					}
				}
			}
			held := decimal.Zero
			for _, row := range rows[len(changes):] {
				if row["kind"] == "holding" && row["basis_"+name] != "" {
					held = held.Add(decimal.RequireFromString(row["basis_"+name]))
				}
			}
			require.Equal(t, paid.String(), spent.Add(held).String(), "seed %d, %s: no unit of a cost is lost", seed,
				name)
		}
		require.Equal(t, Disclaimer, rows[len(rows)-1]["note"])
	}
}

func at(hours int) time.Time { return start.Add(time.Duration(hours) * time.Hour) }

func amountOf(text string) Amount {
	number, asset, _ := strings.Cut(text, " ")
	return Amount{asset, decimal.RequireFromString(number)}
}

func TestLotsByHand(t *testing.T) {
	changes := []Transaction{
		{At: at(1), Type: "buy", Sent: amountOf("100 EUR"), Received: amountOf("1 BTC")},
		{At: at(2), Type: "buy", Sent: amountOf("300 EUR"), Received: amountOf("1 BTC")},
		{At: at(47), Type: "withdrawal", Sent: amountOf("0.5 BTC")},
		{At: at(47), Type: "withdrawal_cancelled", Received: amountOf("0.5 BTC")},
		{At: at(48), Type: "sell", Sent: amountOf("1 BTC"), Received: amountOf("250 EUR"), Fee: amountOf("0.5 EUR")},
		{At: at(49), Type: "staking", Received: amountOf("0.1 ETH")},
		{At: at(50), Type: "buy", Sent: amountOf("1 BTC"), Received: amountOf("10 ETH")},
		{At: at(51), Type: "sell", Sent: amountOf("1 BTC"), Received: amountOf("1 EUR")},
	}
	var out bytes.Buffer
	summary, err := Report(&out, changes, &Options{Currency: "EUR", Zone: time.FixedZone("", 3600), From: at(48),
		To:    at(60),
		Value: func(asset string) (decimal.Decimal, bool) { return decimal.New(20, 0), asset == "ETH" }})
	require.NoError(t, err)
	rows := rowsOf(t, out.Bytes())
	require.Len(t, rows, 7)
	sale := rows[0]
	require.Equal(t, []string{"2026-01-01T01:00:00+01:00", "250", "0.5", "100", "150", "300", "-50", "200", "50"},
		[]string{sale["date"], sale["proceeds"], sale["fee"], sale["basis_fifo"], sale["gain_fifo"], sale["basis_lifo"],
			sale["gain_lifo"], sale["basis_average"], sale["gain_average"]})
	require.Equal(t, "2025-12-30", sale["acquired_fifo"])
	require.Equal(t, UnknownBasis, rows[1]["note"], "staking")
	require.Contains(t, rows[2]["note"], "sold for ETH")
	require.Empty(t, rows[2]["gain_fifo"])
	require.Contains(t, rows[3]["note"], "paid in BTC")
	require.Equal(t, UnknownBasis, rows[4]["note"], "more than was bought")
	require.Equal(t, []string{"holding", "10.1", "202", "10.1"}, []string{rows[5]["kind"], rows[5]["amount"],
		rows[5]["value"], rows[5]["unknown_average"]})
	require.Equal(t, 3, summary.Sales)
	require.Equal(t, 2, summary.Unknown)
}

// Two lots of one moment: a withdrawal that is cancelled gives each its place again.
func TestACancelledWithdrawalLeavesTheOrderOfTheLots(t *testing.T) {
	changes := []Transaction{
		{At: at(1), Type: "buy", Sent: amountOf("100 EUR"), Received: amountOf("1 BTC")},
		{At: at(1), Type: "buy", Sent: amountOf("300 EUR"), Received: amountOf("1 BTC")},
		{At: at(2), Type: "withdrawal", Sent: amountOf("1.5 BTC")},
		{At: at(2), Type: "withdrawal_cancelled", Received: amountOf("1.5 BTC")},
		{At: at(3), Type: "sell", Sent: amountOf("1 BTC"), Received: amountOf("250 EUR")},
	}
	var out bytes.Buffer
	_, err := Report(&out, changes, &Options{Currency: "EUR", Zone: time.UTC})
	require.NoError(t, err)
	sale := rowsOf(t, out.Bytes())[4]
	require.Equal(t, []string{"100", "300", "200"}, []string{sale["basis_fifo"], sale["basis_lifo"],
		sale["basis_average"]})
}

func TestOpeningLotsComeFirstAndMayHaveNoCost(t *testing.T) {
	lots, err := Opening(strings.NewReader("asset,amount,cost,acquired\nBTC,1,100,2020-01-02\nBTC,1,,2021-01-01\n"),
		time.UTC)
	require.NoError(t, err)
	var out bytes.Buffer
	_, err = Report(&out, append([]Transaction{{At: at(0), Type: "sell", Sent: amountOf("1.5 BTC"),
		Received: amountOf("9 EUR")}},
		lots...), &Options{Currency: "EUR", Zone: time.UTC})
	require.NoError(t, err)
	sale := rowsOf(t, out.Bytes())[2]
	require.Equal(t, []string{"100", "0.5", "", "2020-01-02 to 2021-01-01", "basis unknown of a part"}, []string{
		sale["basis_fifo"], sale["unknown_fifo"], sale["gain_fifo"], sale["acquired_fifo"], sale["note"]})
	santiago, err := time.LoadLocation("America/Santiago")
	require.NoError(t, err)
	lots, err = Opening(strings.NewReader("\ufeffasset,amount,cost,acquired\nBTC,1,100,2026-09-06\n"), santiago)
	require.NoError(t, err, "a spreadsheet's mark of UTF-8")
	require.Equal(t, "2026-09-06T01:00:00-03:00", lots[0].At.Format(time.RFC3339), "clocks skip midnight")
	for text, want := range map[string]string{
		"asset,amount\n": "its first line: want asset,amount,cost,acquired",
		"asset,amount,cost,acquired\nBTC,0,1,2020-01-01\n":  "line 2: amount",
		"asset,amount,cost,acquired\nBTC,1,-1,2020-01-01\n": "line 2: cost",
		"asset,amount,cost,acquired\nBTC,1,1,2020\n":        "line 2: acquired",
	} {
		_, err := Opening(strings.NewReader(text), time.UTC)
		require.ErrorContains(t, err, want)
	}
}

// pages gives a history in pages of two, with one row that a new one moved to the next page.
type pages []rest.Transaction

func (p pages) AccountHistory(_ context.Context, q rest.HistoryPage) (rest.History, error) {
	from := (q.Page - 1) * 2
	return rest.History{Items: p[min(from, len(p)):min(from+2, len(p))], CurrentPage: q.Page,
		TotalPages: (len(p) + 1) / 2}, nil
}

func TestAHistoryIsReadOnceEachOldestFirst(t *testing.T) {
	var rows pages
	require.NoError(t, json.Unmarshal([]byte(`[
		{"transactionId":"c","executedAt":"2021-01-03T00:00:00.000Z","type":"deposit",
		 "receivedCurrency":"EUR","receivedAmount":"5"},
		{"transactionId":"b","executedAt":"2021-01-02T00:00:00.000Z","type":"sell","sentCurrency":"BTC",
		 "sentAmount":"1","receivedCurrency":"EUR","receivedAmount":"7","feesCurrency":"EUR","feesAmount":"0.1"},
		{"transactionId":"b","executedAt":"2021-01-02T00:00:00.000Z","type":"sell"},
		{"transactionId":"a","executedAt":"2021-01-01T00:00:00.000Z","type":"deposit",
		 "receivedCurrency":"BTC","receivedAmount":"1"}]`), &rows))
	changes, err := History(t.Context(), rows, time.Time{})
	require.NoError(t, err)
	require.Len(t, changes, 3)
	require.Equal(t, []string{"a", "b", "c"}, []string{changes[0].ID, changes[1].ID, changes[2].ID})
	require.Equal(t, "0.1", changes[1].Fee.Number.String())
	rows[0].ReceivedAmount = "-5"
	_, err = History(t.Context(), rows, time.Time{})
	require.ErrorContains(t, err, `transaction "c" of the account's history: amount "-5" of "EUR" is no amount`)
}
