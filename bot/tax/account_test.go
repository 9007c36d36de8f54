package tax

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/market"
)

var accounts = flag.Int("accounts", 1, "random accounts whose tax export is held against the exchange's records")

// client is an account at an exchange in process, whose clock is moved by hand.
type client struct {
	*rest.Client
	t       *testing.T
	ex      *sandbox.Exchange
	catalog *market.Catalog
	chance  *rand.Rand
	signer  *rest.Signer
	asked   int // for trades
}

const clientKey = "cl1ent-cl1ent-cl1ent-cl1ent-cl1ent-cl1ent-cl1ent-cl1ent-cl1ent-c"

func newClient(t *testing.T, seed uint64) *client {
	traded := func(name, at string, notional uint8) sandbox.Market {
		return sandbox.Market{Name: name, PriceDigits: 5, TickSize: "0.00001", QuantityDecimals: 8,
			NotionalDecimals: notional,
			MinOrderInBase:   "0.0001", MinOrderInQuote: "0.01", MaxOpenOrders: 100, FeeCategory: "A",
			Source:    prices.Synthetic{Price: at, Volatility: 0.5},
			Liquidity: sandbox.Liquidity{Levels: 5, HalfSpread: 500_000, Size: "0.4"}}
	}
	c := &client{t: t, chance: rand.New(rand.NewPCG(seed, 1)), signer: rest.NewSigner(rest.NewSecret("a secret"))}
	var err error
	c.ex, err = sandbox.New(sandbox.Config{
		Assets: []sandbox.Asset{{Symbol: "EUR", Decimals: 2}, {Symbol: "BTC", Decimals: 8, WithdrawalFee: "0.0001",
			WithdrawalMin: "0.001"}, {Symbol: "ETH", Decimals: 8}},
		Markets: []sandbox.Market{traded("BTC-EUR", "30000", 2), traded("ETH-EUR", "2000", 2),
			traded("ETH-BTC", "0.07", 8)},
		Accounts: []sandbox.Account{{Name: "me",
			Keys: []api.Key{{Key: clientKey, Secret: "a secret", Read: true, Trade: true, Withdraw: true}}}},
		Tiers: []sandbox.Tier{{Volume: "0", Fees: map[string]exchange.Fees{"": {Maker: 150_000, Taker: 250_000}}}},
		Rules: sandbox.Rules{SettleAfter: 3 * time.Hour, WithdrawalStage: time.Hour, FeeRounding: exchange.RoundFill},
		Clock: sandbox.ManualClock(1_772_452_800_000_000_000), Seed: seed, Admin: "open",
		Budget: api.Budget{PerKey: 1e6, PerIP: -1},
	})
	require.NoError(t, err)
	c.Client, err = rest.New(rest.Config{BaseURL: "https://exchange.test/v2", Key: rest.NewSecret(clientKey),
		Secret: rest.NewSecret("a secret"), Transport: c,
		Now: func() time.Time { return c.ex.Clock().Now().Std() }})
	require.NoError(t, err)
	c.catalog, _, err = c.Catalog(t.Context())
	require.NoError(t, err)
	c.Use(c.catalog)
	return c
}

// RoundTrip asks the exchange without a network: a broken connection is an error.
func (c *client) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	if strings.HasSuffix(r.URL.Path, "/v2/trades") {
		c.asked++
	}
	served := r.Clone(r.Context())
	if served.Body == nil {
		served.Body = http.NoBody
	}
	served.RequestURI, served.RemoteAddr = r.URL.RequestURI(), "127.0.0.1:5000"
	recorder := httptest.NewRecorder()
	defer func() {
		if broken := recover(); broken != nil {
			answer, err = nil, errors.New("the connection broke")
		}
	}()
	c.ex.ServeHTTP(recorder, served)
	return recorder.Result(), nil
}

// ask sends a request of the account, or of the operator of the exchange, and returns its answer.
func (c *client) ask(method, path, body string) (status int, answer []byte) {
	r, err := http.NewRequestWithContext(c.t.Context(), method, "https://exchange.test"+path, strings.NewReader(body))
	require.NoError(c.t, err)
	r.Header.Set("Content-Type", "application/json")
	now := c.ex.Clock().Now().Millis()
	if strings.HasPrefix(path, "/admin") {
		r.Header.Set("Authorization", "Bearer open")
	} else {
		r.Header.Set("Service-Access-Key", clientKey)
		r.Header.Set("Service-Access-Timestamp", strconv.FormatInt(now, 10))
		r.Header.Set("Service-Access-Signature", string(c.signer.AppendSignature(nil, now, method, path, []byte(body))))
	}
	got, err := c.RoundTrip(r)
	require.NoError(c.t, err)
	text, err := io.ReadAll(got.Body)
	require.NoError(c.t, err)
	return got.StatusCode, text
}

