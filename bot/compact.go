package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/state/recording"
)

const compactHelp = `Writes the file again without unused space.

--keep 90d also removes records that ended more than 90 days before the file's last entry: orders, their fills, their
stories, and the journal's entries. It keeps orders that are open, that wait for a fee, or that belong to an open
position, whatever their age. It keeps positions, halts, runs and equity curves. The journal's chain of hashes goes on
after the last removed entry, and bot state check still proves it. Segments of the recording beside the file that are
older go with them, and with them their snapshots; no archive has them.

--archive FILE first writes a copy of everything. bot explain, bot orders and bot state read the copy with --state
FILE. bot state export writes single tables.

The new file replaces the old one whole or not at all.`

// compactFlags are those of bot state compact.
type compactFlags struct {
	*stateFlags
	keep, archive string
}

func (a *app) stateCompactCommand(shared *stateFlags) *cobra.Command {
	f := &compactFlags{stateFlags: shared}
	c := &cobra.Command{
		Use: "compact", Short: "Make the file smaller: no unused space, no old records", Args: cobra.NoArgs,
		Long:    compactHelp,
		Example: "  bot state compact\n  bot state compact --keep 90d --archive until-november.db",
		RunE:    a.enter(func(ctx context.Context, _ []string) error { return a.compactState(ctx, f) }),
	}
	c.Flags().StringVar(&f.keep, "keep", "", "take out what was over longer `AGO` than this, like 90d or 36h")
	c.Flags().StringVar(&f.archive, "archive", "", "with --keep: write a copy of everything to this `FILE` first")
	f.jsonFlag(c)
	return c
}

// compactInfo is the result of a compaction, as a program reads it.
type compactInfo struct {
	writtenInfo
	Archive  string `json:"archive,omitempty"`
	BeforeMS int64  `json:"before_ms,omitempty"` // what was over before this was taken out
	Orders   int64  `json:"orders_taken_out"`
	Fills    int64  `json:"fills_taken_out"`
	Entries  int64  `json:"entries_taken_out"`
	Recorded int64  `json:"recording_bytes_taken_out"`
}

func (a *app) compactState(ctx context.Context, f *compactFlags) error {
	keep, err := f.age()
	if err != nil {
		return err
	}
	return f.with(ctx, openStored, func(s *journal.Store) error {
		info := compactInfo{writtenInfo: writtenInfo{File: s.Path()}, Archive: f.archive}
		if info.Before, err = sizeOf(s.Path()); err != nil {
			return err
		}
		if keep > 0 {
			err = pruneState(s, keep, &info)
		} else {
			err = s.Compact(s.Path())
		}
		if err != nil {
			return err
		}
		if info.Bytes, err = sizeOf(s.Path()); err != nil {
			return err
		}
		if f.json {
			return console.PrintJSON(a.Stdout, &info)
		}
		_, err = fmt.Fprint(a.Stdout, info.text())
		return err
	})
}

// openStored opens a state file that is there.
func openStored(ctx context.Context, path string) (*journal.Store, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) { // opening it for writing would make one
		return nil, fmt.Errorf("%s: %w; a bot makes it at its first start", path, bolt.ErrNotFound)
	}
	return journal.OpenUntil(ctx, path)
}

func sizeOf(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// age reads --keep; 0: it was not given.
func (f *compactFlags) age() (keep time.Duration, err error) {
	switch {
	case f.keep == "" && f.archive != "":
		return 0, config.Usagef("--archive goes with --keep; a copy of everything is bot state backup --out FILE")
	case f.keep == "":
		return 0, nil
	}
	if keep, err = parseAgo(f.keep); err != nil {
		return 0, config.Usagef("--keep %w", err)
	}
	return keep, nil
}

// maxAgo reaches further back than any state file.
const maxAgo = 36500 * 24 * time.Hour

// parseAgo reads days like 90d, or a duration like 36h.
func parseAgo(text string) (ago time.Duration, err error) {
	days, inDays := strings.CutSuffix(text, "d")
	if inDays {
		var n int64
		n, err = strconv.ParseInt(days, 10, 32)
		ago = time.Duration(n) * 24 * time.Hour
	} else {
		ago, err = time.ParseDuration(text)
	}
	if err != nil || ago <= 0 || ago > maxAgo {
		return 0, fmt.Errorf("%q: want days like 90d, or a duration like 36h", text)
	}
	return ago, nil
}

// pruneState archives and prunes. keep counts back from the last entry: an old file loses nothing
// by its age.
func pruneState(s *journal.Store, keep time.Duration, info *compactInfo) error {
	last, err := s.LastEntries(1)
	if err != nil {
		return err
	}
	if info.Archive != "" {
		if _, err := os.Stat(info.Archive); !errors.Is(err, fs.ErrNotExist) {
			return cmp.Or(err, error(config.Usagef("--archive %s is there already; name a new file", info.Archive)))
		}
		if err := s.Backup(info.Archive); err != nil {
			return err
		}
	}
	var before market.Time // the beginning of time: nothing is older
	if len(last) > 0 {
		before = last[0].At.Add(-market.Duration(keep))
		info.BeforeMS = before.Millis()
	}
	removed, err := s.Prune(s.Path(), before)
	info.Orders, info.Fills, info.Entries = removed.Orders, removed.Fills, removed.Entries
	if err == nil && filepath.Base(s.Path()) == statedir.StateFile {
		info.Recorded, err = recording.Thin(filepath.Join(filepath.Dir(s.Path()), statedir.RecordingFolder), before)
	}
	return err
}

func (c *compactInfo) text() string {
	text := fmt.Sprintf("%s: %d bytes, before %d\n", c.File, c.Bytes, c.Before)
	if c.BeforeMS != 0 {
		text += fmt.Sprintf("taken out, over since before %s: %d orders, %d fills, %d journal entries\n",
			operator.ClockOf(c.BeforeMS), c.Orders, c.Fills, c.Entries)
	}
	if c.Recorded > 0 {
		text += fmt.Sprintf("taken out of the recording: %d bytes\n", c.Recorded)
	}
	if c.Archive != "" {
		text += "everything as it was: " + c.Archive + "\n"
	}
	return text
}
