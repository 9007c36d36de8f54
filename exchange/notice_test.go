package exchange_test

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

func TestEventsOfTheAccountAreReadAsTheyWereWritten(t *testing.T) {
	cat := wireCatalog(t)
	order := market.Order{Market: 1, ExchangeID: uuid.UUID{1}, ClientOrderID: uuid.UUID{15: 2}, OperatorID: 7,
		Side: market.Buy, Type: market.TypeLimit, OnHoldCurrency: 1, FeeCurrency: 1, Created: 1_790_000_000_100_200_000,
		Visible: true, OrderState: market.OrderState{Status: market.StatusPartiallyFilled,
			TimeInForce: market.GTC, SelfTradePrevention: market.DecrementAndCancel, Price: 9500200, Amount: 2000000,
			AmountRemaining: 1000000, OnHold: 95240, FilledAmount: 1000000, Updated: 1_790_000_000_123_456_000}}
	got, err := exchange.ParseNotice(exchange.AppendOrderEvent(nil, cat, &order, market.ExecTrade), cat)
	require.NoError(t, err)
	require.Equal(t, exchange.Notice{Kind: exchange.NoticeOrder, Order: order, Exec: market.ExecTrade}, got)

	fee, err := market.ParseValue("2.38", cat.Market(1).ValueDigits)
	require.NoError(t, err)
	fill := market.Fill{ID: uuid.UUID{3}, Market: 1, Side: market.Buy, Taker: true, Settled: true, Fee: fee,
		FeeCurrency: 1, Price: 9500200, Amount: 1000000, Time: 1_790_000_000_123_456_000}
	for _, settled := range []bool{true, false} {
		if fill.Settled = settled; !settled {
			fill.Fee, fill.FeeCurrency = market.Value{}, 0
		}
		got, err = exchange.ParseNotice(exchange.AppendFillEvent(nil, cat, &order, &fill), cat)
		require.NoError(t, err)
		want := fill
		want.Time = 1_790_000_000_123_000_000 // of its millisecond
		require.Equal(t, exchange.Trade{Fill: want, ExchangeID: order.ExchangeID, ClientOrderID: order.ClientOrderID},
			got.Trade)
	}
}

func TestAnEventThatCannotBeBookedIsRefusedWithTheNameOfTheField(t *testing.T) {
	cat := wireCatalog(t)
	fill := map[string]any{"event": "fill", "timestamp": 1790000000123, "market": "BTC-EUR",
		"orderId": uuid.UUID{1}.String(), "fillId": uuid.UUID{3}.String(), "side": "buy", "amount": "0.01",
		"price": "95002", "taker": true}
	for field, c := range map[string]struct {
		value any
		text  string
	}{
		"fillId": {"7", "fills.id"}, "orderId": {"", "orderId"}, "side": {"up", "side"}, "amount": {"-1",
			"fills.amount"},
		"price": {"1e400", "fills.price"}, "market": {"NO-EUR", "NO-EUR"}, "event": {"book", `account event "book"`},
		"taker": {"yes", "fills.taker"}, "timestamp": {[]int{}, "fills.timestamp"},
	} {
		changed := map[string]any{}
		for name, value := range fill {
			changed[name] = value
		}
		changed[field] = c.value
		text, err := json.Marshal(changed)
		require.NoError(t, err)
		_, err = exchange.ParseNotice(text, cat)
		require.ErrorContains(t, err, c.text, field)
	}
}
