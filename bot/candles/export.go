package candles

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/parquet"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// exportFlags are the flags of the command beside those of all.
type exportFlags struct {
	*storeFlags
	from, to, out, format string
	synthetic             bool
	seed                  uint64
}

// The formats of an export.
const (
	formatCSV     = "csv"
	formatParquet = "parquet"
)

func (a *commands) exportCommand(store *storeFlags) *cobra.Command {
	f := &exportFlags{storeFlags: store}
	c := &cobra.Command{
		Use: "export", Short: "Write candles as CSV or Parquet", Args: cobra.NoArgs,
		Long: "Write stored candles as CSV or Parquet. CSV has every decimal, and an import of it gives the same " +
			"candles. Parquet has the numbers as doubles and the times as timestamps, for notebooks.\n\n" +
			"--synthetic writes the made-up candles of a market, 2021 to 2023 from 1h up, that a backtest without " +
			"data uses: a sample to try an import on.",
		Example: "  bot candles export --market BTC-EUR --interval 1h > FILE.csv\n" +
			"  bot candles export --market BTC-EUR --interval 1h --from 2023 \\\n    --out FILE.parquet\n" +
			"  bot candles export --synthetic --market BTC-EUR --interval 1h \\\n    --out sample.csv",
		RunE: a.enter(func(context.Context, []string) error { return a.exportCandles(f) }),
	}
	f.seriesFlags(c)
	c.Flags().StringVar(&f.from, "from", "", "first candle: 2021, 2021-06, 2021-06-30, RFC 3339 or Unix ms")
	c.Flags().StringVar(&f.to, "to", "", "end, exclusive")
	c.Flags().StringVar(&f.out, "out", "", "`FILE` to write; without it the standard output")
	c.Flags().StringVar(&f.format, "format", "", "csv or parquet; without it parquet if --out ends in .parquet")
	c.Flags().BoolVar(&f.synthetic, "synthetic", false, "write made-up candles; the store is not read")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "of the made-up candles")
	return c
}

// candleWriter writes the batches of next in a format and returns the number of candles.
type candleWriter func(w io.Writer, m *market.Market, next func() ([]market.Candle, error)) (int64, error)

// writer chooses the format by the flags.
func (f *exportFlags) writer() (candleWriter, error) {
	format := f.format
	if format == "" && filepath.Ext(f.out) == ".parquet" {
		format = formatParquet
	}
	switch format {
	case "", formatCSV:
		return candles.WriteCSV, nil
	case formatParquet:
		return parquet.Candles, nil
	}
	return nil, config.Usagef("--format %s: want csv or parquet", config.Clip(f.format))
}

func (a *commands) exportCandles(f *exportFlags) error {
	name, interval, err := f.series()
	if err != nil {
		return err
	}
	if info, err := os.Stat(f.out); err == nil && info.IsDir() {
		return config.Usagef("--out %s is a folder; name a file in it, like %s", f.out,
			filepath.Join(f.out, name+".csv"))
	}
	begin, end, err := config.ParseRange(f.from, f.to)
	if err != nil {
		return err
	}
	write, err := f.writer()
	if err != nil {
		return err
	}
	if f.synthetic {
		in, m, err := plan.Synthetic(name, interval, f.seed, begin, end)
		if err != nil {
			return config.Usagef("%w", err)
		}
		return console.WriteTo(a.Stdout, f.out, func(w io.Writer) error {
			_, err := write(w, m, in.Next)
			return err
		})
	}
	store, err := f.read()
	if err != nil {
		return err
	}
	defer store.Close()
	in, m, err := store.ReadAll(name, interval, begin, end)
	if err != nil {
		return err
	}
	defer in.Close()
	return console.WriteTo(a.Stdout, f.out, func(w io.Writer) error {
		rows, err := write(w, m, in.Next)
		if err == nil && rows == 0 {
			return emptyExport(store, name, interval)
		}
		return err
	})
}

func emptyExport(store *candles.Store, name string, interval market.Interval) error {
	stored, err := store.Span(name, interval)
	if err != nil {
		return err
	}
	return fmt.Errorf("no candles in the range: %s %s is stored from %s to %s", name, interval, stored.From, stored.To)
}
