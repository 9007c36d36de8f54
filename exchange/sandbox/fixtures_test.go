package sandbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/market"
)

// recording is a payload of the real exchange, as it was recorded or as its documentation shows it,
// and how to get its like here. A test reads it where the folder lies beside the project.
type recording struct {
	file string
	at   string // of a recording that holds several: the member or place that counts
	ask  func(*stage) answer
	// members that only our answer has: the exchange has got them since, or the specification has
	// them without a condition
	added []string
	gone  []string // members that only the recording has, which the reason says
	why   string
}

// since are the members that orders have got since the recordings of 2023.
var since = []string{"createdNs", "updatedNs", "operatorId", "disableMarketProtection"}

var recordings = []recording{
	{file: "order_create.json", ask: func(s *stage) answer {
		return s.ask("alice", orderLine("buy limit amount=0.0003 price=30000 clientOrderId="+named))
	}, added: since},
	{file: "order_update.json", ask: func(s *stage) answer {
		o := s.place("alice", "buy limit amount=0.0003 price=30000")
		return s.ask("alice",
			"PUT /order market=BTC-EUR operatorId=7 price=31000 orderId="+o.id())
	}, added: since},
	{file: "order_cancel_docs.json", ask: func(s *stage) answer {
		s.place("alice", "buy limit amount=1 price=100 clientOrderId="+named)
		return s.ask("alice", "DELETE /order market=BTC-EUR operatorId=543462 clientOrderId="+named)
	}},
	{file: "order_cancel_2023.json", ask: func(s *stage) answer {
		o := s.place("alice", "buy limit amount=1 price=100")
		return s.ask("alice", "DELETE /order market=BTC-EUR operatorId=7 orderId="+o.id())
	}, added: []string{"operatorId"}},
	{file: "orders_cancel_docs.json", ask: func(s *stage) answer {
		s.place("alice", "buy limit amount=1 price=100")
		return s.ask("alice", "DELETE /orders market=BTC-EUR operatorId=543462")
	}},
	{file: "order_short_docs.json", ask: func(s *stage) answer {
		s.place("alice", "buy limit amount=1 price=100 clientOrderId="+named)
		return s.ask("alice",
			"PUT /order market=BTC-EUR operatorId=7 price=99 responseRequired=false clientOrderId="+named)
	}, added: []string{"createdNs", "updatedNs"}},
	{file: "orders_list_2023.json", at: "0", ask: func(s *stage) answer {
		s.place("alice", "buy limit amount=0.00020002 price=34469")
		s.place("bob", "sell market amount=0.00020002 clientOrderId="+named)
		return s.ask("bob", "GET /orders market=BTC-EUR")
	}, added: append([]string{"timeInForce", "postOnly"}, since...)},
	{file: "orders_list_2023.json", at: "1", ask: func(s *stage) answer {
		s.trade("1", "100")
		s.place("alice", "buy stopLoss amount=0.1 triggerAmount=110 clientOrderId="+named)
		s.place("bob", "sell limit amount=2 price=110")
		s.place("alice", "buy limit amount=1 price=110")
		all := s.rows("alice", "GET /orders market=BTC-EUR")
		s.has(all[1], "status=filled")
		text, err := json.Marshal(all[1:])
		require.NoError(s.t, err)
		return answer{status: 200, body: string(text)}
	}, added: append([]string{"timeInForce", "postOnly"}, since...)},
	{file: "orders_open_2025.json", ask: func(s *stage) answer {
		s.place("alice", "sell limit amount=48.5262811 price=150")
		return s.ask("alice", "GET /ordersOpen")
	}, added: []string{"disableMarketProtection"}},
	{file: "account_2025.json", ask: asks("alice", "GET /account")},
	{file: "account_docs.json", ask: asks("alice", "GET /account"), added: []string{"tier", "capabilities"}},
	{file: "account_fees_docs.json", ask: asks("alice", "GET /account/fees")},
	{file: "balance_2023.json", ask: asks("alice", "GET /balance")},
	{file: "balance_symbol_2025.json", ask: asks("alice", "GET /balance symbol=EUR")},
	{file: "deposit_docs.json", at: "0", ask: asks("alice", "GET /deposit symbol=BTC"), added: []string{"paymentId"},
		gone: []string{"paymentid"}, why: "clients read paymentId, the documentation shows paymentid"},
	{file: "deposit_docs.json", at: "1", ask: asks("alice", "GET /deposit symbol=EUR")},
	{file: "withdrawal_docs.json", at: "response",
		ask: asks("alice", "POST /withdrawal symbol=BTC amount=1.5 address=BitcoinAddress paymentId=10002653 "+
			"addWithdrawalFee=false")},
	{file: "withdrawal_history_2025.json", ask: func(s *stage) answer {
		s.ask("alice", "POST /withdrawal symbol=BTC amount=1 address=0x79891ecc644c80603e51006c1f62ee512437e486").
			ok(s.t)
		s.pass(time.Hour)
		return s.ask("alice", "GET /withdrawalHistory")
	}},
	{file: "deposit_history_2025.json", ask: func(s *stage) answer {
		_, refusal := s.ex.bank.deposit("alice", "EUR", "100", s.ex.clock.Now())
		require.Nil(s.t, refusal)
		return s.ask("alice", "GET /depositHistory")
	}},
	{file: "account_history_docs.json", ask: func(s *stage) answer {
		s.trade("1", "100")
		return s.ask("alice", "GET /account/history type=buy")
	}},
	{file: "time.json", ask: asks("", "GET /time")},
	{file: "markets_single_2025.json", ask: asks("", "GET /markets market=BTC-EUR")},
	{file: "assets.json", ask: asks("", "GET /assets")},
	{file: "book.json", ask: busy("GET /BTC-EUR/book")},
	{file: "trades_public.json", ask: busy("GET /BTC-EUR/trades")},
	{file: "candles_1m_2025.json", ask: busy("GET /BTC-EUR/candles interval=1m")},
	{file: "ticker_price.json", ask: busy("GET /ticker/price")},
	{file: "ticker_book.json", ask: busy("GET /ticker/book")},
	{file: "ticker_24h.json", ask: busy("GET /ticker/24h")},
	{file: "report_book_docs.json", ask: busy("GET /report/BTC-EUR/book")},
	{file: "report_trades_docs.json", ask: busy("GET /report/BTC-EUR/trades")},
}

