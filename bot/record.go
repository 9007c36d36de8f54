package bot

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/record"
	"github.com/tidemark-trading/tidemark/bot/rerun/reader"
	"github.com/tidemark-trading/tidemark/bot/version"
	"github.com/tidemark-trading/tidemark/market"
)

const recordHelp = `Record the market data of an exchange without trading, until Ctrl-C: tickers, order books to a
depth, trades, candles, rules of the markets. It needs no key and sends no order. The same folder again goes on with the
recording.

A kill loses at most the last seconds (record.flush). The recording is bounded by record.limit_mb, and ends where the
disk has less room than record.keep_free_mb. ` + "`bot backtest`" + ` runs on it with data.recording, and
` + "`bot recording`" + ` lists and exports it. docs/rerun.md`

// recordFlags are the flags of the command.
type recordFlags struct {
	runFlags
	span time.Duration
	json bool
}

func recordCommand(a *app) *cobra.Command {
	f := &recordFlags{}
	c := &cobra.Command{
		Use: "record", Args: onlyFlags,
		Short: "Record market data without trading", Long: recordHelp,
		Example: "  bot exchange                                  # in one terminal\n" +
			"  bot record -c configs/record.toml             # in another\n" +
			"  bot record -c configs/record.toml --for 1h --json",
		RunE: a.enter(func(ctx context.Context, _ []string) error { return a.record(ctx, f) }),
	}
	f.register(c, "config `FILE`")
	c.Flags().DurationVar(&f.span, "for", 0, "end after so long, like 24h; without it Ctrl-C ends")
	c.Flags().BoolVar(&f.json, "json", false, "print at the end, as JSON, how much was recorded")
	return c
}

// record runs the command.
func (a *app) record(ctx context.Context, f *recordFlags) error {
	if f.config == "" {
		return config.Usagef("want a config: -c configs/record.toml")
	}
	if f.span < 0 {
		return config.Usagef("--for %s: want a time like 24h", f.span)
	}
	c, err := readConfig(f.config, f.sets, config.LoadRecord)
	if err != nil {
		return err
	}
	report, err := record.Run(ctx, c, console.Logger(a.Stderr, c.Record.Log, a.Getenv),
		record.Options{Program: version.Of(debug.ReadBuildInfo()), For: f.span})
	if report == nil {
		return err
	}
	if f.json {
		if failed := console.PrintJSON(a.Stdout, report); err == nil {
			err = failed
		}
		return err
	}
	fmt.Fprintf(a.Stdout, "%s events recorded in %s: %s tickers, %s books, %s trades, %s candles; %.1f MB on disk\n",
		thousands(report.Events()), report.Folder, thousands(report.Tickers), thousands(report.Books),
		thousands(report.Trades), thousands(report.Candles), float64(report.Bytes)/1e6)
	return err
}

// recordingFlags are the flags of the commands of a recording.
type recordingFlags struct {
	folder, from, to, csv, out string
	markets, kinds             []string
	json                       bool
}

