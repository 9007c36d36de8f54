package bot

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/research/compare"
	"github.com/tidemark-trading/tidemark/research/report"
)

const compareHelp = `Compare finished backtests by the folders of their results: the settings that
differ, the figures side by side, and the difference of their daily returns with its standard error.
A page has the curves in one picture.

The difference by day is that of the first result to each other one. It looks at the days that both
have, so that what both share, such as a rising market, falls out.`

const compareExample = `  bot backtest --out out/slow
  bot backtest --set strategies.trend.params.fast=20 --out out/fast
  bot compare out/slow out/fast
  bot compare out/slow out/fast --json`

// compareFlags are the flags of the command.
type compareFlags struct {
	out  string
	json bool
}

func compareCommand(a *app) *cobra.Command {
	f := &compareFlags{}
	c := &cobra.Command{
		Use: "compare A B …", Short: "Compare the results of backtests",
		Long: compareHelp, Example: compareExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 || len(args) > compare.MaxRuns {
				return config.Usagef("want 2 to %d result folders of bot backtest, such as out/a out/b",
					compare.MaxRuns)
			}
			return nil
		},
		RunE: a.enter(func(_ context.Context, args []string) error { return a.compare(f, args) }),
	}
	c.Flags().StringVar(&f.out, "out", "",
		"`FILE` of the page; without it out/compare-NAME-NAME.html, after the folders")
	c.Flags().BoolVar(&f.json, "json", false,
		"print the comparison as JSON, and nothing else; the page only with --out")
	return c
}

// compare runs the command.
func (a *app) compare(f *compareFlags, dirs []string) error {
	var runs []*compare.Run
	for _, dir := range dirs {
		r, err := compare.Read(dir)
		if err != nil {
			return err
		}
		runs = append(runs, r)
	}
	o, err := compare.Compare(runs)
	if err != nil {
		return err
	}
	path := f.out
	if path == "" && !f.json {
		path = comparePage(runs)
	}
	return a.document(report.Compare(o), path, o, f.json)
}

// comparePage is the file of the page after the names of the folders.
func comparePage(runs []*compare.Run) string {
	name := "compare"
	for _, r := range runs {
		name += "-" + filepath.Base(r.Dir)
	}
	const longest = 100
	if len(name) > longest {
		name = strings.ToValidUTF8(name[:longest], "")
	}
	return filepath.Join("out", name+".html")
}
