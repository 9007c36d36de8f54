package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/state/recording"
)

// stateFlags are shared by the commands of the state file.
type stateFlags struct {
	path, config string
	json         bool
}

func stateCommand(a *app) *cobra.Command {
	f := &stateFlags{}
	c := &cobra.Command{
		Use:   "state",
		Short: "Check, copy, compact and export the state file of a stopped bot", Args: cobra.NoArgs,
		Example: "  bot state check -c configs/sandbox.toml\n  bot state backup --out copy.db",
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.PersistentFlags().StringVar(&f.path, "state", "",
		"state `FILE`, or the folder with bot.db in it; without it that of -c, or state")
	c.PersistentFlags().StringVarP(&f.config, "config", "c", "", "take the state folder from this config `FILE`")
	c.AddCommand(a.stateCheckCommand(f), a.stateBackupCommand(f), a.stateCompactCommand(f), a.stateExportCommand(f))
	return c
}

func (f *stateFlags) jsonFlag(c *cobra.Command) {
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
}

// file is the state file itself.
func (f *stateFlags) file() (string, error) {
	path := cmp.Or(f.path, config.DefaultRun().Bot.State)
	if f.path == "" && f.config != "" {
		c, err := readConfig(f.config, nil, config.LoadRun)
		if err != nil {
			return "", err
		}
		path = c.Bot.State
	}
	if info, err := os.Stat(path); f.path == "" || err == nil && info.IsDir() {
		return filepath.Join(path, statedir.StateFile), nil
	}
	return path, nil
}

// with opens the state file, calls use and closes it.
func (f *stateFlags) with(ctx context.Context, open func(ctx context.Context, path string) (*journal.Store, error),
	use func(*journal.Store) error) error {
	path, err := f.file()
	if err != nil {
		return err
	}
	store, err := open(ctx, path)
	if err != nil {
		return statedir.Error{Err: err}
	}
	if err := errors.Join(use(store), store.Close()); err != nil {
		return statedir.Error{Err: err}
	}
	return nil
}

func (a *app) stateCheckCommand(f *stateFlags) *cobra.Command {
	c := &cobra.Command{
		Use: "check", Short: "Read everything and say what does not fit", Args: cobra.NoArgs,
		Example: "  bot state check\n  bot state check --json",
		Long: "Reads the whole journal and holds every entry against the hash of the one before, every row against " +
			"its checksum, the indexes\n" +
			"against the tables, and the fills of each order that is done against its filledAmount.",
		RunE: a.enter(func(ctx context.Context, _ []string) error {
			return f.with(ctx, journal.ReadUntil, func(s *journal.Store) error { return a.checkState(f, s) })
		}),
	}
	f.jsonFlag(c)
	return c
}

// stateInfo is the report as a program reads it.
type stateInfo struct {
	Entries int64  `json:"entries"`
	Orders  int64  `json:"orders"`
	Open    int64  `json:"open"`
	Awaited int64  `json:"awaited"` // open orders whose fills do not add up to filledAmount yet
	Fills   int64  `json:"fills"`
	Runs    int64  `json:"runs"`
	Halts   int64  `json:"halts"`
	Cut     uint64 `json:"cut,omitempty"` // number of the last removed journal entry
	// Breaches are answers of the exchange that were not booked: the order, the rule, both values.
	Breaches  []string       `json:"breaches"`
	Recording *recordingInfo `json:"recording"` // null: there is none
	Problems  []string       `json:"problems"`
}

type recordingInfo struct {
	First    uint64 `json:"first"`
	Last     uint64 `json:"last"`
	FromMS   int64  `json:"from_ms"`
	ToMS     int64  `json:"to_ms"`
	Segments int    `json:"segments"`
	Bytes    int64  `json:"bytes"`
}

func (a *app) checkState(f *stateFlags, s *journal.Store) error {
	report, err := s.Check()
	if err != nil {
		return err
	}
	info := stateInfo{Entries: report.Entries, Orders: report.Orders, Open: report.Open, Awaited: report.Awaited,
		Fills: report.Fills, Runs: report.Runs,
		Halts: report.Halts, Cut: report.Cut, Breaches: []string{}, Problems: []string{}}
	for _, flaw := range report.Flaws {
		info.Problems = append(info.Problems, flaw.String())
	}
	info.addBreaches(s)
	x, err := recording.Describe(filepath.Join(filepath.Dir(s.Path()), statedir.RecordingFolder))
	if err != nil {
		return err
	}
	if x.First != 0 {
		info.Recording = &recordingInfo{x.First, x.Last, x.From.Millis(), x.To.Millis(), x.Segments, x.Bytes}
	}
	if f.json {
		err = console.PrintJSON(a.Stdout, &info)
	} else {
		err = printState(a.Stdout, &info, &x)
	}
	if n := len(info.Problems); n > 0 && err == nil {
		return fmt.Errorf("%s: %d problems: %w", s.Path(), n, bolt.ErrCorrupt)
	}
	return err
}

func printState(w io.Writer, info *stateInfo, x *recording.Extent) error {
	for _, lines := range [...][]string{info.Problems, info.Breaches} {
		for _, line := range lines {
			fmt.Fprintln(w, line)
		}
	}
	if x.First != 0 {
		fmt.Fprintf(w, "recording: events %d to %d, %s to %s\n", x.First, x.Last, x.From, x.To)
	}
	if info.Cut > 0 {
		fmt.Fprintf(w, "the journal begins behind entry %d: what was over before has been taken out\n", info.Cut)
	}
	if info.Awaited > 0 {
		fmt.Fprintf(w, "%d open orders wait for fills that the exchange has told of; the next start asks for them\n",
			info.Awaited)
	}
	_, err := fmt.Fprintf(w, "%d journal entries, %d orders (%d open), %d fills, %d runs, %d halts read; %d problems\n",
		info.Entries, info.Orders, info.Open, info.Fills, info.Runs, info.Halts, len(info.Problems))
	return err
}

func (a *app) stateBackupCommand(f *stateFlags) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use: "backup", Short: "Write a copy that is whole", Args: cobra.NoArgs,
		Example: "  bot state backup --out copy.db",
		Long:    "Writes a copy as of the last commit, also of a bot that runs: then that one writes it.",
		RunE: a.enter(func(ctx context.Context, _ []string) error {
			if out == "" {
				return config.Usagef("--out is needed, like --out copy.db")
			}
			if asked, err := f.backupByBot(ctx, out); asked {
				return a.written(f, out, err)
			}
			return f.with(ctx, journal.ReadUntil, func(s *journal.Store) error {
				if statedir.SameFile(out, s.Path()) {
					return config.Usagef("--out %s is the state file itself; name another", out)
				}
				return a.written(f, out, s.Backup(out))
			})
		}),
	}
	c.Flags().StringVar(&out, "out", "", "`FILE` to write (needed)")
	f.jsonFlag(c)
	return c
}