// live makes a random life: deposits, orders in three markets, withdrawals, some of them cancelled.
func (c *client) live(acts int) {
	deposit := func(symbol, amount string) {
		status, text := c.ask("POST", "/admin/deposit", fmt.Sprintf(`{"account":"me","symbol":%q,"amount":%q}`, symbol,
			amount))
		require.Equal(c.t, 200, status, string(text))
	}
	deposit("EUR", "100000")
	deposit("BTC", "1.5")
	for range acts {
		c.ex.Clock().Advance(time.Duration(c.chance.Int64N(int64(45 * time.Minute))))
		c.ex.Advance()
		amount := strconv.FormatFloat(0.01+c.chance.Float64(), 'f', 8, 64)
		switch c.chance.IntN(12) {
		case 0:
			deposit([]string{"EUR", "BTC", "ETH"}[c.chance.IntN(3)], "7.5")
		case 1:
			c.ask("POST", "/v2/withdrawal", `{"symbol":"BTC","address":"x","amount":"0.0123"}`)
			c.cancelOne()
		default:
			c.ask("POST", "/v2/order", fmt.Sprintf(
				`{"market":%q,"side":%q,"orderType":"market","amount":%q,"operatorId":1}`,
				[]string{"BTC-EUR", "ETH-EUR", "ETH-BTC"}[c.chance.IntN(3)], []string{"buy", "sell"}[c.chance.IntN(2)],
				amount))
		}
	}
}

// cancelOne cancels a transfer under way, of two one.
func (c *client) cancelOne() {
	_, text := c.ask("GET", "/admin/transfers", "")
	var under []struct{ TransactionID string }
	require.NoError(c.t, json.Unmarshal(text, &under))
	if len(under) > 0 && c.chance.IntN(2) == 0 {
		c.ask("POST", "/admin/cancelTransfer", fmt.Sprintf(`{"transactionId":%q}`, under[0].TransactionID)) // or it is late
	}
}

// read reads the history and the trades of the account.
func (c *client) read(ctx context.Context) (changes []Transaction, trades []Trade, compared *Comparison, err error) {
	until := c.Now().Std()
	if changes, err = History(ctx, c, until); err != nil {
		return nil, nil, nil, err
	}
	compared = &Comparison{From: changes[0].At, Markets: Markets(c.catalog, changes, nil)}
	trades, err = Trades(ctx, c, c.catalog, compared.Markets, compared.From, until, func(float64) {})
	return changes, trades, compared, err
}

// table is the report of some changes.
func table(t *testing.T, changes []Transaction) (string, Summary) {
	var out bytes.Buffer
	s, err := Report(&out, changes, &Options{Currency: "EUR", Zone: time.UTC})
	require.NoError(t, err)
	return out.String(), s
}

// balances are those of the exchange.
func (c *client) balances() map[string]string {
	all := map[string]string{}
	list, err := c.Balances(c.t.Context(), "")
	require.NoError(c.t, err)
	for _, b := range list {
		one := decimal.RequireFromString(string(b.Available)).Add(decimal.RequireFromString(string(b.InOrder)))
		if all[b.Symbol] = one.String(); one.IsZero() {
			delete(all, b.Symbol)
		}
	}
	return all
}

// held are the holdings of a report, and the money that the changes add up to.
func held(s *Summary, changes []Transaction) map[string]string {
	all, money := map[string]string{}, decimal.Zero
	for asset, amount := range s.Holdings {
		all[asset] = amount.String()
	}
	for _, one := range changes {
		if one.Received.Asset == "EUR" {
			money = money.Add(one.Received.Number)
		}
		if one.Sent.Asset == "EUR" {
			money = money.Sub(one.Sent.Number)
		}
	}
	all["EUR"] = money.String()
	return all
}