func recordingCommand(a *app) *cobra.Command {
	f := &recordingFlags{}
	c := &cobra.Command{
		Use: "recording", Args: cobra.NoArgs,
		Short: "List and export the recording of a bot or of bot record",
		Example: "  bot recording list --folder recordings/btc\n" +
			"  bot recording export --folder bots/sandbox --kind trade --csv trades",
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	list := &cobra.Command{
		Use: "list", Short: "Show what a recording has: times, markets, holes", Args: onlyFlags,
		Long: "Read a recording once, and show its times, its starts, its events by market, and its holes. The bot " +
			"or bot record that writes it may run.",
		Example: "  bot recording list --folder recordings/btc\n  bot recording list --folder bots/sandbox --json",
		RunE:    a.enter(func(ctx context.Context, _ []string) error { return a.listRecording(ctx, f) }),
	}
	list.Flags().BoolVar(&f.json, "json", false, "print JSON")
	export := &cobra.Command{
		Use: "export", Short: "Write a recording as JSON lines or CSV", Args: onlyFlags,
		Long: "Write a recording as JSON lines, or with --csv as tables: tickers.csv, books.csv with a row for each " +
			"level, trades.csv, candles.csv, statuses.csv, others.csv, and signals-NAME.csv for bot backtest. " +
			"Prices and amounts are exact decimals. Holes are named on standard error.",
		Example: "  bot recording export --folder recordings/btc --from 2026-11-23 > day.jsonl\n" +
			"  bot recording export --folder recordings/btc --kind ticker,trade --csv tables\n" +
			"  bot recording export --folder bots/sandbox --kind signal --csv tables",
		RunE: a.enter(func(ctx context.Context, _ []string) error { return a.exportRecording(ctx, f) }),
	}
	flags := export.Flags()
	flags.StringVar(&f.out, "out", "", "`FILE` of JSON lines; without it the standard output")
	flags.StringVar(&f.csv, "csv", "", "write tables into this `DIR`")
	flags.StringSliceVar(&f.kinds, "kind", nil, "only these `KINDS`: "+strings.Join(reader.Kinds, ", "))
	flags.StringSliceVar(&f.markets, "market", nil, "only these `MARKETS`")
	for _, one := range [...]*cobra.Command{list, export} {
		one.Flags().StringVar(&f.folder, "folder", "", "`FOLDER` of bot record, or the state folder of a bot")
		one.Flags().StringVar(&f.from, "from", "", "begin at this time: 2026-11-23, RFC 3339 or Unix ms")
		one.Flags().StringVar(&f.to, "to", "", "end, exclusive")
	}
	c.AddCommand(list, export)
	return c
}

// span reads the range and the folder of the flags.
func (f *recordingFlags) span() (of reader.Range, err error) {
	if f.folder == "" {
		return of, config.Usagef("want the folder of a recording: --folder recordings/btc")
	}
	of.From, of.To, err = config.ParseRange(f.from, f.to)
	return of, err
}

// listRecording runs the command.
func (a *app) listRecording(ctx context.Context, f *recordingFlags) error {
	of, err := f.span()
	if err != nil {
		return err
	}
	s, err := reader.Summarise(ctx, f.folder, of)
	if err != nil {
		return err
	}
	if f.json {
		return console.PrintJSON(a.Stdout, s)
	}
	return printRecording(a.Stdout, s)
}

func printRecording(w io.Writer, s *reader.Summary) error {
	fmt.Fprintf(w, "%s: %s records of %d starts, %s to %s, %.1f MB; recorded by %s\n", s.Folder,
		thousands(s.Records), s.Starts, s.From, s.To, float64(s.Bytes)/1e6, strings.Join(s.Programs, ", "))
	names := make([]string, 0, len(s.Markets))
	for name := range s.Markets {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		n := s.Markets[name]
		fmt.Fprintf(w, "%-12s %12s tickers  %10s books  %10s trades", name, thousands(n.Tickers),
			thousands(n.Books), thousands(n.Trades))
		for i := market.Interval1m; i <= market.Interval1M; i++ {
			if count := n.Candles[i.String()]; count > 0 {
				fmt.Fprintf(w, "  %s candles of %s", thousands(count), i)
			}
		}
		fmt.Fprintln(w)
	}
	if len(s.Holes) == 0 {
		_, err := fmt.Fprintln(w, "no holes")
		return err
	}
	return printHoles(w, s.Holes)
}

// mostHoles is how many holes are shown.
const mostHoles = 20

func printHoles(w io.Writer, holes []reader.Hole) (err error) {
	for i := range holes[:min(len(holes), mostHoles)] {
		_, err = fmt.Fprintln(w, holes[i].String())
	}
	if more := len(holes) - mostHoles; more > 0 {
		_, err = fmt.Fprintf(w, "and %d more holes\n", more)
	}
	return err
}

// exportRecording runs the command.
func (a *app) exportRecording(ctx context.Context, f *recordingFlags) error {
	of, err := f.span()
	if err != nil {
		return err
	}
	for _, kind := range f.kinds {
		if !slices.Contains(reader.Kinds, kind) {
			return config.Usagef("--kind %s: want one of %s", config.Clip(kind), strings.Join(reader.Kinds, ", "))
		}
	}
	if f.csv != "" && f.out != "" {
		return config.Usagef("--out is for JSON lines, --csv for tables; want one of the two")
	}
	choice := reader.Choice{Range: of, Markets: f.markets, Kinds: f.kinds}
	var x reader.Exported
	var files []string
	if f.csv != "" {
		x, files, err = reader.CSV(ctx, f.csv, f.folder, choice)
	} else {
		err = console.WriteTo(a.Stdout, f.out, func(w io.Writer) (err error) {
			x, err = reader.JSONLines(ctx, w, f.folder, choice)
			return err
		})
	}
	if err != nil {
		return err
	}
	if len(files) > 0 {
		fmt.Fprintf(a.Stdout, "%s records in %s\n", thousands(x.Records), strings.Join(files, ", "))
	}
	return printHoles(a.Stderr, x.Holes)
}
