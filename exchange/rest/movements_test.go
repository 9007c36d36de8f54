package rest

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

func TestATransactionTellsWhatItMovedUnlessItIsATrade(t *testing.T) {
	cat := &market.Catalog{}
	_, err := cat.AddAsset("EUR", 2)
	require.NoError(t, err)
	_, err = cat.AddAsset("BTC", 8)
	require.NoError(t, err)
	const at = market.Time(1_700_000_000_123_000_000)
	for _, c := range []struct {
		transaction Transaction
		moved       []exchange.Movement
	}{
		{Transaction{Type: "buy", SentCurrency: "EUR", SentAmount: "5", ReceivedCurrency: "BTC", ReceivedAmount: "1"},
			nil},
		{Transaction{Type: "sell", ExecutedAt: "never"}, nil},
		{Transaction{Type: "deposit", ReceivedCurrency: "EUR", ReceivedAmount: "500"},
			[]exchange.Movement{{At: at, Kind: "deposit", Asset: 1, Money: 500_00}}},
		{Transaction{Type: "withdrawal", SentCurrency: "BTC", SentAmount: "0.00034567"},
			[]exchange.Movement{{At: at, Kind: "withdrawal", Asset: 2, Money: -34567}}},
		// a float's artefact
		{Transaction{Type: "rebate", ReceivedCurrency: "EUR", ReceivedAmount: "0.30000000000000004"},
			[]exchange.Movement{{At: at, Kind: "rebate", Asset: 1, Money: 30}}},
		{Transaction{Type: "rebate", ReceivedCurrency: "EUR", ReceivedAmount: "7.5E+4"},
			[]exchange.Movement{{At: at, Kind: "rebate", Asset: 1, Money: 75_000_00}}},
		{Transaction{Type: "staking", ReceivedCurrency: "ADA", ReceivedAmount: "1"}, nil}, // not of this catalog
		{Transaction{Type: "swap", SentCurrency: "EUR", SentAmount: "1", ReceivedCurrency: "BTC", ReceivedAmount: "2"},
			[]exchange.Movement{{At: at, Kind: "swap", Asset: 2, Money: 2_00000000},
				{At: at, Kind: "swap", Asset: 1, Money: -1_00}}},
	} {
		if c.transaction.ExecutedAt == "" {
			c.transaction.ExecutedAt = "2023-11-14T22:13:20.123Z"
		}
		moved, err := c.transaction.movements(cat, nil)
		require.NoError(t, err)
		require.Equal(t, c.moved, moved)
	}
	for _, wrong := range []Transaction{
		{Type: "deposit", ExecutedAt: "yesterday"},
		{Type: "deposit", ExecutedAt: "2023-11-14T22:13:20Z", ReceivedCurrency: "EUR", ReceivedAmount: "much"},
		{Type: "deposit", ExecutedAt: "2023-11-14T22:13:20Z", ReceivedCurrency: "EUR", ReceivedAmount: "1e300"},
		{Type: "deposit", ExecutedAt: "2023-11-14T22:13:20Z", ReceivedCurrency: "EUR", ReceivedAmount: "NaN"},
	} {
		_, err := wrong.movements(cat, nil)
		require.Error(t, err, wrong.ReceivedAmount)
	}
}

// A deposit that comes while the pages are asked for moves every row one further.
func TestAMovementThatIsOnTwoPagesCountsOnce(t *testing.T) {
	r := newRig(t, nil)
	row := func(id string) string {
		return `{"transactionId":"` + id +
			`","executedAt":"2023-11-14T22:13:20Z","type":"withdrawal","sentCurrency":"EUR","sentAmount":"7"}`
	}
	pages := [...]string{row("a") + "," + row("b"), row("b") + "," + row("c"), row("") + "," + row("")}
	for i := range pages {
		pages[i] = `{"items":[` + pages[i] + `],"currentPage":` + string(rune('1'+i)) + `,"totalPages":3,"maxItems":2}`
	}
	asked := 0
	r.wire.before = func(*http.Request) (*http.Response, error) {
		asked++
		return answered(200, pages[asked-1]), nil
	}
	moved, err := r.Movements(t.Context(), rigStart)
	require.NoError(t, err)
	require.Equal(t, 3, asked)
	require.Len(t, moved, 5, "two without an id are two")
}