func TestHistoryAndTradesAreTheExchangesRecordsToTheLastUnit(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector: this is one goroutine")
	}
	for range *accounts {
		seed := rand.Uint64()
		c := newClient(t, seed)
		c.live(100)
		changes, trades, compared, err := c.read(t.Context())
		require.NoError(t, err)
		require.NotEmpty(t, trades)
		joined := compared.Join(changes, trades)
		require.Equal(t, []int{len(trades), 0, 0, 0}, []int{compared.Agree, compared.Differ, compared.Unconfirmed,
			compared.Added}, "seed %d", seed)
		file, s := table(t, joined)
		require.Equal(t, c.balances(), held(&s, joined), "seed %d", seed)
		plain, alone := table(t, changes)
		require.Equal(t, alone.Gains, s.Gains, "seed %d: trades that agree change no gain", seed)
		require.Equal(t, len(rowsOf(t, []byte(plain))), len(rowsOf(t, []byte(file))))
		byID := map[string]*Trade{}
		for i := range trades {
			byID[trades[i].ID] = &trades[i]
		}
		for _, row := range rowsOf(t, []byte(file)) {
			if row["kind"] != "buy" && row["kind"] != "sell" {
				continue
			}
			one := byID[row["trade"]]
			require.NotNil(t, one, "seed %d: %v", seed, row)
			require.Equal(t, one.Order, row["order"])
			if one.Fee.Asset == "" {
				require.Contains(t, row["note"], "not settled yet")
			} else if !one.Fee.Number.IsZero() {
				require.Equal(t, []string{one.Fee.Number.String(), one.Fee.Asset}, []string{row["fee"],
					row["fee_currency"]}, "seed %d", seed)
			}
		}
	}
}

// What one side lacks or has wrong is named, and no trade counts twice or not at all.
func TestWhatHistoryAndTradesDoNotShareIsNamed(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector: this is one goroutine")
	}
	seed := rand.Uint64()
	c := newClient(t, seed)
	c.live(60)
	c.ex.Clock().Advance(4 * time.Hour) // all fees are settled
	c.ex.Advance()
	changes, trades, compared, err := c.read(t.Context())
	require.NoError(t, err)
	fresh := *compared
	whole, s := table(t, compared.Join(changes, trades))
	at := slices.IndexFunc(changes, func(one Transaction) bool { // of fills of one moment the order is not known
		return one.traded() && 1 == len(slices.DeleteFunc(slices.Clone(changes), func(other Transaction) bool {
			return !other.At.Equal(one.At)
		}))
	})
	for name, play := range map[string]struct {
		change                             func([]Transaction, []Trade) ([]Transaction, []Trade)
		missed, differ, unconfirmed, added int // so many trades agree with no row; and the other counts
		note                               string
		same, noWorse                      bool // the whole file is as before; gains and holdings are
	}{
		"a trade is missing": {func(h []Transaction, list []Trade) ([]Transaction, []Trade) { return h, list[1:] },
			1, 0, 1, 0, "the exchange's list of trades lacks it", false, true},
		"the history lacks a trade": {func(h []Transaction, list []Trade) ([]Transaction, []Trade) {
			return slices.Delete(h, at, at+1), list
		}, 1, 0, 0, 1, "the account's history lacks it", false, true},
		"a fee is another one": {func(h []Transaction, list []Trade) ([]Transaction, []Trade) {
			h[at].Fee.Number = h[at].Fee.Number.Add(decimal.NewFromInt(1))
			return h, list
		}, 1, 1, 0, 0, "the history differs: fee", false, true},
		"an amount is another one": {func(h []Transaction, list []Trade) ([]Transaction, []Trade) {
			h[at].Received.Number = h[at].Received.Number.Add(decimal.New(1, -8))
			return h, list
		}, 1, 1, 0, 0, "the history differs: ", false, false},
		"times are off": {func(h []Transaction, list []Trade) ([]Transaction, []Trade) {
			for i := range list {
				list[i].At = list[i].At.Add(time.Duration(i%7) * 100 * time.Millisecond)
			}
			return h, list
		}, 0, 0, 0, 0, "", true, true},
		"floats": {func(h []Transaction, list []Trade) ([]Transaction, []Trade) {
			for i := range h {
				for _, a := range []*Amount{&h[i].Sent, &h[i].Received, &h[i].Fee} {
					if h[i].traded() {
						a.Number = a.Number.Add(decimal.New(3, -17))
					}
				}
			}
			return h, list
		}, 0, 0, 0, 0, "", true, true},
		"a market is gone": {func(h []Transaction, list []Trade) ([]Transaction, []Trade) {
			h[at].Sent.Asset = "LUNA"
			return h, list
		}, 1, 0, 1, 1, "no market of today has both assets", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := slices.Clone(changes)
			h, list := play.change(h, slices.Clone(trades))
			compared := fresh
			joined := compared.Join(h, list)
			require.Equal(t, []int{len(trades) - play.missed, play.differ, play.unconfirmed, play.added},
				[]int{compared.Agree, compared.Differ, compared.Unconfirmed, compared.Added}, "seed %d", seed)
			file, other := table(t, joined)
			require.Contains(t, file, play.note, "seed %d", seed)
			if play.same {
				require.Equal(t, whole, file, "seed %d", seed)
			}
			if play.noWorse {
				require.Equal(t, fmt.Sprint(s.Gains, s.Holdings), fmt.Sprint(other.Gains, other.Holdings), "seed %d",
					seed)
			}
		})
	}
}

