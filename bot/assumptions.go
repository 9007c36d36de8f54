package bot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"text/tabwriter"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/rerun/orders"
	"github.com/tidemark-trading/tidemark/exchange/sim"
)

// measureAssumptions measures what a backtest assumes from the orders in a state folder, prints it,
// and writes it to a file.
func (a *app) measureAssumptions(ctx context.Context, f *gapFlags, in orders.Range) error {
	dir, file := gapFolder(f.state), f.assumptions
	if err := checkAssumptionsFile(file); err != nil {
		return err
	}
	log, err := orders.Read(ctx, dir, orders.Options{})
	if err != nil {
		return err
	}
	m, err := orders.MeasureAssumptions(log, in)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if m.Orders == 0 {
		return fmt.Errorf("%s: the exchange took no order in this range: there is nothing to measure", dir)
	}
	if err := os.WriteFile(file, []byte(m.Section()), 0o644); err != nil {
		return err
	}
	if f.json {
		return console.PrintJSON(a.Stdout, m.Figures())
	}
	if err := m.Print(a.Stdout); err != nil {
		return err
	}
	if err := a.printPredictions(ctx, log); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Stdout, "\nwritten to %s: put its lines into the config of a backtest\n", file)
	return err
}

// printPredictions writes how well each model of fills predicts those of the resting orders.
func (a *app) printPredictions(ctx context.Context, log *orders.Log) error {
	table := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\nlimit_fill\tamount before, in own\tat rest\tpredicted\tfilled\tBrier score\t")
	for _, fill := range [...]sim.LimitFill{sim.Touch, sim.Through, sim.Queue} {
		p, err := log.Predict(ctx, fill)
		if err != nil {
			return err
		}
		buckets := []orders.Bucket{p.All}
		if fill == sim.Queue {
			buckets = append(p.Buckets[:], p.All)
		}
		for i := range buckets {
			if b := &buckets[i]; b.Rests > 0 {
				fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%.3f\t\n", fill, b.Name, b.Rests, b.Predicted, b.Seen,
					b.Brier())
			}
		}
	}
	return table.Flush()
}

// checkAssumptionsFile refuses to write over a file that holds no measured assumptions.
func checkAssumptionsFile(file string) error {
	before, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !bytes.HasPrefix(before, []byte(orders.FirstLine)):
		return config.Usagef("%s exists and was not written by --write-assumptions; name another file", file)
	}
	return nil
}
