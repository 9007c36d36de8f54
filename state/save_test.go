package state

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// lived is the text of an account of two strategies, the first with an allocation of its own, which
// has everything that can be saved.
func lived(t testing.TB) []byte {
	d := newDesk(t, 2, []bool{false, true})
	d.deposit(1, d.m.Quote, 1000_00)
	d.deposit(2, d.m.Quote, 500_00)
	bought := d.sendFor(1, market.TypeLimit, market.Buy, 1e8, 100_00, 100_00)
	bought.ClientOrderID, bought.ExchangeID, bought.Tag = uuid.UUID{1}, uuid.UUID{2}, "entry"
	d.trade(bought, 6e7, 100_00, 15, 40_00)
	d.SendUpdate(bought, 50_00)
	d.WantCancel(bought, true)
	sold := d.sendFor(1, market.TypeStopLoss, market.Sell, 2e7, 0, 2e7)
	sold.TriggerAmount, sold.Bracket = 90_00, market.Bracket{Stop: 1, Target: 2, Keep: market.KeepTarget}
	waiting := d.sendFor(2, market.TypeMarket, market.Buy, 1e6, 0, 1_00)
	unknown := market.ReportOf(&waiting.Order, market.ExecUnknown)
	unknown.Command = market.CommandPlace
	d.tell(&unknown)
	done := d.sendFor(2, market.TypeLimit, market.Buy, 1e6, 100_00, 1_00)
	fill := d.fillOf(done, 1e6, 100_00, 0)
	fill.Settled = false
	r := d.report(done, market.ExecTrade, market.StatusFilled)
	r.FilledAmount, r.AmountRemaining, r.OnHold = 1e6, 0, 0
	d.tell(r, fill)
	d.tell(&market.Report{})
	text := wholeText(t, d.Account, seatNames)
	return text
}

// wholeText is an account with its orders, a line for each text, orders by id.
func wholeText(t require.TestingT, a *Account, names []string) []byte {
	text, err := a.Save(nil, names)
	require.NoError(t, err)
	orders := map[market.OrderID][]byte{}
	require.NoError(t, a.SaveOrders(names, true, func(id market.OrderID, text []byte) error {
		if text != nil {
			orders[id] = slices.Clone(text)
		}
		return nil
	}))
	return joined(text, orders)
}

func joined(account []byte, orders map[market.OrderID][]byte) []byte {
	all := [][]byte{account}
	for _, id := range slices.Sorted(maps.Keys(orders)) {
		all = append(all, orders[id])
	}
	return bytes.Join(all, []byte("\n"))
}

// restoreText restores what wholeText returned.
func restoreText(a *Account, text []byte, names []string) error {
	lines := bytes.Split(text, []byte("\n"))
	return a.Restore(lines[0], lines[1:], names)
}

func TestWhatIsSavedCanBeReadByAPerson(t *testing.T) {
	text := string(lived(t))
	for _, part := range []string{
		`{"version":1,"state":{"markets":{"BTC-EUR":{"price":2,"amount":8,"quote":2}},"assets":{"BTC":8,"EUR":2},"strategies":["one","two"],`,
		`"allocations":[{"totals":{"BTC":1000000,"EUR":49900}},{"owner":"one","totals":{"BTC":60000000,"EUR":93999}}]`,
		`{"strategy":"one","market":"BTC-EUR","amount":60000000,"cost":"600000000015","fees":"15","opened":1}`,
		`"state":"partiallyFilled","inFlight":"update","cancelWanted":true,"reported":true,"extra":1000,"counted":60000000,"fills":[{"id":"00000000-0000-0000-0000-000000000001","settled":true}]`,
		`"tag":"entry"`, `"state":"sent","inFlight":"place"`, `"state":"unknown"`, `"settled":false`, `"foreign":1`,
	} {
		require.Contains(t, text, part)
	}
}

// The file is what lived returned when version 1 was made.
func TestASavedAccountIsReadAsBefore(t *testing.T) {
	text, err := os.ReadFile("testdata/account-v1.txt")
	require.NoError(t, err)
	require.Equal(t, string(text), string(lived(t)))
	a := restarted(t, false, []bool{false, true})
	require.NoError(t, restoreText(a, text, seatNames))
	require.Equal(t, string(text), string(wholeText(t, a, seatNames)))
}

