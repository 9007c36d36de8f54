package candles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

const importHelp = `Read candles from CSV into the store: a file, a zip with one or more, a folder, or the
standard input with "-". Files may be packed with gzip. The import stores everything or nothing.

A header names the columns: time, open, high, low, close, volume, in any order. "Volume BTC" is the volume of BTC-EUR; a
first column without a name is the time; lines above the header are skipped. Without a header the columns have that
order, or that of --columns. The separator is comma, semicolon, tab or |. Times are Unix s, ms, µs or ns, RFC 3339, or
like 2021-12-31 23:00, the year first; --time-format reads others, in the codes of strftime:

  --time-format "%d/%m/%Y %H:%M"

Repeated rows are dropped, rows with null for the prices too, and unordered rows are sorted. A row that is no candle
refuses everything, unless --skip-bad. So does a file whose rows are not --interval apart.`

// importFlags are the flags of the command beside those of all.
type importFlags struct {
	*storeFlags
	complete, skipBad, replace   bool
	ownClock                     bool
	priceDigits, volumeDigits    uint8
	roundPrices                  bool
	roundVolumes, noVolume       bool
	columns                      []string
	timeFormat, decimal, pattern string
	rename                       string
}

func (a *commands) importCommand(store *storeFlags) *cobra.Command {
	f := &importFlags{storeFlags: store}
	c := &cobra.Command{
		Use: "import FILE|FOLDER|-", Short: "Read candles from CSV", Long: importHelp, Args: cobra.ExactArgs(1),
		Example: "  bot candles import --market BTC-EUR --interval 1h FILE.csv\n" +
			"  bot candles import --market BTC-EUR --interval 1m FILE.zip\n" +
			"  bot candles import --market BTC-EUR --interval 1m --pattern 'BTC*.csv.gz' DIR\n" +
			"  bot candles import --market BTC-EUR --interval 1h \\\n" +
			"    --columns time,low,high,open,close,volume FILE.csv",
	}
	c.RunE = a.enter(func(ctx context.Context, args []string) error {
		f.roundVolumes, f.roundPrices = c.Flags().Changed("volume-digits"), c.Flags().Changed("price-digits")
		return a.importCandles(ctx, f, args[0])
	})
	f.seriesFlags(c)
	f.jsonFlag(c)
	c.Flags().BoolVar(&f.complete, "complete", false,
		"the file is complete: where a candle is missing, nothing was traded")
	c.Flags().BoolVar(&f.skipBad, "skip-bad", false, "leave bad rows out and count them")
	c.Flags().BoolVar(&f.ownClock, "own-clock", false,
		"read times by the clock of their own zone, and count each candle from the start of its interval")
	c.Flags().BoolVar(&f.replace, "replace", false, "overwrite stored candles that have other values")
	c.Flags().Uint8Var(&f.priceDigits, "price-digits", 0,
		"round prices to so many decimals, and give them at least so many")
	c.Flags().Uint8Var(&f.volumeDigits, "volume-digits", 0,
		"round volumes to so many decimals; without it they are rounded only where they would not fit")
	c.Flags().BoolVar(&f.noVolume, "no-volume", false, "the file has no volumes, or wrong ones: store 0")
	c.Flags().StringSliceVar(&f.columns, "columns", nil,
		"`NAMES` of the columns in their order: time, clock (the time of day beside a date), open, high, low, close, "+
			"volume, and - for one to ignore")
	c.Flags().StringVar(&f.timeFormat, "time-format", "",
		"`FORMAT` of the times, like %d/%m/%Y %H:%M, or the unit of Unix times: s, ms, us, ns")
	c.Flags().StringVar(&f.decimal, "decimal", "", "the decimal `SIGN`, comma or point, where the file does not tell")
	c.Flags().StringVar(&f.rename, "rename", "",
		"`FILE` of markets that were renamed or swapped: lines like LEND-EUR,AAVE-EUR,2020-10-03,100:1")
	c.Flags().StringVar(&f.pattern, "pattern", "", "of a folder or zip, read the files with names like `PATTERN`")
	return c
}

func (a *commands) importCandles(ctx context.Context, f *importFlags, file string) error {
	name, interval, err := f.series()
	if err != nil {
		return err
	}
	if max(f.priceDigits, f.volumeDigits) > market.MaxDigits {
		return config.Usagef("--price-digits %d, --volume-digits %d: at most %d", f.priceDigits, f.volumeDigits,
			market.MaxDigits)
	}
	files, err := a.input(ctx, file, f.pattern)
	if err != nil {
		return err
	}
	o := candles.ImportOptions{Complete: f.complete, SkipBad: f.skipBad,
		WriteOptions: candles.WriteOptions{Market: name, Interval: interval, Replace: f.replace,
			PriceDigits: f.priceDigits, VolumeDigits: f.volumeDigits},
		Columns: f.columns, TimeFormat: f.timeFormat, Decimal: f.decimal, NoVolume: f.noVolume,
		RoundVolumes: f.roundVolumes, RoundPrices: f.roundPrices, Now: now(), OwnClock: f.ownClock}
	if err := f.follow(&o); err != nil {
		return err
	}
	store, err := f.write()
	if err != nil {
		return err
	}
	bar := console.NewCount(ctx, a.Stderr, "MB read")
	o.Progress = func(bytes int64) { bar.Reach(bytes >> 20) }
	report, err := store.ImportFiles(files, o)
	bar.End()
	if err = errors.Join(err, store.Close()); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if f.json {
		return console.PrintJSON(a.Stdout, importInfoOf(&report))
	}
	_, err = io.WriteString(a.Stdout, importText(o.Market, interval, &report))
	return err
}