// backupByBot lets the running bot write the copy. asked is false if no bot runs.
func (f *stateFlags) backupByBot(ctx context.Context, out string) (asked bool, err error) {
	path, err := f.file()
	if err != nil || filepath.Base(path) != statedir.StateFile {
		return false, nil // opening the file returns the error
	}
	whole, err := filepath.Abs(out)
	if err != nil {
		return true, err
	}
	err = operator.Backup(ctx, filepath.Dir(path), whole, false)
	return !errors.Is(err, operator.ErrNoBot), err
}

// writtenInfo is a written file, as a program reads it.
type writtenInfo struct {
	File   string `json:"file"`
	Bytes  int64  `json:"bytes"`
	Before int64  `json:"bytes_before,omitempty"`
}

// written prints the written file, unless err is set.
func (a *app) written(f *stateFlags, path string, err error) error {
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if f.json {
		return console.PrintJSON(a.Stdout, writtenInfo{File: path, Bytes: info.Size()})
	}
	_, err = fmt.Fprintf(a.Stdout, "%s: %d bytes\n", path, info.Size())
	return err
}

func (a *app) stateExportCommand(f *stateFlags) *cobra.Command {
	var table, out string
	c := &cobra.Command{
		Use: "export", Short: "Write a table as JSON, a row a line", Args: cobra.NoArgs,
		Example: "  bot state export > journal.jsonl\n  bot state export --table fills --out fills.jsonl",
		RunE: a.enter(func(ctx context.Context, _ []string) error {
			if all := journal.ExportTables(); !slices.Contains(all, table) {
				return config.Usagef("--table: there is no %q; there are %s", table, strings.Join(all, ", "))
			}
			return f.with(ctx, journal.ReadUntil, func(s *journal.Store) error {
				return console.WriteTo(a.Stdout, out, func(w io.Writer) error {
					_, err := s.Export(w, table)
					return err
				})
			})
		}),
	}
	c.Flags().StringVar(&table, "table", "journal", "`TABLE`: "+strings.Join(journal.ExportTables(), ", "))
	c.Flags().StringVar(&out, "out", "", "`FILE` to write; without it the standard output")
	return c
}

// addBreaches adds the breaches of the last run. If they cannot be read, it adds a problem.
func (i *stateInfo) addBreaches(store *journal.Store) {
	breaches, err := statedir.ReadBreaches(store)
	if err != nil {
		i.Problems = append(i.Problems, err.Error())
	}
	for _, b := range breaches {
		i.Breaches = append(i.Breaches,
			fmt.Sprintf("%s: order %d: an answer of the exchange was not booked: %s: want %s, got %s",
				operator.ClockOf(b.At.Millis()), b.Order, b.Rule, b.Wanted, b.Seen))
	}
}