// busy asks where there is a trade, a bid and an ask.
func busy(line string) func(*stage) answer {
	return func(s *stage) answer {
		s.trade("1", "100")
		s.place("alice", "buy limit amount=1 price=90")
		s.place("bob", "sell limit amount=1 price=110")
		return s.ask("", line)
	}
}

func asks(account, line string) func(*stage) answer {
	return func(s *stage) answer { return s.ask(account, line) }
}

func TestAnswersOverHTTPHaveTheRecordedFieldsAndTypes(t *testing.T) {
	for _, r := range recordings {
		t.Run(r.file+" "+r.at, func(t *testing.T) {
			var recorded any
			require.NoError(t, json.Unmarshal([]byte(fixture(t, r.file)), &recorded))
			switch r.at {
			case "", "0":
			case "1":
				recorded = recorded.([]any)[1]
			default:
				recorded = recorded.(map[string]any)[r.at]
			}
			var have any
			s := newStage(t)
			r.ask(s).json(t, &have)
			r.compare(t, r.file, head(recorded), head(have))
		})
	}
}

// head is the first element of a list, or what is none.
func head(value any) any {
	if list, ok := value.([]any); ok && len(list) > 0 {
		return list[0]
	}
	return value
}

// compare requires the same members with the same kinds of values, down to the last object, but for
// what the recording lists.
func (r *recording) compare(t *testing.T, path string, want, have any) {
	members, ok := want.(map[string]any)
	if !ok {
		require.IsType(t, want, have, path)
		if list, ok := want.([]any); ok && len(list) > 0 {
			r.compare(t, path+"[0]", head(want), head(have))
		}
		return
	}
	require.IsType(t, want, have, path)
	ours := have.(map[string]any)
	for name := range ours {
		_, recorded := members[name]
		require.True(t, recorded || slices.Contains(r.added, name), "%s: %s is new; list it with a reason", path, name)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if slices.Contains(r.gone, name) {
			require.NotEmpty(t, r.why)
			continue
		}
		require.Contains(t, ours, name, path)
		if members[name] == nil || ours[name] == nil {
			continue
		}
		r.compare(t, path+"."+name, members[name], ours[name])
	}
}

// TestRecordedRequestsAreUnderstood sends what a client was recorded to send, with the operatorId
// that is required since.
func TestRecordedRequestsAreUnderstood(t *testing.T) {
	var requests []struct {
		Op, Method, URL string
		Body            map[string]any
	}
	require.NoError(t, json.Unmarshal([]byte(fixture(t, "requests.json")), &requests))
	s := newStage(t, func(c *Config) { c.Assets = append(c.Assets, Asset{Symbol: "USDT", Decimals: 6}) })
	bid := s.place("bob", "buy limit amount=1 price=30000")
	s.place("bob", "sell limit amount=1 price=31000")
	for _, request := range requests {
		path, body := strings.TrimPrefix(request.URL, api.Version), ""
		path = strings.ReplaceAll(path, "{orderId}", bid.id())
		switch {
		case request.Body != nil:
			request.Body["operatorId"] = 1
			text, err := json.Marshal(request.Body)
			require.NoError(t, err)
			body = string(text)
		case request.Method == "DELETE" && strings.Contains(path, "?"):
			path += "&operatorId=1"
		case request.Method == "DELETE":
			path += "?operatorId=1"
		}
		a := s.send("alice", request.Method, path, body)
		if request.Op == "update" || request.Op == "cancel one" { // of an order that alice does not have
			a.refused(t, 404, 240)
			continue
		}
		a.ok(t)
	}
}