// A market that the history does not name shows in the balances of its asset and of the money;
// asked for by name, its trades are in the rows.
func TestAMarketThatTheHistoryLacksShowsInTheBalances(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector: this is one goroutine")
	}
	c := newClient(t, rand.Uint64())
	for _, body := range []string{`"symbol":"EUR","amount":"5000"`, `"symbol":"BTC","amount":"1"`} {
		status, text := c.ask("POST", "/admin/deposit", `{"account":"me",`+body+`}`)
		require.Equal(t, 200, status, string(text))
	}
	c.ex.Clock().Advance(5 * time.Hour)
	c.ex.Advance()
	for _, order := range []string{`"ETH-EUR","side":"buy","amount":"0.2"`, `"BTC-EUR","side":"sell","amount":"0.1"`} {
		status, text := c.ask("POST", "/v2/order", `{"operatorId":1,"orderType":"market","market":`+order+`}`)
		require.Equal(t, 200, status, string(text))
	}
	c.ex.Clock().Advance(4 * time.Hour)
	c.ex.Advance()
	balances := map[string]decimal.Decimal{}
	for asset, text := range c.balances() {
		balances[asset] = decimal.RequireFromString(text)
	}
	changes, err := History(t.Context(), c, c.Now().Std())
	require.NoError(t, err)
	lacking := slices.DeleteFunc(slices.Clone(changes), func(one Transaction) bool {
		return one.traded() && (one.Sent.Asset == "ETH" || one.Received.Asset == "ETH")
	})
	require.Less(t, len(lacking), len(changes))
	require.NotContains(t, Markets(c.catalog, lacking, nil), c.catalog.MarketNamed("ETH-EUR"))
	compared := &Comparison{From: changes[0].At, Markets: Markets(c.catalog, lacking, []string{"ETH-EUR"})}
	trades, err := Trades(t.Context(), c, c.catalog, compared.Markets, compared.From, c.Now().Std(), func(float64) {})
	require.NoError(t, err)
	for _, list := range [][]Transaction{changes, lacking, compared.Join(lacking, trades)} {
		var out bytes.Buffer
		s, err := Report(&out, list, &Options{Currency: "EUR", Zone: time.UTC, Balances: balances})
		require.NoError(t, err)
		if len(list) == len(lacking) {
			require.Equal(t, []string{"ETH", "EUR"}, s.Astray)
			require.Contains(t, out.String(), " are not explained")
			continue
		}
		require.Empty(t, s.Astray, out.String())
	}
}

// Trades are asked for in pages of 1,000, however long the span is: a year of an account that never
// traded is one question for each market.
func TestTradesAreAskedForByPageAndNotByDay(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector: this is one goroutine")
	}
	c := newClient(t, 1)
	c.live(0)
	btc := c.catalog.MarketNamed("BTC-EUR")
	const year = 365 * 24 * time.Hour
	read := func(span time.Duration, markets ...*market.Market) []Trade {
		c.asked = 0
		until := c.Now().Std()
		last := 0.0
		trades, err := Trades(t.Context(), c, c.catalog, markets, until.Add(-span), until, func(part float64) {
			require.LessOrEqual(t, last, part)
			last = part
		})
		require.NoError(t, err)
		require.Equal(t, 1.0, last)
		return trades
	}
	require.Empty(t, read(year, c.catalog.Markets()...))
	require.Equal(t, len(c.catalog.Markets()), c.asked)
	const orders = 1030
	for range orders {
		c.ex.Clock().Advance(time.Minute)
		c.ex.Advance()
		status, text := c.ask("POST", "/v2/order",
			`{"market":"BTC-EUR","side":"buy","orderType":"market","amount":"0.0002","operatorId":1}`)
		require.Equal(t, 200, status, string(text))
	}
	c.ex.Clock().Advance(time.Second)
	trades := read(year, btc)
	require.Equal(t, orders, len(trades))
	require.Equal(t, 2, c.asked)
	seen := map[string]bool{}
	for i := range trades {
		seen[trades[i].ID] = true
		require.False(t, i > 0 && trades[i].At.Before(trades[i-1].At), "the oldest first")
	}
	require.Equal(t, orders, len(seen))
	hour := read(time.Hour, btc)
	require.Equal(t, trades[len(trades)-len(hour):], hour)
	require.Equal(t, 1, c.asked, "the latest page reaches further back")
	require.InDelta(t, 60, len(hour), 1)
}

