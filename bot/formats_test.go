package bot

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/folder"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/renamed"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/boltfile"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/state/recording"
)

// firstFiles has what the program of commit 31b5e46 stored and answered in a real run: see the
// README there.
const firstFiles = "testdata/31b5e46"

// unpackFirst unpacks one of these files to a path and returns its bytes.
func unpackFirst(t *testing.T, name, path string) []byte {
	t.Helper()
	file, err := os.Open(filepath.Join(firstFiles, name+".gz"))
	require.NoError(t, err)
	defer file.Close()
	in, err := gzip.NewReader(file)
	require.NoError(t, err)
	data, err := io.ReadAll(in)
	require.NoError(t, err)
	if path != "" {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, data, 0o600))
	}
	return data
}

// unpackBot unpacks the state folder of the live or the paper bot.
func unpackBot(t *testing.T, mode string) (dir string) {
	dir = filepath.Join(t.TempDir(), "state")
	unpackFirst(t, mode+"-bot.db", filepath.Join(dir, folder.StateFile))
	unpackFirst(t, mode+".rec", filepath.Join(dir, folder.RecordingFolder, "0000000000000001.rec"))
	if mode == config.ModePaper {
		unpackFirst(t, "paper.db", filepath.Join(dir, "paper.db"))
	}
	return dir
}

func TestAStateFileOf31b5e46IsWholeAndIsWrittenOn(t *testing.T) {
	for _, mode := range []string{config.ModeLive, config.ModePaper} {
		path := filepath.Join(unpackBot(t, mode), folder.StateFile)
		for range 2 { // as it was, then as this program left it
			store, err := journal.Open(path)
			require.NoError(t, err)
			require.NoError(t, store.Bind(store.Catalog(), []string{"breaketh", "breakout", "dca", "grid"}))
			report, err := store.Check()
			require.NoError(t, err)
			require.Empty(t, report.Flaws)
			open, err := store.OpenOrders()
			require.NoError(t, err)
			stop := slices.IndexFunc(open, func(o journal.OrderRow) bool { return o.Type == market.TypeStopLoss })
			require.Equal(t, "breakout", open[stop].StrategyName, "beside it the paper bot had six orders of its grid")
			story, err := operator.StoryOf(store, "19")
			require.NoError(t, err)
			require.Equal(t, "filled", story.Order.State)
			require.NotEmpty(t, story.Fills)
			halts, err := store.Halts()
			require.NoError(t, err)
			if mode == config.ModeLive {
				require.Len(t, halts, 1)
				require.Equal(t, "halted by the operator", halts[0].Reason)
			}
			parts, resumed, err := folder.Parts(store)
			require.NoError(t, err)
			require.True(t, resumed)
			require.NotEmpty(t, parts["account"])
			b := store.NewBatch()
			b.Cursor(1, "candles BTC-EUR 1m", []byte{1})
			require.NoError(t, store.Commit(b))
			require.NoError(t, store.Close())
		}
	}
}

func TestARecordingOf31b5e46IsReadAndGoesOn(t *testing.T) {
	for _, mode := range []string{config.ModeLive, config.ModePaper} {
		dir := unpackBot(t, mode)
		store, err := journal.Read(filepath.Join(dir, folder.StateFile))
		require.NoError(t, err)
		reader, err := recording.Read(filepath.Join(dir, folder.RecordingFolder), store.Catalog(), nil, 0)
		require.NoError(t, err)
		kinds := map[market.EventKind]int{}
		for {
			_, record, err := reader.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			kinds[record.Input.Event.Kind]++
		}
		reader.Close()
		require.Positive(t, kinds[market.KindCandles])
		recording, err := recording.Open(filepath.Join(dir, folder.RecordingFolder),
			recording.Options{Catalog: store.Catalog()})
		require.NoError(t, err)
		require.Greater(t, recording.Next(), uint64(1))
		require.NoError(t, recording.Close())
		require.NoError(t, store.Close())
	}
}

