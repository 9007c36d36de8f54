package candles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

const importHelp = `Read candles from a CSV file, or from the standard input with "-", into the store. It stores the
whole file or nothing.

A header names the columns; without it they are time, open, high, low, close, volume. Times are Unix s, ms, µs or ns,
or RFC 3339. Repeated rows are dropped, and unordered rows are sorted. A row that is no candle refuses the whole file,
unless --skip-bad.`

// importFlags are the flags of the command beside those of all.
type importFlags struct {
	*storeFlags
	complete, skipBad, replace bool
	priceDigits, volumeDigits  uint8
}

func (a *commands) importCommand(store *storeFlags) *cobra.Command {
	f := &importFlags{storeFlags: store}
	c := &cobra.Command{
		Use: "import FILE|-", Short: "Read candles from CSV", Long: importHelp, Args: cobra.ExactArgs(1),
		Example: "  bot candles import --market BTC-EUR --interval 1h FILE.csv\n  zcat FILE.csv.gz | bot candles " +
			"import --market BTC-EUR --interval 1m -",
		RunE: a.enter(func(ctx context.Context, args []string) error { return a.importCandles(ctx, f, args[0]) }),
	}
	f.seriesFlags(c)
	f.jsonFlag(c)
	c.Flags().BoolVar(&f.complete, "complete", false,
		"the file is complete: where a candle is missing, nothing was traded")
	c.Flags().BoolVar(&f.skipBad, "skip-bad", false, "leave bad rows out and count them")
	c.Flags().BoolVar(&f.replace, "replace", false, "overwrite stored candles that have other values")
	c.Flags().Uint8Var(&f.priceDigits, "price-digits", 0, "decimals that prices get at least")
	c.Flags().Uint8Var(&f.volumeDigits, "volume-digits", 0, "decimals that volumes get at least")
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
	in, err := a.input(file)
	if err != nil {
		return err
	}
	defer in.Close()
	store, err := f.write()
	if err != nil {
		return err
	}
	report, err := store.ImportCSV(&ctxReader{ctx, in}, candles.ImportOptions{Complete: f.complete, SkipBad: f.skipBad,
		WriteOptions: candles.WriteOptions{
			Market: name, Interval: interval, Replace: f.replace, PriceDigits: f.priceDigits,
			VolumeDigits: f.volumeDigits}})
	if err = errors.Join(err, store.Close()); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if f.json {
		return console.PrintJSON(a.Stdout, importInfoOf(&report))
	}
	_, err = io.WriteString(a.Stdout, importText(name+" "+interval.String(), &report))
	return err
}

// input is the file to read, "-" being the standard input.
func (a *commands) input(file string) (io.ReadCloser, error) {
	if file == "-" {
		return io.NopCloser(a.Stdin), nil
	}
	return os.Open(file)
}

// ctxReader ends with its context, so that an import can be interrupted.
type ctxReader struct {
	ctx context.Context
	io.Reader
}

// Read reads, unless the context is done.
func (r *ctxReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// importInfo is the report as a program reads it. Rows = Bad + Duplicates + Added + Unchanged +
// Kept + Replaced.
type importInfo struct {
	Rows         int64 `json:"rows"`
	Added        int64 `json:"added"`
	Unchanged    int64 `json:"unchanged"`
	Kept         int64 `json:"kept"`
	Replaced     int64 `json:"replaced"`
	Duplicates   int64 `json:"duplicates"`
	Unordered    int64 `json:"unordered"`
	Bad          int64 `json:"bad"`
	FirstMS      int64 `json:"first_ms"`
	LastMS       int64 `json:"last_ms"`
	PriceDigits  uint8 `json:"price_digits"`
	VolumeDigits uint8 `json:"volume_digits"`
}

func importInfoOf(r *candles.ImportReport) importInfo {
	return importInfo{Rows: r.Rows, Added: r.Added, Unchanged: r.Unchanged, Kept: r.Kept, Replaced: r.Replaced,
		Duplicates: r.Duplicates, Unordered: r.Unordered,
		Bad: r.Bad, FirstMS: r.First.Millis(), LastMS: r.Last.Millis(), PriceDigits: r.PriceDigits,
		VolumeDigits: r.VolumeDigits}
}

// importText says what became of the rows, a line for each treatment that occurred.
func importText(series string, r *candles.ImportReport) string {
	text := fmt.Sprintf("%s: %d rows, candles from %s to %s\n", series, r.Rows, r.First, r.Last)
	for _, line := range [...]struct {
		count int64
		what  string
	}{
		{r.Added, "added"}, {r.Unchanged, "stored already with the same values"}, {r.Kept,
			"stored already with other values, which stay (--replace overwrites them)"},
		{r.Replaced, "overwritten with new values"}, {r.Duplicates,
			"dropped: the file has the same row before"}, {r.Bad, "left out: bad"},
		{r.Unordered, "sorted: they start before the row above"}, {r.Widened, "stored before, now with more decimals"},
	} {
		if line.count > 0 {
			text += fmt.Sprintf("%9d %s\n", line.count, line.what)
		}
	}
	for _, bad := range r.BadRows {
		text += fmt.Sprintf("          line %d: %s: %s\n", bad.Line, bad.Reason, bad.Text)
	}
	return text
}
