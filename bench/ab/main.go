// Command ab compares the speed of two revisions of this repository. It builds both, runs their
// benchmarks and programs in turn on one core, and prints for each row the median of the pairs'
// ratio with its 90 % interval. It never judges by a single run, and it leaves the work tree as it
// is. Start at comparison.run; docs/testing.md shows how to use it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"

	"github.com/spf13/cobra"
)

// Exit codes, those of the bot.
const (
	exitFailed = 1
	exitUsage  = 64
)

var (
	errUsage  = errors.New("usage")
	errSlower = errors.New("a row is slower")
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// execute runs the command line in the current folder and returns the exit code.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	c := &comparison{stdout: stdout, stderr: stderr}
	command := c.command()
	command.SetArgs(args)
	command.SetOut(stdout)
	command.SetErr(stderr)
	err := command.ExecuteContext(ctx)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errUsage):
		fmt.Fprintf(stderr, "%v\n%s", err, command.UsageString())
		return exitUsage
	}
	fmt.Fprintln(stderr, "ab:", err)
	return exitFailed
}

func (c *comparison) command() *cobra.Command {
	rows := ""
	command := &cobra.Command{
		Use: "ab OLD [NEW]", Short: "Compare the speed of two revisions",
		Long: `Build revision OLD and revision NEW (without it the work tree), run their benchmarks and programs
in turn on one core, and print the ratio of each row: NEW's cost divided by OLD's. The exit code is 1 if
a row is slower: its whole interval lies above the bound. With --results compare the result files of
backtests instead of the speed; the exit code is 1 if one differs.`,
		Example: `  go run ./bench/ab HEAD
  go run ./bench/ab --rows 'backtest|version' 3d3a973e
  go run ./bench/ab --results 3d3a973e`,
		SilenceErrors: true, SilenceUsage: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return fmt.Errorf("%w: one or two revisions are needed, not %d", errUsage, len(args))
			}
			return nil
		},
		RunE: func(command *cobra.Command, args []string) error {
			c.oldRevision = args[0]
			if len(args) > 1 {
				c.newRevision = args[1]
			}
			if err := c.check(rows); err != nil {
				return fmt.Errorf("%w: %w", errUsage, err)
			}
			return c.run(command.Context())
		},
	}
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return fmt.Errorf("%w: %w", errUsage, err) })
	flags := command.Flags()
	flags.BoolVar(&c.resultsOnly, "results", false, "compare the results of backtests instead of the speed")
	flags.IntVar(&c.pairs, "pairs", 15, "pairs of runs, 5 to 1000")
	flags.StringVar(&rows, "rows", "", "only rows, or runs of --results, whose name matches this regular expression")
	flags.BoolVar(&c.json, "json", false, "print JSON, with the ratio of each pair")
	flags.Float64Var(&c.bound, "bound", 1.03, "a row is slower if its whole interval lies above this ratio")
	flags.IntVar(&c.core, "core", -1, "core that runs everything; -1: the last one that this process may use")
	return command
}

// check verifies the options and compiles the pattern of rows.
func (c *comparison) check(rows string) (err error) {
	if c.rows, err = regexp.Compile(rows); err != nil {
		return fmt.Errorf("--rows: %w", err)
	}
	if c.interval, err = medianInterval(c.pairs, confidence); err != nil {
		return fmt.Errorf("--pairs: %w", err)
	}
	if c.bound < 1 {
		return fmt.Errorf("--bound %g: a bound is 1 or more", c.bound)
	}
	return nil
}