// TestRecordedErrorsComeWithTheirStatusAndWords provokes every error that was recorded.
func TestRecordedErrorsComeWithTheirStatusAndWords(t *testing.T) {
	var errors []struct {
		HTTP int
		Body struct {
			ErrorCode int
			Error     string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(fixture(t, "errors_observed.json")), &errors))
	s := newStage(t, func(c *Config) { c.Markets[0].MinOrderInBase = "0.001" })
	header := func(name, value string) answer {
		request := s.request("alice", "GET", "/balance", "")
		request.Header.Set("Service-Access-"+name, value)
		return s.do(request)
	}
	o := s.place("alice", "buy limit amount=1 price=100")
	provoked := map[string]answer{
		"301": header("Key", "short"), "305": header("Key", rigKey("nobody")), "308": header("Signature",
			"00"), "309": header("Signature", strings.Repeat("0", 64)),
		"203": s.ask("alice",
			"POST /order market=BTC-EUR side=buy orderType=limit amount=1 price=100"),
		"205 market parameter":     s.ask("", "GET /ticker/price market=BTC"),
		"205 clientOrderId parame": s.ask("alice", orderLine("buy limit amount=1 price=100 clientOrderId=x")),
		"216":                      s.ask("alice", orderLine("sell limit amount=1000.5 price=100")),
		"217":                      s.ask("alice", orderLine("buy limit amount=0.01 price=100")),
		"232":                      s.ask("alice", "PUT /order market=BTC-EUR operatorId=7 orderId="+o.id()),
		"240":                      s.ask("alice", "GET /order market=BTC-EUR orderId="+named),
		"105":                      s.exhausted("bob"),
	}
	require.Len(t, errors, len(provoked))
	for _, want := range errors {
		key := fmt.Sprint(want.Body.ErrorCode)
		if want.Body.ErrorCode == 205 {
			key += " " + want.Body.Error[:len("market parameter")]
			if strings.HasPrefix(want.Body.Error, "client") {
				key = "205 clientOrderId parame"
			}
		}
		have := exchange.ParseError(provoked[key].status, []byte(provoked[key].body))
		require.Equal(t, []int{want.HTTP, want.Body.ErrorCode}, []int{have.Status, have.Code}, key)
		words, _, _ := strings.Cut(want.Body.Error, " at ") // the end of a ban is another
		require.Contains(t, have.Message, strings.TrimSuffix(words, "."))
	}
}

// TestRecordedFillsCostTheirRecordedFees makes each fill that was recorded happen between two
// accounts.
func TestRecordedFillsCostTheirRecordedFees(t *testing.T) {
	var vectors struct {
		Fills []struct{ Source, Side, PlacedWith, Amount, Price, Rate, GrossQuote, Fee, FeeCurrency string }
		Holds []struct{ Source, Side, Amount, Price, TakerRate, OnHold, OnHoldCurrency string }
	}
	require.NoError(t, json.Unmarshal([]byte(fixture(t, "fee_vectors.json")), &vectors))
	at := func(rate string) *stage {
		n, err := market.ParseFixed(rate, market.RateDigits)
		require.NoError(t, err)
		return newStage(t, func(c *Config) {
			c.Tiers = []Tier{{Volume: "0", Fees: map[string]exchange.Fees{"": {Taker: market.Rate(n), Maker: 0}}}}
			c.Markets[0].PriceDigits, c.Markets[0].TickSize, c.Markets[0].MinOrderInQuote = 5, "0.00001", "0"
		})
	}
	require.Len(t, vectors.Fills, 7)
	for _, v := range vectors.Fills {
		s := at(v.Rate)
		makes := map[string]string{"buy": "sell", "sell": "buy"}[v.Side]
		s.place("bob", makes+" limit amount=100 price="+v.Price)
		with := "amount=" + v.Amount
		if v.PlacedWith == "amountQuote" {
			with = "amountQuote=40"
		}
		o := s.place("alice", v.Side+" market "+with)
		s.has(o, "filledAmount="+v.Amount, "filledAmountQuote="+trimmed(v.GrossQuote), "feePaid="+v.Fee,
			"feeCurrency="+v.FeeCurrency)
	}
	for _, v := range vectors.Holds {
		s := at(v.TakerRate)
		s.has(s.place("alice", v.Side+" limit amount="+v.Amount+" price="+v.Price), "onHold="+v.OnHold,
			"onHoldCurrency="+v.OnHoldCurrency)
	}
}

// trimmed is a decimal without zeros at its end.
func trimmed(text string) string { return strings.TrimSuffix(strings.TrimRight(text, "0"), ".") }
