package bot

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/plan"
)

// lookahead is the effort of --check-lookahead.
var lookahead = backtest.LookaheadOptions{Places: 20, Decisions: 32, Seed: 1}

// checkLookahead fails if decisions depend on later candles.
func (a *app) checkLookahead(ctx context.Context, p *plan.Backtest, asJSON bool) error {
	how := lookahead
	how.Watch = p.Options.Watch
	report, err := backtest.CheckLookahead(ctx, p.Run, how)
	if err != nil {
		return err
	}
	if asJSON {
		err = console.PrintJSON(a.Stdout, report)
	} else {
		_, err = fmt.Fprintf(a.Stdout,
			"%s: %d decisions; %d runs and %d forks; another future from %d places on; %d runs decided otherwise "+
				"before.\n",
			p.Options.Title, report.Decisions, report.Runs, report.Forks, len(report.Cuts), len(report.Changed))
		if err == nil && report.FromStart != "" {
			_, err = fmt.Fprintf(a.Stdout, "All runs began at the start: %s.\n", report.FromStart)
		}
	}
	if len(report.Changed) > 0 {
		return fmt.Errorf("a strategy looks ahead, or keeps something from run to run: %s", report.Changed[0])
	}
	return err
}

// checkWarmup shows how much history the decisions depend on. It fails if the declared warm-up is
// too short.
func (a *app) checkWarmup(ctx context.Context, p *plan.Backtest, asJSON bool) error {
	report, err := backtest.CheckWarmup(ctx, p.Run)
	if err != nil {
		return err
	}
	if asJSON {
		err = console.PrintJSON(a.Stdout, report)
	} else {
		err = a.printWarmup(p.Options.Title, report)
	}
	switch {
	case report.Enough < 0:
		return errors.New("even the longest history changes decisions: the strategy never forgets where it began")
	case report.Enough > 0:
		return fmt.Errorf("the declared warm-up of %s candles is too short; from %s on nothing changes",
			report.Declared, report.Tried[report.Enough].History)
	}
	return err
}

func (a *app) printWarmup(title string, report *backtest.WarmupReport) error {
	text := fmt.Sprintf("%s: declares a warm-up of %s candles\n", title, report.Declared)
	for _, try := range report.Tried {
		text += fmt.Sprintf("%8s candles of history: the first %d of %d decisions as with the longest\n", try.History,
			try.Same, try.Of)
	}
	if report.Enough >= 0 {
		text += fmt.Sprintf("From %s candles of history on nothing changes (prices to 0.1 %%, amounts to 1 %%).\n",
			report.Tried[report.Enough].History)
	}
	_, err := io.WriteString(a.Stdout, text)
	return err
}
