package bot_test

import (
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/state/recording"
)

// liveState leaves in a folder what a bot that ran does: a state file with two orders, one of them
// filled, and a recording.
func liveState(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(makeState(ts.MkAbs(args[0])))
}

func makeState(dir string) error {
	c := &market.Catalog{}
	for _, asset := range []market.Asset{{Symbol: "BTC", Digits: 8}, {Symbol: "EUR", Digits: 2}} {
		if _, err := c.AddAsset(asset.Symbol, asset.Digits); err != nil {
			return err
		}
	}
	if err := c.AddMarket(&market.Market{Name: "BTC-EUR", PriceDigits: 2}); err != nil {
		return err
	}
	recording, err := recording.Open(filepath.Join(dir, "recording"), recording.Options{Catalog: c})
	if err != nil {
		return err
	}
	const at = market.Time(1_700_000_000_000_000_000)
	if _, err := recording.Append(&market.Event{At: at, Kind: market.KindTicker,
		Ticker: &market.Ticker{Market: 1, Last: 5_000_000}}); err != nil {
		return err
	}
	if err := recording.Close(); err != nil {
		return err
	}
	store, err := journal.Open(filepath.Join(dir, "bot.db"))
	if err != nil {
		return err
	}
	if err := store.Bind(c, []string{"trend"}); err != nil {
		return err
	}
	run := uuid.UUID{15: 7}
	b := store.NewBatch()
	b.Start(at, &journal.Start{Run: run, Version: "v1", ConfigHash: "c0ffee", Currency: "EUR",
		Strategies: []string{"trend"}})
	for id := range market.OrderID(2) {
		makeOrder(b, run, at, id+1)
	}
	b.Equity(journal.EquitySample{At: at, Equity: 1_000_050})
	b.Halt(at+9, &journal.Halt{Scope: "strategy trend", Reason: "max_daily_loss", By: "gate"})
	if err := store.Commit(b); err != nil {
		return err
	}
	return store.Close()
}

// makeOrder adds a buy; the first one fills.
func makeOrder(b *journal.Batch, run uuid.UUID, at market.Time, id market.OrderID) {
	o := &state.Order{State: state.Sent, InFlight: market.CommandPlace,
		Order: market.Order{ID: id, ClientOrderID: market.ClientOrderID(run, id), Market: 1, Strategy: 1,
			Side: market.Buy, Type: market.TypeLimit, OrderState: market.OrderState{TimeInForce: market.GTC,
				Price: 5_000_000, Amount: 100_000, AmountRemaining: 100_000}, Tag: "entry"}}
	b.Journal(at, &journal.Intent{Command: market.Command{Kind: market.CommandPlace, At: at, Order: o.Order},
		Method: "POST", Path: "/v2/order", Body: []byte(`{"side":"buy"}`),
		Timestamp: at.Millis(), WindowMS: 10000, Risk: []state.Figure{{Name: "max_position", Before: "0", After: "50",
			Limit: "100"}}})
	b.Order(o)
	if id != 1 {
		return
	}
	o.State, o.Status, o.InFlight, o.ExchangeID, o.FilledAmount, o.AmountRemaining = state.Filled, market.StatusFilled,
		0, uuid.UUID{3}, 100_000, 0
	report := market.ReportOf(&o.Order, market.ExecTrade)
	b.Event(&market.Event{At: at + 1, Kind: market.KindReport, Report: &report,
		Fills: []market.Fill{{ID: uuid.UUID{5}, Order: id, Market: 1, Strategy: 1, Side: market.Buy,
			Taker: true, Settled: true, FeeCurrency: 2, Price: 5_000_000, Amount: 100_000,
			Fee: market.ValueOf(1_250_000_000), Time: at + 1}}})
	b.Order(o)
	b.Position(1, 1, &market.Position{Amount: 100_000, Cost: market.ValueOf(500_000_000_000), Opened: at + 1})
}

func TestStateCommandsLeaveAHeldFileAlone(t *testing.T) {
	bottest.Unraced(t)
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, makeState(dir))
	held, err := journal.Open(filepath.Join(dir, "bot.db"))
	require.NoError(t, err)
	defer held.Close()
	for _, args := range [][]string{{"check"}, {"backup", "--out", filepath.Join(dir, "copy.db")}, {"compact"},
		{"export"}} {
		code, out, failed := call(t.Context(), append([]string{"state", "--state", dir}, args...)...)
		require.Equal(t, 1, code, args)
		require.Empty(t, out)
		require.Contains(t, failed, "a running bot holds it")
	}
}
