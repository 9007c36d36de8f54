package candles

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/candles"
)

func (a *commands) verifyCommand(f *storeFlags) *cobra.Command {
	c := &cobra.Command{
		Use: "verify", Short: "Read everything that is stored and check it", Args: cobra.NoArgs,
		Example: "  bot candles verify",
		RunE:    a.enter(func(context.Context, []string) error { return a.verifyCandles(f) }),
	}
	f.jsonFlag(c)
	return c
}

func (a *commands) verifyCandles(f *storeFlags) error {
	store, err := f.read()
	if err != nil {
		return err
	}
	defer store.Close()
	report, err := store.Verify()
	if err != nil {
		return err
	}
	var differences []candles.Difference
	if len(report.Problems) == 0 {
		if differences, err = store.Differences(); err != nil {
			return err
		}
	}
	if err := a.printVerify(&report, differences, f.json); err != nil {
		return err
	}
	if len(report.Problems) == 0 && !f.json {
		list, err := store.List()
		if err := errors.Join(err, warnMissing(a.Stdout, list)); err != nil {
			return err
		}
	}
	if n := len(report.Problems); n > 0 {
		return fmt.Errorf("%s: %d problems: %w; import the damaged ranges again, into a new file when the store does "+
			"not take them", store.Path(), n, bolt.ErrCorrupt)
	}
	return nil
}

// verifyInfo is the report as a program reads it.
type verifyInfo struct {
	Series   int64    `json:"series"`
	Chunks   int64    `json:"chunks"`
	Candles  int64    `json:"candles"`
	Listings int64    `json:"listings"` // days of recorded markets
	Problems []string `json:"problems"`
	// Differences are those between the intervals of a market.
	Differences []string `json:"differences"`
}

func (a *commands) printVerify(r *candles.VerifyReport, differences []candles.Difference, asJSON bool) error {
	info := verifyInfo{Series: r.Series, Chunks: r.Chunks, Candles: r.Candles, Listings: r.Listings,
		Problems: []string{}, Differences: []string{}}
	for i := range differences {
		info.Differences = append(info.Differences, differences[i].String())
	}
	for i := range r.Problems {
		info.Problems = append(info.Problems, r.Problems[i].String())
	}
	if asJSON {
		return console.PrintJSON(a.Stdout, info)
	}
	for _, line := range slices.Concat(info.Problems, info.Differences) {
		fmt.Fprintln(a.Stdout, line)
	}
	listings := ""
	if info.Listings > 0 {
		listings = fmt.Sprintf(", markets of %d days", info.Listings)
	}
	_, err := fmt.Fprintf(a.Stdout, "%d series, %d chunks, %d candles%s read; %d problems\n", info.Series, info.Chunks,
		info.Candles, listings, len(info.Problems))
	return err
}