func TestAnAccountThatLacksAnOrderOrHasOneTooManyIsRefused(t *testing.T) {
	lines := bytes.Split(lived(t), []byte("\n"))
	a := restarted(t, false, []bool{false, true})
	require.EqualError(t, a.Restore(lines[0], lines[2:], seatNames),
		"account: 4 orders were saved with it, and there are 3")
	require.EqualError(t, a.Restore(lines[0], slices.Concat(lines[1:], lines[1:2]), seatNames),
		"account: 4 orders were saved with it, and there are 5")
}

func TestADoneOrderStillWaitsForItsFeeAfterARestart(t *testing.T) {
	a := restarted(t, true, []bool{false, true})
	require.NoError(t, restoreText(a, lived(t), seatNames))
	m := a.Catalog().MarketNamed("BTC-EUR")
	require.NotNil(t, a.Known(4))
	require.True(t, a.Unsettled(m.Quote))
	fill := market.Fill{ID: uuid.UUID{15: 2}, Order: 4, Market: m.ID, Side: market.Buy, Settled: true, Price: 100_00,
		Amount: 1e6, Fee: market.ValueOf(1e8)}
	applied, err := a.Apply(&market.Event{Kind: market.KindFill, Fills: []market.Fill{fill}})
	require.NoError(t, err)
	require.Zero(t, applied.Fresh, "the fill was counted before")
	available, held := a.Balance(2, m.Quote)
	require.Equal(t, [2]market.Money{500_00 - 1_00 - 1 - 1_00, 1_00}, [2]market.Money{available, held})
	require.True(t, a.Changed())
	require.Nil(t, a.Known(4), "nothing more is expected of it")
	require.False(t, a.Unsettled(m.Quote))
}

func TestStrategiesAndMarketsAreFoundByName(t *testing.T) {
	text := lived(t)
	a := restarted(t, true, []bool{false, false, true})
	require.NoError(t, restoreText(a, text, []string{"two", "one"}))
	m := a.Catalog().MarketNamed("BTC-EUR")
	require.Equal(t, market.Qty(6e7), a.Position(2, m.ID).Amount)
	require.Equal(t, market.StrategyID(2), a.Order(1).Strategy)
	require.Equal(t, m.Base, a.Order(2).OnHoldCurrency)
	again := wholeText(t, a, []string{"two", "one"})
	require.Equal(t, string(text), string(again))
}

func TestAnAccountThatCannotGoOnSaysWhy(t *testing.T) {
	text := string(lived(t))
	for _, c := range []struct {
		own       []bool
		seatNames []string
		old, new  string
		want      string
	}{
		{nil, seatNames, "", "", `account: strategy "one" had an allocation of its own and now has none`},
		{[]bool{false, true, true}, seatNames, "", "",
			`account: strategy "two" had no allocation and now has one of its own`},
		{[]bool{false, true}, []string{"other", "two"}, "", "",
			`account: strategy "one" is gone and holds 0.6 of BTC-EUR; take it back into the config`},
		{[]bool{false, true}, []string{"one"}, "", "", "account: 2 strategies have 1 names"},
		{[]bool{false, true}, seatNames, `"onHold":5000`, `"onHold":500`,
			"order 1: holds 500 while partiallyFilled, 1000 of it for an update"},
		{[]bool{false, true}, seatNames, `"amountRemaining":40000000`, `"amountRemaining":5`,
			"order 1: filled 60000000 and remaining 5 are not amount 100000000"},
		{[]bool{false, true}, seatNames, `"extra":1000`, `"extra":9999`,
			"order 1: holds 5000 while partiallyFilled, 9999 of it for an update"},
		{[]bool{false, true}, seatNames, `"inFlight":"update"`, `"inFlight":"wish"`,
			`order 1: in flight is "wish", which is no command`},
		{[]bool{false, true}, seatNames, `{"id":2,`, `{"id":1,`, "order 1: is no order's number, or twice there"},
		{[]bool{false, true}, seatNames, `"side":"sell",`, ``, "order 2: has no side or no type"},
		{[]bool{false, true}, seatNames, `"market":"BTC-EUR"`, `"market":"LTC-EUR"`,
			`account: a position in "LTC-EUR" has no units`},
		{[]bool{false, true}, seatNames, `"assets":{"BTC":8,`, `"assets":{`,
			`account: a balance of "BTC" has no decimals`},
	} {
		a := restarted(t, false, c.own)
		require.Contains(t, text, c.old)
		err := restoreText(a, []byte(strings.ReplaceAll(text, c.old, c.new)), c.seatNames)
		require.ErrorContains(t, err, c.want)
		require.Empty(t, a.Open(nil, 0, 0), "an account that was refused is as it was")
		require.Zero(t, a.Total(1))
	}
}

