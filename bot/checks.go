package bot

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/market"
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
	last := report.Last()
	switch longest := last.Tried[len(last.Tried)-1]; {
	case report.Enough == 0:
		return err
	case last.Enough == 0 && longest.Of > 0:
		return fmt.Errorf("the declared warm-up of %s candles is too short; declare %s, which passes this check",
			report.Declared, last.Declared)
	case last.Enough < 0:
		return fmt.Errorf("the declared warm-up of %s candles is too short, and so is the longest history that was "+
			"tried, %s candles: with it, decisions are still others; begin later, or get more candles, and check "+
			"again, or the strategy never forgets where it began", report.Declared, longest.History)
	default:
		return fmt.Errorf("the declared warm-up of %s candles is too short; too few candles are stored to say what "+
			"suffices: begin later, or get more candles, and check again", report.Declared)
	}
}

func (a *app) printWarmup(title string, report *backtest.WarmupReport) error {
	text := fmt.Sprintf("%s: declares a warm-up of %s candles", title, report.Declared) + warmupText(report)
	for r := report.Next; r != nil; r = r.Next {
		text += fmt.Sprintf("A warm-up of %s candles instead", r.Declared) + warmupText(r)
	}
	_, err := io.WriteString(a.Stdout, text)
	return err
}

// warmupText describes the starts that were tried.
func warmupText(report *backtest.WarmupReport) string {
	text := fmt.Sprintf("; tried at %d starts, from %s to %s\n", len(report.Starts), dateOf(report.Starts[0]),
		dateOf(report.Starts[len(report.Starts)-1]))
	for _, try := range report.Tried {
		text += fmt.Sprintf("%8s candles of history: the first %d of %d decisions as with the longest, all of them at "+
			"%d starts\n", try.History, try.Same, try.Of, try.Agree)
	}
	longest := report.Tried[len(report.Tried)-1]
	if report.Short {
		text += fmt.Sprintf("The first start has room for a history of %s candles: longer histories were not tried.\n",
			longest.History)
	}
	switch {
	case len(report.Tried) == 1:
		text += "No warm-up is declared: there is no history to try.\n"
	case longest.Of == 0:
		text += "The strategy decided nothing after these starts: the check says nothing about its warm-up.\n"
	case report.Enough >= 0:
		text += fmt.Sprintf("From %s candles of history on nothing changes at these %d starts (prices to 0.1 %%, "+
			"amounts to 1 %%).\n", report.Tried[report.Enough].History, len(report.Starts))
	}
	return text
}

func dateOf(t market.Time) string { return t.Std().Format(time.DateOnly) }
