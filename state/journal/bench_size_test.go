package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// usualIntent is a place with everything that one has in life: the whole body, and the figures of
// all limits.
func usualIntent(o *state.Order) *Intent {
	i := intentOf(o)
	i.Body = fmt.Appendf(nil,
		`{"market":"BTC-EUR","side":"buy","orderType":"limit","operatorId":7,"clientOrderId":"%s","amount":"0.01234567","price":"35219","timeInForce":"GTC",`+
			`"postOnly":false,"selfTradePrevention":"decrementAndCancel","codGroupId":3,"responseRequired":true}`,
		o.ClientOrderID)
	i.Risk = []state.Figure{figure("available EUR", "10000", "9564.11", ""),
		figure("max_open_orders", "0", "1", "6"),
		figure("max_order_value", "0", "434.81", "700"),
		figure("max_position", "0", "434.81", "2500"),
		figure("max_exposure", "0", "435.89", "4000"),
		figure("orders_per_minute", "0", "1", "30"),
		figure("max_daily_loss", "0", "0", "4000"),
		figure("max_drawdown", "0", "0", "0.2")}
	i.Asked = state.Terms{Price: o.Price, Amount: o.Amount}
	return i
}

// BenchmarkFileSize plays the whole lives of orders (a place with all its figures, sent, accepted,
// filled), one commit a step, and measures how large the file becomes, compacted, and pruned of
// nine tenths. For the figure of docs/operate.md: -bench FileSize -benchtime 100000x.
func BenchmarkFileSize(b *testing.B) {
	s := botStore(b)
	s.db.NoSync = true
	batch := s.NewBatch()
	id := market.OrderID(0)
	for b.Loop() {
		id++
		o, at := ownOrder(id), market.Time(id)*1000
		batch.Journal(at, usualIntent(o))
		batch.Order(o)
		require.NoError(b, s.Commit(batch))
		o.ExchangeID, o.State, o.Status, o.InFlight, o.Reported, o.Updated = market.ClientOrderID(o.ClientOrderID,
			id), state.Open, market.StatusNew, 0, true, at+1
		batch.Journal(at, &SentCommand{Order: id, Command: market.CommandPlace})
		batch.Journal(at+1, &AnswerEntry{Order: id, Command: market.CommandPlace, Answer: AnswerAccepted, Status: 200,
			ExchangeID: o.ExchangeID})
		tell(b, s, batch, o, at+1)
		o.FilledAmount, o.AmountRemaining, o.Status, o.State, o.Updated = 100, 0, market.StatusFilled, state.Filled,
			at+2
		f := fillOf(o, 1, 100, at+2)
		f.ID = market.ClientOrderID(o.ExchangeID, id)
		tell(b, s, batch, o, at+2, f)
	}
	lives := float64(id) / 100_000 * (1 << 20)
	b.ReportMetric(float64(fileSize(b, s.path))/lives, "MB/100k-orders")
	for name, write := range map[string]func(path string) error{
		"compacted-MB": s.Compact,
		"pruned-MB": func(path string) error {
			_, err := s.Prune(path, market.Time(id)*900)
			return err
		},
	} {
		path := filepath.Join(b.TempDir(), "small.db")
		require.NoError(b, write(path))
		b.ReportMetric(float64(fileSize(b, path))/lives, name)
	}
}

// tell commits the report of the exchange about an order.
func tell(b *testing.B, s *Store, batch *Batch, o *state.Order, at market.Time, fills ...market.Fill) {
	report := market.ReportOf(&o.Order, market.ExecTrade)
	batch.Event(&market.Event{At: at, Kind: market.KindReport, Market: o.Market, Report: &report, Fills: fills})
	batch.Order(o)
	require.NoError(b, s.Commit(batch))
}

func fileSize(b *testing.B, path string) int64 {
	info, err := os.Stat(path)
	require.NoError(b, err)
	return info.Size()
}
