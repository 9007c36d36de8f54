package candles

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

func (a *commands) resampleCommand(f *storeFlags) *cobra.Command {
	into, replace := "", false
	c := &cobra.Command{
		Use: "resample", Short: "Make longer candles of shorter ones", Args: cobra.NoArgs,
		Long: "Make longer candles of shorter ones, as the exchange does, and store them. Candles that the data " +
			"does not fill at its ends are left out.",
		Example: "  bot candles resample --market BTC-EUR --interval 1h --into 4h",
		RunE:    a.enter(func(context.Context, []string) error { return a.resampleCandles(f, into, replace) }),
	}
	f.seriesFlags(c)
	c.Flags().StringVar(&into, "into", "", "interval to make (needed)")
	c.Flags().BoolVar(&replace, "replace", false, "overwrite stored candles that have other values")
	return c
}

func (a *commands) resampleCandles(f *storeFlags, into string, replace bool) error {
	name, from, err := f.series()
	if err != nil {
		return err
	}
	to, err := market.ParseInterval(into)
	if err != nil {
		return config.Usagef("--into: %w", err)
	}
	if !from.Divides(to) {
		return config.Usagef("%s candles cannot be made of %s candles; choose a longer interval that they fill", to,
			from)
	}
	store, err := f.read() // a mistyped --db is no reason to make a store
	if err != nil {
		return err
	}
	if err := store.Close(); err != nil {
		return err
	}
	if store, err = f.write(); err != nil {
		return err
	}
	report, err := store.Resample(candles.ResampleOptions{Market: name, From: from, To: to, Replace: replace})
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Stdout, "%s %s from %s: %d added, %d replaced, %d unchanged, %d kept with other values\n",
		name, to, from, report.Added, report.Replaced, report.Unchanged, report.Kept)
	return err
}