func TestARecordingOfALaterFormatIsRefusedAndStaysAsItIs(t *testing.T) {
	folder := filepath.Join(unpackBot(t, config.ModeLive), folder.RecordingFolder)
	path := filepath.Join(folder, "0000000000000001.rec")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	data[3] = '5'
	require.NoError(t, os.WriteFile(path, data, 0o600))
	_, err = recording.Open(folder, recording.Options{Catalog: &market.Catalog{}})
	require.ErrorIs(t, err, boltfile.ErrNewer)
	require.ErrorContains(t, err, "update the program")
	_, err = recording.Read(folder, &market.Catalog{}, nil, 0)
	require.ErrorIs(t, err, boltfile.ErrNewer)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, data, after)
}

// Each field that a program could read in 31b5e46 is there still, with a value of its kind.
func TestTheAnswersOf31b5e46AreUnderstood(t *testing.T) {
	status, refused, halted := &operator.Status{}, &operator.Refused{}, &operator.Report{}
	orders, all, held, story := &operator.Orders{}, &operator.Orders{}, &operator.Positions{}, &operator.Story{}
	for name, into := range map[string]any{"status": status, "orders": orders, "orders-all": all, "positions": held,
		"explain": story, "refused": refused, "halt": halted} {
		document := map[string]string{"orders-all": "orders", "refused": "explain"}[name]
		text, err := renamed.Today(cmp.Or(document, name), unpackFirst(t, name+".json", ""))
		require.NoError(t, err)
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		require.NoError(t, decoder.Decode(into), name)
	}
	require.Zero(t, status.Protocol, "it did not name one")
	require.Equal(t, "6498.02", status.Equity)
	require.Len(t, status.Strategies, 4)
	require.Equal(t, "95128", orders.Orders[0].Trigger)
	require.Len(t, all.Orders, 20)
	require.Equal(t, "601.49", held.Positions[0].Cost)
	require.NotEmpty(t, story.Steps)
	require.Equal(t, "warm_up", refused.Strategies[2].Refused[0].Reason)
	require.Equal(t, 6, halted.Cancelled)
	require.NoError(t, story.Write(io.Discard))
	require.NoError(t, printRefused(io.Discard, refused))
}

// No command reads a result.json: who does are programs of others, and to them each field of the
// first schema is still there. What a field means now, where that is something else, the CHANGELOG
// says by the number of the schema.
func TestAResultOf31b5e46HasTheFieldsOfItsSchema(t *testing.T) {
	var then, now map[string]any
	require.NoError(t, json.Unmarshal(unpackFirst(t, "result.json", ""), &then))
	require.Equal(t, 1.0, then["schema"])
	text, err := json.Marshal(&backtest.Result{Schema: backtest.Schema})
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &now))
	require.Empty(t, fieldsWithout(then, now, ""))
	require.Contains(t, fieldsWithout(now, then, ""), ".performance.rounding", "of schema 2: fees had it before")
	history, err := os.ReadFile("../CHANGELOG.md")
	require.NoError(t, err)
	for schema := 2; schema <= backtest.Schema; schema++ {
		require.Contains(t, string(history), fmt.Sprintf("result.json: schema %d. ", schema))
	}
	require.EqualValues(t, backtest.Schema, now["schema"])
}

// fieldsWithout are the fields of an object, and of the objects in it, that another lacks. What is
// no object in the other is not looked into.
func fieldsWithout(object, other map[string]any, path string) (lacking []string) {
	for name, value := range object {
		found, ok := other[name]
		if !ok {
			lacking = append(lacking, path+"."+name)
			continue
		}
		inner, isObject := value.(map[string]any)
		if there, isToo := found.(map[string]any); isObject && isToo {
			lacking = append(lacking, fieldsWithout(inner, there, path+"."+name)...)
		}
	}
	return lacking
}

// UnpackBot is unpackBot for the tests outside the package.
func UnpackBot(t *testing.T, mode string) string { return unpackBot(t, mode) }
