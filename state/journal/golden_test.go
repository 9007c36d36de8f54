package journal

import (
	"bytes"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/internal/filetest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// writeGolden is set after a change of the format: go test ./state/journal -run
// TheStateFileOfThisFormat -golden
var writeGolden = flag.Bool("golden", false,
	"write the missing files of testdata and their texts anew; read the difference before you keep it")

// filled writes something of everything that a state file keeps: entries in a segment and alone,
// entries that Prune keeps, a pack of bookings and bookings alone.
func filled(t *testing.T, path string) {
	s, err := Open(path)
	require.NoError(t, err)
	require.NoError(t, s.Bind(twoMarkets(t), twoStrategies))
	b := s.NewBatch()
	stored(t, s, b)
	live(t, s, b, 4)
	for at := range market.Time(segmentEntries) {
		b.Journal(6000+at*at, &Timer{Strategy: "grid"})
	}
	require.NoError(t, s.Commit(b))
	live(t, s, b, 5)
	sealed(b)
	b.Transfer(&market.Event{At: 8000, Kind: market.KindTransfer, Asset: 2, Money: 1000_00, Owner: 1},
		Worth{Known: true, Value: 1000_00, Equity: 1000_00})
	live(t, s, b, 7)
	booked(t, s, b, 8, bookingPack)
	b.Reload(9_000_000, &Reload{By: "SIGHUP", ConfigHash: "def", Was: "abc", Until: 8_000_000,
		Strategies: []string{"grid"}, Changes: []string{"risk.max_exposure: 100 → 200", "bot.log: info → debug"}})
	b.Act(9_100_000, &Act{Verb: "flatten", Strategy: "grid", Reason: "the news", By: "user ann", From: "terminal"})
	b.Act(9_200_000, &Act{Verb: "cancel", Order: 1, By: "ann", From: "dashboard 127.0.0.1"})
	b.Act(9_300_000, &Act{Verb: "cancel-all", Foreign: true})
	for i := range market.Time(25) {
		b.Equity(EquitySample{Strategy: "grid", At: i * market.Time(15*time.Minute), Equity: 1000_00 + market.Money(i)})
	}
	b.Adoption(9_400_000, &Adoption{By: "user ann", From: "grid", To: "trend", Until: 9_350_000, Memory: true,
		Orders: []market.OrderID{3}, Positions: []AdoptedPosition{{Market: 1, Asset: 1, Amount: 7,
			Cost: market.ValueOf(1 << 60), Worth: Worth{Known: true, Value: 5}}},
		Money: []AdoptedMoney{{Asset: 3, Money: 12_34, Worth: Worth{Known: true, Value: 12_34}}}})
	b.Journal(9_500_000, &Signal{Source: "model", ID: "BTC-1", Hash: [32]byte{1, 31: 2},
		Body: []byte(`{"id":"BTC-1"}`), Sent: 9_480_000, Came: 9_490_000, Address: "10.0.0.7",
		Proof: "hmac", Market: "BTC-EUR", Heard: []string{"grid"},
		Deaf: []string{"trend"}, Short: true, Lost: true, Orders: []market.OrderID{3}})
	b.Journal(9_600_000, &Signal{Source: "model", Body: []byte("x"), Came: 9_600_000, Proof: "path", Market: "BTCEUR",
		Verdict: "market", Reason: `"BTCEUR" is no market`, Count: 7, First: 9_550_000})
	require.NoError(t, s.Commit(b))
	require.NoError(t, s.Close())
}

// stored commits a start, halts and orders, and one of each small thing.
func stored(t *testing.T, s *Store, b *Batch) {
	b.Start(10, &Start{Run: testRun, Version: "v1", ConfigHash: "abc", Currency: "EUR", Strategies: twoStrategies})
	b.Blob("engine", []byte("where the engine stood"))
	b.Cursor(11, "trades BTC-EUR", []byte{1, 2})
	b.Halt(12, &Halt{Scope: "strategy grid", Reason: "panic", By: "engine"})
	b.Halt(13, &Halt{Scope: "account", Reason: "shortfall", By: "reconcile"})
	require.NoError(t, s.Commit(b))
	b.Resume(14, &Resume{Scope: "account", By: "operator"})
	b.Equity(EquitySample{Strategy: "grid", At: 15, Equity: 1000_00})
	require.NoError(t, s.Commit(b))
	live(t, s, b, 1)
	live(t, s, b, 2)
	waits := ownOrder(3)
	b.Journal(5000, intentOf(waits))
	b.Order(waits)
	require.NoError(t, s.Commit(b))
}

// booked commits an order with fills of a unit each; the fee of every fifth one comes later.
func booked(t testing.TB, s *Store, b *Batch, id market.OrderID, fills int) {
	o, at := ownOrder(id), market.Time(id)*10_000
	o.Amount = market.Qty(fills)
	b.Order(o)
	for i := range fills {
		f := fillOf(o, byte(i), 1, at+market.Time(i))
		f.Settled = i%5 != 0
		if !f.Settled {
			f.Fee = market.Value{}
		}
		b.Event(&market.Event{At: f.Time, Kind: market.KindFill, Fills: []market.Fill{f}})
		if i%5 == 3 {
			late := fillOf(o, byte(i-3), 1, at+market.Time(i)-3)
			b.Event(&market.Event{At: f.Time + 1, Kind: market.KindFill, Fills: []market.Fill{late}})
		}
	}
	o.FilledAmount, o.State, o.Status = o.Amount, state.Filled, market.StatusFilled
	b.Order(o)
	require.NoError(t, s.Commit(b))
}

// sealed adds a seal, two days held against it, and a canary that was refused.
func sealed(b *Batch) {
	const day = 86_400_000_000_000
	b.Seal(7000, &Seal{Scope: "strategy grid", By: "ann", Document: []byte(`{"version":1}`)})
	b.Verdict(day, &Verdict{Scope: "strategy grid", Seal: 1, Day: 0, Document: []byte(`{"return":0.01}`)})
	b.Promotion(day+1, &Promotion{By: "ann", Version: "v2", ConfigHash: "def", Compared: 10, Equal: 9,
		Difference: "order 10: then 1.2, now 1.3"})
	b.Verdict(2*day, &Verdict{Scope: "strategy grid", Seal: 1, Day: day, Broken: true, Document: []byte(`{}`)})
}

// The state file of the present format opens, is whole, and says what it said when it was written.
func TestTheStateFileOfThisFormatReadsAsBefore(t *testing.T) {
	path := filetest.Golden(t, *writeGolden, "bot-format1", func(path string) { filled(t, path) })
	s, err := Read(path)
	require.NoError(t, err)
	s.names = codec.NewNames(s.Catalog(), twoStrategies) // as Bind does it
	filetest.RequireText(t, *writeGolden, "bot-format1.txt", exported(t, s))
	require.NoError(t, s.Close())
	s, err = Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	require.NoError(t, s.Bind(twoMarkets(t), twoStrategies))
	filetest.RequireText(t, *writeGolden, "bot-format1.txt", exported(t, s))
	requireSound(t, s)

	b := s.NewBatch() // and the bot goes on with it
	live(t, s, b, 6)
	row, err := s.Order(6)
	require.NoError(t, err)
	require.Equal(t, state.Filled, row.State)
	requireSound(t, s)
}

// Version 2 of the records has the signals of a decision.
func TestRecordsOfVersion2ReadAsBefore(t *testing.T) {
	path := filetest.Golden(t, *writeGolden, "bot-records2", func(path string) {
		s, err := Open(path)
		require.NoError(t, err)
		require.NoError(t, s.Bind(twoMarkets(t), twoStrategies))
		b := s.NewBatch()
		stored(t, s, b)
		b.Journal(6000, &Signal{Source: "model", Body: []byte(`{"value":1}`), Came: 5990, Proof: "hmac",
			Market: "BTC-EUR", Heard: []string{"grid"}, Past: true})
		o := ownOrder(4)
		intent := intentOf(o)
		intent.Cause.Signals = []int64{1, 1 << 40}
		b.Journal(6001, intent)
		b.Order(o)
		b.Journal(6002, &Refusal{Strategy: "grid", Command: intent.Command, Reason: "collar", Cause: intent.Cause})
		require.NoError(t, s.Commit(b))
		require.NoError(t, s.Close())
	})
	s, err := Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	require.NoError(t, s.Bind(twoMarkets(t), twoStrategies))
	filetest.RequireText(t, *writeGolden, "bot-records2.txt", exported(t, s))
	requireSound(t, s)
}

// exported is what a store says.
func exported(t *testing.T, s *Store) []byte {
	var said bytes.Buffer
	for _, table := range ExportTables() {
		fmt.Fprintf(&said, "%s:\n", table)
		_, err := s.Export(&said, table)
		require.NoError(t, err, table)
	}
	blob, err := s.Blob("engine")
	require.NoError(t, err)
	cursor, err := s.Cursor("trades BTC-EUR")
	require.NoError(t, err)
	fmt.Fprintf(&said, "blob: %s\ncursor: %v\n", blob, cursor)
	return said.Bytes()
}
