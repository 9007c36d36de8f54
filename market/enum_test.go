package market_test

import (
	"encoding"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// enum hides the type of one enum behind functions, so that all are tested alike.
type enum struct {
	name  string
	texts []string // specification's order is ours, from 1
	ours  []string // follow the specification's
	words []string // as Words lists them
	parse func(string) (uint8, error)
	text  func(uint8) string
	bytes func(uint8) ([]byte, error)
	read  func([]byte) (uint8, error)
}

// enumOf describes an enum. P is *T, which reads itself.
func enumOf[T interface {
	market.Enum
	encoding.TextMarshaler
}, P interface {
	*T
	encoding.TextUnmarshaler
}](parse func(string) (T, error), texts string, ours ...string) enum {
	return enum{
		name: fmt.Sprintf("%T", T(0)), texts: strings.Fields(texts), ours: ours, words: market.Words[T](),
		parse: func(text string) (uint8, error) { v, err := parse(text); return uint8(v), err },
		text:  func(n uint8) string { return T(n).String() },
		bytes: func(n uint8) ([]byte, error) { return T(n).MarshalText() },
		read:  func(text []byte) (uint8, error) { v := T(77); err := P(&v).UnmarshalText(text); return uint8(v), err },
	}
}

// enums are the lists of specification 2.1, 3.1, 3.2, 4.1 and 6 and of venue-facts 1.2, written out
// again.
func enums() []enum {
	return []enum{
		enumOf[market.Side](market.ParseSide, "buy sell"),
		enumOf[market.OrderType](market.ParseOrderType,
			"market limit stopLoss stopLossLimit takeProfit takeProfitLimit"),
		enumOf[market.Status](market.ParseStatus, "new awaitingTrigger partiallyFilled filled canceled expired",
			"unresolved"),
		enumOf[market.TimeInForce](market.ParseTimeInForce, "GTC IOC FOK"),
		enumOf[market.SelfTradePrevention](market.ParseSelfTradePrevention,
			"decrementAndCancel cancelOldest cancelNewest cancelBoth"),
		enumOf[market.TriggerType](market.ParseTriggerType, "price"),
		enumOf[market.TriggerReference](market.ParseTriggerReference, "lastTrade bestBid bestAsk midPrice"),
		enumOf[market.RestatementReason](market.ParseRestatementReason, `decrementOnSelfTradePrevention cancelOnSelfTradePrevention cancelOnPlacementPriceProtection
			cancelOnExecutionPriceProtection cancelOnSpreadProtection cancelOnReferencePriceProtection cancelPostOnlyOnAuctionMatching cancelOnMaintenance
			cancelOnDisconnect cancelOnDelisting cancelOnLockPlaced cancelOnAdminRequest cancelPostOnly`),
		enumOf[market.MarketStatus](market.ParseMarketStatus, "trading halted auction auctionMatching cancelOnly",
			"delisted"),
		enumOf[market.ExecutionType](market.ParseExecutionType, "new trade canceled expired updated triggered restated",
			"rejected", "unknown"),
		enumOf[market.Interval](market.ParseInterval, "1m 5m 15m 30m 1h 2h 4h 6h 8h 12h 1d 1W 1M"),
	}
}

func TestEnumsHaveTheSpecificationsTexts(t *testing.T) {
	for _, e := range enums() {
		require.Equal(t, append(e.texts, e.ours...), e.words, e.name)
		for i, text := range append(e.texts, e.ours...) {
			value := uint8(i + 1)
			require.Equal(t, text, e.text(value), e.name)
			parsed, err := e.parse(text)
			require.NoError(t, err, e.name)
			require.Equal(t, value, parsed, "%s %s", e.name, text)
			written, err := e.bytes(value)
			require.NoError(t, err, e.name)
			read, err := e.read(written)
			require.NoError(t, err, e.name)
			require.Equal(t, value, read, e.name)
		}
	}
}

func TestEnumsHaveNoOtherValues(t *testing.T) {
	for _, e := range enums() {
		beyond := uint8(len(e.texts) + len(e.ours) + 1)
		require.Empty(t, e.text(0), e.name)
		for _, value := range []uint8{0, beyond, 255} {
			_, err := e.bytes(value)
			require.Error(t, err, "%s %d", e.name, value)
		}
		require.Contains(t, e.text(beyond), fmt.Sprintf("(%d)", beyond), e.name)
		for _, text := range []string{"", " ", strings.ToUpper(e.texts[0]) + "x", "Buy", "gtc",
			strings.Repeat("y", 5000)} {
			value, err := e.parse(text)
			require.Error(t, err, "%s %q", e.name, text)
			require.Zero(t, value)
			require.Less(t, len(err.Error()), 1000)
		}
	}
}

func TestTheSpecificationKnowsEveryText(t *testing.T) {
	specification, err := os.ReadFile("../../shared/spec/exchange-api.md")
	if err != nil {
		t.Skip("the specification is not here: ", err)
	}
	words := strings.FieldsFunc(string(specification),
		func(r rune) bool { return strings.ContainsRune(" \n`,.;|()/", r) })
	known := map[string]bool{}
	for _, word := range words {
		known[word] = true
	}
	for _, e := range enums() {
		if e.name == "market.Interval" {
			continue // the specification leaves the intervals out; they come from venue-facts 1.2
		}
		for _, text := range e.texts {
			require.True(t, known[text], "%s %s", e.name, text)
		}
	}
}

func TestSidesHaveOpposites(t *testing.T) {
	require.Equal(t, market.Sell, market.Buy.Opposite())
	require.Equal(t, market.Buy, market.Sell.Opposite())
}

func TestOrderTypesSayWhatTheyCarry(t *testing.T) {
	cases := []struct {
		of                   market.OrderType
		price, trigger, stop bool
	}{
		{market.TypeMarket, false, false, false},
		{market.TypeLimit, true, false, false},
		{market.TypeStopLoss, false, true, true},
		{market.TypeStopLossLimit, true, true, true},
		{market.TypeTakeProfit, false, true, false},
		{market.TypeTakeProfitLimit, true, true, false},
	}
	for _, c := range cases {
		require.Equal(t, c.price, c.of.HasPrice(), c.of)
		require.Equal(t, c.trigger, c.of.HasTrigger(), c.of)
		require.Equal(t, c.stop, c.of.IsStop(), c.of)
	}
}

func TestStatusIsOpenOrTerminalOrUnresolved(t *testing.T) {
	cases := []struct {
		of             market.Status
		open, terminal bool
	}{
		{market.StatusNew, true, false},
		{market.StatusAwaitingTrigger, true, false}, // counts against maxOpenOrders
		{market.StatusPartiallyFilled, true, false},
		{market.StatusFilled, false, true},
		{market.StatusCanceled, false, true},
		{market.StatusExpired, false, true},
		{market.StatusUnresolved, false, false}, // an open question
	}
	for _, c := range cases {
		require.Equal(t, c.open, c.of.Open(), c.of)
		require.Equal(t, c.terminal, c.of.Terminal(), c.of)
		require.Equal(t, c.terminal, (&market.Order{OrderState: market.OrderState{Status: c.of}}).Done(), c.of)
	}
}

func TestKindsHaveNames(t *testing.T) {
	for kind := market.KindTransfer; kind <= market.KindTimer; kind++ {
		require.Regexp(t, `^[a-zA-Z]+$`, kind.String())
	}
	for kind := market.CommandCancel; kind <= market.CommandPlace; kind++ {
		require.Regexp(t, `^[a-z]+$`, kind.String())
	}
	require.Less(t, market.KindReport, market.KindCandles) // an answer is told before the candle that follows it
	require.Less(t, market.CommandCancel, market.CommandPlace)
}

func TestChangeHasAllFieldsOrNot(t *testing.T) {
	change := market.ChangePrice | market.ChangeAmount
	require.True(t, change.Has(market.ChangePrice))
	require.True(t, change.Has(market.ChangePrice|market.ChangeAmount))
	require.False(t, change.Has(market.ChangePrice|market.ChangePostOnly))
}
