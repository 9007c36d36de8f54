package runner

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/strategy"
)

// clumsyKind breaks down in the middle of its work.
var clumsyKind = scripted("clumsy", func() onTicker {
	var heard int
	return func(*strategy.Desk, market.Ticker) {
		if heard++; heard == 20 {
			panic("a strategy that breaks down")
		}
	}
})

func TestKeyAndSecretAreInNothingThatTheBotWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 2, func(c *sandbox.Config) {
			c.Faults = []fault.Fault{
				{Kind: fault.DropAnswer, Probability: 0.1, Key: bottest.BotKey}, {Kind: fault.HTML,
					Code: 502, Probability: 0.1, Key: bottest.BotKey},
				{Kind: fault.Error, Code: 101, Work: true, Probability: 0.1, Key: bottest.BotKey},
			}
		})
		s.config += "[strategies.clumsy]\nkind = \"clumsy\"\nmarkets = [\"BTC-EUR\"]\ninterval = \"1m\"\n" +
			"allocation = " +
			"\"100\"\noperator_id = 8\n"
		s.kinds = append(s.kinds, clumsyKind)
		p := s.start()
		time.Sleep(3 * time.Minute)
		failed := p.end()
		written := s.log.String() + fmt.Sprint(failed)
		require.Contains(t, written, "a strategy that breaks down")
		require.Contains(t, written, "the outcome of a command is unknown")
		require.NoError(t, s.Stored().Entries(0, func(e *journal.Entry) error {
			written += fmt.Sprintf("%+v", e.Record)
			return nil
		}))
		files := 0
		require.NoError(t, filepath.WalkDir(s.Folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			written += string(data)
			files++
			return err
		}))
		require.Positive(t, files)
		require.NotContains(t, written, bottest.BotKey)
		require.NotContains(t, written, bottest.BotSecret)
		written += fmt.Sprintf("%v %+v %#v", p.client, p.client, p.weights.Snapshot())
		require.NotContains(t, written, bottest.BotSecret)
	})
}
