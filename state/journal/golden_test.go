package journal

import (
	"bytes"
	"flag"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/golden"
)

// writeGolden is set after a change of the format: go test ./state/journal -run
// TheStateFileOfTheFirst -golden
var writeGolden = flag.Bool("golden", false,
	"write the missing files of testdata and their texts anew; read the difference before you keep it")

// everyKind writes something of everything that a state file keeps.
func everyKind(t *testing.T, path string) {
	s, err := Open(path)
	require.NoError(t, err)
	require.NoError(t, s.Bind(twoMarkets(t), twoStrategies))
	b := s.NewBatch()
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
	require.NoError(t, s.Close())
}

// A state file that the first version wrote opens, is whole, and says what it said then.
func TestTheStateFileOfTheFirstFormatReadsAsBefore(t *testing.T) {
	path := golden.File(t, *writeGolden, "bot-format1", func(path string) { everyKind(t, path) })
	s, err := Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	require.NoError(t, s.Bind(twoMarkets(t), twoStrategies))
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
	golden.Require(t, *writeGolden, "bot-format1.txt", said.Bytes())
	report, err := s.Check()
	require.NoError(t, err)
	require.Empty(t, report.Flaws)

	b := s.NewBatch() // and the bot goes on with it
	live(t, s, b, 4)
	row, err := s.Order(4)
	require.NoError(t, err)
	require.Equal(t, state.Filled, row.State)
}