func TestWhatIsFlatMayGo(t *testing.T) {
	d := newDesk(t, 2, nil)
	d.m.MinOrderInBase = 1000
	d.deposit(2, d.m.Quote, 1000_00)
	for _, amount := range []market.Qty{1e8, 999} {
		o := d.sendFor(1, market.TypeLimit, market.Buy, amount, 100_00, 0)
		d.trade(o, amount, 100_00, 0, 0)
	}
	o := d.sendFor(1, market.TypeLimit, market.Sell, 1e8, 100_00, 0)
	d.trade(o, 1e8, 110_00, 0, 0)
	text := wholeText(t, d.Account, seatNames)
	a := restarted(t, false, nil)
	a.Catalog().MarketNamed("BTC-EUR").MinOrderInBase = 1000
	require.NoError(t, restoreText(a, text, []string{"two", "three"}), "a strategy that holds only dust may go")
	require.Equal(t, market.Money(999), a.Total(1).Total, "and stays in the allocation")
}

func TestTheMoneyOfAStrategyThatIsGoneGoesToThePool(t *testing.T) {
	own := []bool{false, true, false}
	d := newDesk(t, 2, own)
	d.deposit(1, d.m.Quote, 600_00)
	d.deposit(0, d.m.Quote, 400_00)
	text := wholeText(t, d.Account, seatNames)
	a := restarted(t, false, nil)
	require.NoError(t, restoreText(a, text, []string{"two", "three"}))
	quote := a.Catalog().MarketNamed("BTC-EUR").Quote
	require.Equal(t, market.Money(600_00), a.Released(quote))
	available, held := a.Balance(1, quote)
	require.Equal(t, market.Money(1000_00), available)
	require.Zero(t, held)
}

func TestPricesOutliveTheProcess(t *testing.T) {
	d := newDesk(t, 1, nil)
	require.Zero(t, d.Priced())
	d.apply(market.Event{Kind: market.KindTicker, At: 7, Ticker: &market.Ticker{Market: 1, Last: 100_00, Bid: 99_00,
		Ask: 101_00}})
	require.Equal(t, 1, d.Priced())
	text, err := d.SavePrices(nil)
	require.NoError(t, err)
	require.Equal(t, `{"version":1,"state":{"markets":{"BTC-EUR":{"units":{"price":2,"amount":8,"quote":2},"last":10000,"at":7,"bid":9900,"ask":10100}}}}`, string(text))
	a := restarted(t, true, nil)
	require.NoError(t, a.RestorePrices(text))
	require.Equal(t, market.Price(100_00), a.Last(2))
	require.Equal(t, market.Price(101_00), a.Touch(2, market.Buy))
	at, late := a.PriceArrived(2)
	require.Equal(t, market.Time(7), at)
	require.False(t, late)
	gone := strings.ReplaceAll(string(text), "BTC-EUR", "LTC-EUR")
	require.NoError(t, a.RestorePrices([]byte(gone)), "a price of a market that is gone is left out")
	require.Error(t, a.RestorePrices(text[:20]))
}

func FuzzRestoreAnAccount(f *testing.F) {
	text := lived(f)
	f.Add(text)
	f.Add(slices.Concat(text[:len(text)/2], text[len(text)/2+1:]))
	f.Fuzz(func(t *testing.T, data []byte) {
		a := restarted(t, false, []bool{false, true})
		if restoreText(a, data, seatNames) != nil {
			return
		}
		require.NoError(t, checks{a}.consistent())
		again := wholeText(t, a, seatNames)
		b := restarted(t, true, []bool{false, true})
		require.NoError(t, restoreText(b, again, seatNames))
		twice := wholeText(t, b, seatNames)
		require.Equal(t, string(again), string(twice))
	})
}