// follow turns to the present market if that of the options was renamed.
func (f *importFlags) follow(o *candles.ImportOptions) error {
	if f.rename == "" {
		return nil
	}
	line, err := readRename(f.rename, o.Market)
	if err == nil && line != nil {
		o.Market, o.Swap = line.present, &line.swap
	}
	return err
}

// now is the time of the machine, which no candle begins after.
func now() market.Time {
	now, err := market.TimeOf(time.Now())
	if err != nil {
		return 0 // a clock before 1700 or after 2262 tells nothing
	}
	return now
}

// input lists the files to read, "-" being the standard input. Reading them ends with ctx.
func (a *commands) input(ctx context.Context, path, pattern string) ([]candles.File, error) {
	if path == "-" {
		return []candles.File{candles.Stream(&ctxReader{ctx, io.NopCloser(a.Stdin)})}, nil
	}
	files, err := candles.Files(path, pattern)
	for i := range files {
		open := files[i].Open
		files[i].Open = func() (io.ReadCloser, error) {
			in, err := open()
			return &ctxReader{ctx, in}, err
		}
	}
	return files, err
}

// ctxReader ends with its context, so that an import can be interrupted.
type ctxReader struct {
	ctx context.Context
	io.ReadCloser
}

// Read reads, unless the context is done.
func (r *ctxReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.ReadCloser.Read(p)
}

// importInfo is the report as a program reads it. Rows = Bad + Duplicates + Added + Unchanged +
// Kept + Ended + Replaced.
type importInfo struct {
	Rows         int64 `json:"rows"`
	Added        int64 `json:"added"`
	Unchanged    int64 `json:"unchanged"`
	Kept         int64 `json:"kept"`
	Replaced     int64 `json:"replaced"`
	Duplicates   int64 `json:"duplicates"`
	Unordered    int64 `json:"unordered"`
	Ended        int64 `json:"ended"`
	Bad          int64 `json:"bad"`
	Running      int64 `json:"running"`
	Empty        int64 `json:"empty"`
	Rounded      int64 `json:"rounded_volumes"`
	RoundedRows  int64 `json:"rounded_prices"`
	Missing      int64 `json:"missing"`
	Files        int   `json:"files"`
	FirstMS      int64 `json:"first_ms"`
	LastMS       int64 `json:"last_ms"`
	PriceDigits  uint8 `json:"price_digits"`
	VolumeDigits uint8 `json:"volume_digits"`
}

func importInfoOf(r *candles.ImportReport) importInfo {
	return importInfo{Rows: r.Rows, Added: r.Added, Unchanged: r.Unchanged, Kept: r.Kept, Replaced: r.Replaced,
		Duplicates: r.Duplicates, Unordered: r.Unordered,
		Ended: r.Ended, Running: r.Running, Bad: r.Bad, Empty: r.Empty, Rounded: r.Rounded,
		RoundedRows: r.RoundedPrices,
		Missing:     r.Missing,
		Files:       r.Files, FirstMS: r.First.Millis(),
		LastMS: r.Last.Millis(), PriceDigits: r.PriceDigits,
		VolumeDigits: r.VolumeDigits}
}

// importText says what became of the rows, a line for each treatment that occurred.
func importText(name string, interval market.Interval, r *candles.ImportReport) string {
	text := fmt.Sprintf("%s %s: %d rows, candles from %s to %s\n", name, interval, r.Rows, r.First, r.Last)
	for _, line := range [...]struct {
		count int64
		what  string
	}{
		{r.Added, "added"}, {r.Unchanged, "stored already with the same values"}, {r.Kept,
			"stored already with other values, which stay (--replace overwrites them)"},
		{r.Ended, "overwritten: the stored one had not ended"},
		{r.Running, "left out: the candle still runs"},
		{r.Replaced, "overwritten with new values"}, {r.Duplicates,
			"dropped: the file has the same row before"}, {r.Bad, "left out: bad"},
		{r.Unordered, "sorted: they start before the row above"}, {r.Widened, "stored before, now with more decimals"},
		{r.Empty, "left out: no values"},
		{r.After, "left out: after the market was renamed"},
		{r.RoundedPrices, fmt.Sprintf("rows with prices rounded to %d decimals (--price-digits)", r.RoundDigits)},
		{r.Rounded, fmt.Sprintf("volumes rounded to %d decimals (--volume-digits)", r.VolumeDigits)},
	} {
		if line.count > 0 {
			text += fmt.Sprintf("%9d %s\n", line.count, line.what)
		}
	}
	for _, bad := range r.BadRows {
		text += fmt.Sprintf("          %s: %s: %s\n", bad.Place(), bad.Reason, bad.Text)
	}
	if r.Files > 1 {
		text += fmt.Sprintf("%9d files\n", r.Files)
	}
	if r.Fine {
		text += fmt.Sprintf("WARNING: prices have %d decimals, more than sums of many candles hold in 64 bits: is it "+
			"float noise? --price-digits %d rounds them\n", r.PriceDigits, r.FineDigits)
	}
	if warning := candles.ManyMissing(r.Rows-r.Bad-r.Duplicates, r.Missing); warning != "" {
		text += "WARNING: " + warning + "\n"
	}
	return text
}
