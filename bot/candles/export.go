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
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

func (a *commands) exportCommand(f *storeFlags) *cobra.Command {
	var from, to, out string
	c := &cobra.Command{
		Use: "export", Short: "Write candles as CSV", Args: cobra.NoArgs,
		Example: "  bot candles export --market BTC-EUR --interval 1h > FILE.csv\n" +
			"  bot candles export --market BTC-EUR --interval 1h --from 2023-01-01 \\\n    --out FILE.csv",
		RunE: a.enter(func(context.Context, []string) error { return a.exportCandles(f, from, to, out) }),
	}
	f.seriesFlags(c)
	c.Flags().StringVar(&from, "from", "", "first candle: 2021-01-01, RFC 3339 or Unix ms")
	c.Flags().StringVar(&to, "to", "", "end, exclusive")
	c.Flags().StringVar(&out, "out", "", "`FILE` to write; without it the standard output")
	return c
}

func (a *commands) exportCandles(f *storeFlags, from, to, out string) error {
	name, interval, err := f.series()
	if err != nil {
		return err
	}
	if info, err := os.Stat(out); err == nil && info.IsDir() {
		return config.Usagef("--out %s is a folder; name a file in it, like %s", out, filepath.Join(out, name+".csv"))
	}
	begin, end, err := parseRange(from, to)
	if err != nil {
		return err
	}
	store, err := f.read()
	if err != nil {
		return err
	}
	defer store.Close()
	return console.WriteTo(a.Stdout, out, func(w io.Writer) error {
		rows, err := store.ExportCSV(w, name, interval, begin, end)
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
	return fmt.Errorf("no candles in the range: %s %s is stored from %s to %s", name, interval, stored.From,
		stored.To)
}

// parseRange reads --from and --to; empty is no bound.
func parseRange(from, to string) (begin, end market.Time, err error) {
	for _, bound := range [...]struct {
		flag, text string
		into       *market.Time
	}{{"--from", from, &begin}, {"--to", to, &end}} {
		if bound.text == "" {
			continue
		}
		if *bound.into, err = config.ParseMoment(bound.text); err != nil {
			return 0, 0, config.Usagef("%s: %w", bound.flag, err)
		}
	}
	if from != "" && to != "" && begin >= end {
		return 0, 0, config.Usagef("--from %s is not before --to %s; swap them, or leave one out", from, to)
	}
	return begin, end, nil
}