// A history with one row for an order finds all trades of the order.
func TestARowOfAnOrderHasItsTrades(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector: this is one goroutine")
	}
	seed := rand.Uint64()
	c := newClient(t, seed)
	c.live(80)
	c.ex.Clock().Advance(4 * time.Hour)
	c.ex.Advance()
	changes, trades, compared, err := c.read(t.Context())
	require.NoError(t, err)
	fresh := *compared
	var merged []Transaction
	places, several := map[string]int{}, 0
	for _, one := range compared.Join(changes, trades) {
		one.Notes, one.Trade, one.Price = nil, "", Amount{}
		at, known := places[one.Order]
		if one.Order == "" || !known {
			places[one.Order] = len(merged)
			merged = append(merged, one)
			continue
		}
		have := &merged[at]
		have.Sent.Number = have.Sent.Number.Add(one.Sent.Number)
		have.Received.Number = have.Received.Number.Add(one.Received.Number)
		have.Fee.Number = have.Fee.Number.Add(one.Fee.Number)
		several++
	}
	require.NotZero(t, several, "seed %d", seed)
	orders := map[string]bool{}
	for i := range trades {
		orders[trades[i].Order] = true
	}
	joined := fresh.Join(merged, trades)
	require.Equal(t, []int{len(orders), 0, 0, 0}, []int{fresh.Agree, fresh.Differ, fresh.Unconfirmed, fresh.Added},
		"seed %d", seed)
	_, s := table(t, joined)
	require.Equal(t, c.balances(), held(&s, joined), "seed %d", seed)
}

// move lets the time of the exchange go on with that of the test until ctx ends.
func (c *client) move(ctx context.Context) {
	for ctx.Err() == nil {
		time.Sleep(time.Second)
		c.ex.Clock().Advance(time.Second)
	}
}

// Lost answers, late answers, refusals and cut answers end in the same file or in an error.
func TestFaultsEndInTheSameFileOrInAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, rand.Uint64())
		c.live(40)
		c.ex.Clock().Advance(4 * time.Hour) // all fees are settled
		c.ex.Advance()
		ctx, stop := context.WithCancel(t.Context())
		var clock sync.WaitGroup
		clock.Go(func() { c.move(ctx) }) // a late answer waits for it
		defer clock.Wait()
		defer stop()
		changes, trades, compared, err := c.read(t.Context())
		require.NoError(t, err)
		want, _ := table(t, compared.Join(changes, trades))
		same, failed := 0, 0
		for _, kind := range []string{`"dropAnswer"`, `"resetRequest"`, `"truncate"`, `"html","code":502`,
			`"error","code":109`, `"error","code":105`, `"error","code":101`,
			`"delayAnswer","delay":"9s"`, `"delayAnswer","delay":"40s"`,
			`"delayRequest","delay":"9s"`, `"delayRequest","delay":"40s"`} {
			for _, probability := range []string{"0.02", "0.3", "1"} {
				status, text := c.ask("PUT", "/admin/faults", fmt.Sprintf(`{"seed":%d,"faults":[{"kind":%s,
					"probability":%s,"endpoints":["GET /trades","GET /account/history"]}]}`, c.chance.Int64N(1e9), kind,
					probability))
				require.Equal(t, 200, status, string(text))
				changes, trades, compared, err := c.read(t.Context())
				if err != nil {
					failed++
					continue
				}
				same++
				file, _ := table(t, compared.Join(changes, trades))
				require.Equal(t, want, file, kind)
			}
		}
		require.NotZero(t, same)
		require.NotZero(t, failed)
	})
}
