package bot

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/rerun/replay"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/bot/version"
)

const replayHelp = `Plays what entered the engine of a stopped bot through the same strategies again, with the same
settings, and compares every command with the journal. So it proves a new build before it trades: docs/operate.md puts
it before each upgrade. It reads the state folder and writes nothing.

The first command that differs is shown with its event, what was asked then, and what is asked now. The exit code is
then 1. A second replay tells a strategy that reads a clock, chance, the order of a map or a file from a program that
decides otherwise. What the gate refuses is counted and not compared. Where events are lost, after a power cut, the
replay says so, counts the commands that it cannot check, and goes on with the next start, or with the next snapshot: a
running bot records one each UTC day. A strategy that saves nothing may hold memory that no snapshot has. If it then
decides otherwise, its commands are unchecked until the next start, and the replay says so.

With --state and -c it runs the strategies of that config over the recorded hours instead, as a backtest: see "bot help
backtest" for its report. The bot's data comes with its recorded times of arrival, and the simulated venue fills the
orders. The first lines say what was recorded, and what is missing. -c alone names the state folder.`

func replayCommand(a *app) *cobra.Command {
	f, other := &stateFlags{}, &backtestFlags{}
	c := &cobra.Command{
		Use: "replay", Args: onlyFlags,
		Short: "Play a bot's recording again and compare each command", Long: replayHelp,
		Example: "  bot replay --state bots/live\n  bot replay -c configs/sandbox.toml --json\n" +
			"  bot replay --state bots/live -c configs/live.toml --out out/new",
		RunE: a.enter(func(ctx context.Context, _ []string) error {
			if f.path != "" && f.config != "" {
				return a.resimulate(ctx, f, other)
			}
			if other.given() {
				return config.Usagef("--set, --from, --to, --out and --no-files belong to a run of --state with -c")
			}
			return a.replay(ctx, f)
		}),
	}
	c.Flags().StringVar(&f.path, "state", "", "state `FOLDER`; without it that of -c, or state")
	c.Flags().StringVarP(&f.config, "config", "c", "",
		"take the state folder from this config `FILE`; with --state: run its strategies over the recorded hours")
	f.jsonFlag(c)
	other.addRange(c.Flags())
	return c
}

// replay runs the command.
func (a *app) replay(ctx context.Context, f *stateFlags) error {
	path, err := f.file()
	if err != nil {
		return err
	}
	if filepath.Base(path) == statedir.StateFile {
		path = filepath.Dir(path)
	}
	var report *replay.Verdict
	guard := &hangGuard{Out: a.Stderr, Left: "nothing was written"}
	err = guard.Run(ctx, func() (err error) {
		report, err = replay.Run(ctx, path, a.Definitions, guard.Watch)
		return err
	})
	if err != nil {
		return err
	}
	if f.json {
		err = console.PrintJSON(a.Stdout, report)
	} else {
		err = printReplay(a.Stdout, report)
	}
	if d := report.First; d != nil && err == nil {
		return fmt.Errorf("the replay differs from the journal at event %d", d.Record)
	}
	return err
}

// printReplay writes a report for a person. What was not compared stands in the first line.
func printReplay(w io.Writer, r *replay.Verdict) error {
	found := "all equal"
	if r.First != nil {
		found = "equal, and the next one differs"
	}
	fmt.Fprintf(w, "%s commands, %s; %s refusals of the gate are counted, not compared\n", thousands(r.Equal), found,
		thousands(r.Refused))
	for i := range r.Lost {
		fmt.Fprintln(w, r.Lost[i].String())
	}
	if r.Unwritten > 0 {
		fmt.Fprintf(w, "%d commands never left: a kill or a power cut came before their commit\n", r.Unwritten)
	}
	for _, note := range r.Notes {
		fmt.Fprintln(w, note)
	}
	if d := r.First; d != nil {
		printDifference(w, d)
	}
	starts := fmt.Sprintf("%d starts", r.Starts)
	if r.Resumed > 0 {
		starts += fmt.Sprintf(" and %d snapshots", r.Resumed)
	}
	if r.Reloads == 1 {
		starts += " and 1 reload"
	} else if r.Reloads > 1 {
		starts += fmt.Sprintf(" and %d reloads", r.Reloads)
	}
	_, err := fmt.Fprintf(w, "%s events of %s, %s to %s; recorded by %s, replayed by %s\n",
		thousands(r.Records), starts, r.From, r.To, strings.Join(r.Programs, ", "), version.Of(debug.ReadBuildInfo()))
	return err
}

func printDifference(w io.Writer, d *replay.Difference) {
	fmt.Fprintf(w, "event %d: %s", d.Record, d.Event)
	if d.Entry != 0 {
		fmt.Fprintf(w, "; journal entry %d", d.Entry)
	}
	for _, line := range [...]struct{ word, text string }{{"then", d.Then}, {"now ", d.Now}} {
		if line.text == "" {
			line.text = "nothing"
		}
		fmt.Fprintf(w, "\n  %s: %s", line.word, line.text)
	}
	for _, field := range d.Fields {
		fmt.Fprintf(w, "\n  %s", field)
	}
	fmt.Fprintf(w, "\n  %s\n", d.Hint)
}