func TestAnOrderThatEndsUnderAnUpdateAndWaitsForItsFeeCanBeRestored(t *testing.T) {
	d := newDesk(t, 1, nil)
	d.deposit(1, d.m.Quote, 100*eur)
	o := d.send(market.Buy, btc, 10*at1, 10*eur)
	d.tell(d.report(o, market.ExecNew, market.StatusNew))
	d.SendUpdate(o, 20*eur)
	fill := d.fillOf(o, btc, 10*at1, 0)
	fill.Settled = false
	r := d.report(o, market.ExecTrade, market.StatusFilled)
	r.FilledAmount, r.AmountRemaining, r.OnHold = btc, 0, 0
	d.tell(r, fill)
	saved := wholeText(t, d.Account, []string{"one"})
	require.NoError(t, restoreText(newDesk(t, 1, nil).Account, saved, []string{"one"}))
	older := strings.Replace(string(saved), `"reported":true`, `"reported":true,"extra":2`, 1)
	require.NotEqual(t, older, string(saved))
	require.NoError(t, restoreText(newDesk(t, 1, nil).Account, []byte(older), []string{"one"}),
		"as older versions wrote it")
}

// Files have an order under these names.
func TestASavedOrderKeepsItsNames(t *testing.T) {
	d := newDesk(t, 1, nil)
	o := d.Send(&market.Order{ID: 1, Market: 1, Strategy: 1, Side: market.Sell, Type: market.TypeStopLossLimit}, 0)
	o.Order = market.Order{
		ID: 1, ExchangeID: uuid.UUID{1}, ClientOrderID: uuid.UUID{2}, OperatorID: 3, Market: 1, Strategy: 1,
		CodGroupID: 4,
		Side:       market.Sell, Type: market.TypeStopLossLimit, TriggerType: market.TriggerPrice,
		TriggerReference: market.BestBid,
		Visible:          true, FeeCurrency: 1, OnHoldCurrency: 2,
		OrderState: market.OrderState{
			Status: market.StatusPartiallyFilled, TimeInForce: market.IOC, SelfTradePrevention: market.CancelOldest,
			RestatementReason: market.CancelOnDelisting, PostOnly: true, Triggered: true, Price: 8, TriggerAmount: 9,
			Amount:          10,
			AmountRemaining: 11, AmountQuote: 12, AmountQuoteRemaining: 13, OnHold: 14, FilledAmount: 15,
			FilledAmountQuote: market.ValueOf(16), FeePaid: market.ValueOf(17), Updated: 19,
		},
		Created: 18, Bracket: market.Bracket{Stop: 20, Target: 21, Keep: market.KeepTarget}, Tag: "word",
	}
	text := wholeText(t, d.Account, []string{"one"})
	var saved struct{ State json.RawMessage }
	require.NoError(t, json.Unmarshal(bytes.Split(text, []byte("\n"))[1], &saved))
	value := func(v market.Value) string {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		return string(text)
	}
	require.JSONEq(t, `{"id":1,"exchangeId":"01000000-0000-0000-0000-000000000000","clientOrderId":"02000000-0000-0000-0000-000000000000",
		"operatorId":3,"market":"BTC-EUR","strategy":"one","codGroupId":4,"side":"sell","type":"stopLossLimit","status":"partiallyFilled",
		"timeInForce":"IOC","selfTradePrevention":"cancelOldest","triggerType":"price","triggerReference":"bestBid",
		"restatementReason":"cancelOnDelisting","postOnly":true,"visible":true,"triggered":true,"price":8,"triggerAmount":9,"amount":10,
		"amountRemaining":11,"amountQuote":12,"amountQuoteRemaining":13,"onHold":14,"filledAmount":15,
		"filledAmountQuote":`+value(o.FilledAmountQuote)+`,"feePaid":`+value(o.FeePaid)+`,"created":18,"updated":19,
		"stop":20,"target":21,"keep":1,"tag":"word","state":"sent","inFlight":"place"}`, string(saved.State))
}
