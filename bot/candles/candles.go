// Package candles is the commands of the candle store: import, fetch, list, verify, export and
// resample. It never decides how candles are stored: package state/candles does. Start at Command.
package candles

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// storeFlags are shared by the commands of the candle store.
type storeFlags struct {
	db, config, market string
	interval           string
	json               bool
}

// commands are the commands of the candle store, with what they have of the program.
type commands struct {
	Streams
	enter Enter
}

// Streams are the input and the outputs of the commands.
type Streams struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(name string) string // for key and secret of the account whose fees are recorded
}

// Enter wraps the function of a command: it notes that the command's arguments were right.
type Enter func(run func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error

// Command returns `bot candles` with its commands.
func Command(s Streams, enter Enter) *cobra.Command {
	a, f := &commands{s, enter}, &storeFlags{}
	c := &cobra.Command{
		Use: "candles", Short: "Import, fetch, list, verify, export and resample stored candles", Args: cobra.NoArgs,
		Example: "  bot candles import --market BTC-EUR --interval 1h FILE.csv\n  bot candles list",
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.PersistentFlags().StringVar(&f.db, "db", "", "candle store `FILE`; without it that of -c, or candles.db")
	c.PersistentFlags().StringVarP(&f.config, "config", "c", "",
		"take the store from [data] of this config `FILE` of bot backtest")
	c.AddCommand(a.importCommand(f), a.fetchCommand(f), a.listCommand(f), a.verifyCommand(f), a.exportCommand(f),
		a.resampleCommand(f))
	return c
}

// seriesFlags adds the flags that name a series.
func (f *storeFlags) seriesFlags(c *cobra.Command) {
	c.Flags().StringVar(&f.market, "market", "", "market, like BTC-EUR (needed)")
	c.Flags().StringVar(&f.interval, "interval", "", "interval: 1m 5m 15m 30m 1h 2h 4h 6h 8h 12h 1d 1W 1M (needed)")
}

func (f *storeFlags) jsonFlag(c *cobra.Command) {
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
}

// series checks those flags.
func (f *storeFlags) series() (string, market.Interval, error) {
	if f.market == "" || f.interval == "" {
		return "", 0, config.Usagef("--market and --interval are needed, like --market BTC-EUR --interval 1h")
	}
	f.market = market.UsualName(f.market)
	if err := candles.CheckMarketName(f.market); err != nil {
		return "", 0, config.Usagef("--market: %w", err)
	}
	interval, err := market.ParseInterval(f.interval)
	if err != nil {
		return "", 0, config.Usagef("--interval: %w", err)
	}
	return f.market, interval, nil
}

// path is the store's file. A config of `bot run` names none.
func (f *storeFlags) path() (string, error) {
	if f.db != "" {
		return f.db, nil
	}
	source, ofRun, err := f.source()
	if err != nil || source == nil || ofRun {
		return config.DefaultStore, err
	}
	c, err := config.LoadBacktest(source)
	if err != nil {
		return "", err
	}
	return c.Data.Candles, nil
}

// source reads the config, nil where none is named. ofRun says that it is one of `bot run`: it has
// a table of the exchange.
func (f *storeFlags) source() (source *config.Source, ofRun bool, err error) {
	if f.config == "" {
		return nil, false, nil
	}
	if source, err = config.ReadSource(f.config, nil); err != nil {
		return nil, false, err
	}
	ofRun, err = source.HasTable("bot", "exchange")
	return source, ofRun, err
}

// read opens the store for reading.
func (f *storeFlags) read() (*candles.Store, error) { return f.with(candles.Read) }

// write opens the store for writing.
func (f *storeFlags) write() (*candles.Store, error) { return f.with(candles.Open) }

func (f *storeFlags) with(open func(path string) (*candles.Store, error)) (*candles.Store, error) {
	path, err := f.path()
	if err != nil {
		return nil, err
	}
	return open(path)
}

func (a *commands) listCommand(f *storeFlags) *cobra.Command {
	c := &cobra.Command{
		Use: "list", Short: "Show what is stored: ranges, candles, gaps", Args: cobra.NoArgs,
		Example: "  bot candles list\n  bot candles list --json",
		RunE:    a.enter(func(context.Context, []string) error { return a.listCandles(f) }),
	}
	f.jsonFlag(c)
	return c
}

func (a *commands) listCandles(f *storeFlags) error {
	store, err := f.read()
	if err != nil {
		return err
	}
	defer store.Close()
	list, err := store.List()
	if err != nil {
		return err
	}
	listings, err := store.ListingRange()
	if err != nil {
		return err
	}
	if f.json {
		return console.PrintJSON(a.Stdout, seriesInfos(list))
	}
	if err := printSeries(a.Stdout, list); err != nil || listings.Days == 0 {
		return err
	}
	_, err = fmt.Fprintf(a.Stdout,
		"records of markets: %d, from %s to %s; %d markets in the last one, %d bytes/record\n",
		listings.Days, day(listings.First), day(listings.Last), listings.Markets, listings.Bytes/listings.Days)
	return err
}

// day writes the UTC day of a time.
func day(t market.Time) string { return t.Std().Format(time.DateOnly) }

// seriesInfo is a stored series as a program reads it.
type seriesInfo struct {
	Market       string  `json:"market"`
	Interval     string  `json:"interval"`
	FromMS       int64   `json:"from_ms"`
	ToMS         int64   `json:"to_ms"`
	Candles      int64   `json:"candles"`
	NoTrade      int64   `json:"no_trade"`
	Missing      int64   `json:"missing"`
	PriceDigits  uint8   `json:"price_digits"`
	VolumeDigits uint8   `json:"volume_digits"`
	Chunks       int64   `json:"chunks"`
	Bytes        int64   `json:"bytes"`
	PerCandle    float64 `json:"bytes_per_candle"`
}

func seriesInfos(list []candles.Series) []seriesInfo {
	infos := make([]seriesInfo, 0, len(list))
	for i := range list {
		s := &list[i]
		infos = append(infos, seriesInfo{Market: s.Market, Interval: s.Interval.String(), FromMS: s.First.Millis(),
			ToMS: s.End().Millis(), Candles: s.Candles,
			NoTrade: s.NoTrade, Missing: s.Unknown, PriceDigits: s.PriceDigits, VolumeDigits: s.VolumeDigits,
			Chunks: s.Chunks, Bytes: s.Bytes, PerCandle: perCandle(s)})
	}
	return infos
}

func perCandle(s *candles.Series) float64 { return float64(s.Bytes) / float64(max(s.Candles, 1)) }

func printSeries(w io.Writer, list []candles.Series) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "market\tinterval\tfrom\tto\tcandles\tno trade\tmissing\tbytes/candle")
	for i := range list {
		s := &list[i]
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%d\t%d\t%.2f\n", s.Market, s.Interval, s.First, s.End(), s.Candles,
			s.NoTrade, s.Unknown, perCandle(s))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return warnMissing(w, list)
}

// warnMissing warns of series with many missing candles.
func warnMissing(w io.Writer, list []candles.Series) error {
	for i := range list {
		s := &list[i]
		if text := candles.ManyMissing(s.Candles, s.Unknown); text != "" {
			if _, err := fmt.Fprintf(w, "WARNING: %s %s: %s\n", s.Market, s.Interval, text); err != nil {
				return err
			}
		}
	}
	return nil
}
