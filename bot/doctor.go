package bot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/doctor"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/bot/version"
)

const doctorHelp = `Check everything that a live bot depends on, without trading: exchange and clock, key and rights,
markets, the smallest orders, limits, polling plan, state file, disk, secrets, and foreign orders on the account.

Each strategy trades over the latest candles of the exchange, in this process, with its own parameters, money and
limits. Its orders are checked against tick, step, minimum, balance and limits.

The command keeps to the weight budget, so that a bot with the same key is not banned. If needed, it waits for the
next minute.

It sends no order. To find out whether the key may withdraw, it sends a withdrawal without asset, amount and address,
which every exchange refuses. Exit code 0: no check fails. Warnings are for you to judge.

The result is kept in the state folder, and bot dashboard shows it.`

// doctorFlags are the flags of the command.
type doctorFlags struct {
	runFlags
	alerts, json bool
}

func doctorCommand(a *app) *cobra.Command {
	f := &doctorFlags{}
	c := &cobra.Command{
		Use: "doctor", Short: "Check everything before trading", Long: doctorHelp, Args: onlyFlags,
		Example: "  bot doctor -c configs/sandbox.toml\n  bot doctor -c my.toml --alerts --json",
		RunE:    a.enter(func(ctx context.Context, _ []string) error { return a.doctor(ctx, f) }),
	}
	f.register(c, "config `FILE` of bot run")
	c.Flags().BoolVar(&f.alerts, "alerts", false, "send a message to each receiver of [alerts], once")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

// errChecksFailed ends the command after findings that fail; they are printed already.
var errChecksFailed = errors.New("not ready to trade: see the checks that fail")

// doctor runs the command.
func (a *app) doctor(ctx context.Context, f *doctorFlags) error {
	c, err := a.runConfigOf(&f.runFlags)
	if err != nil {
		return err
	}
	needed := c.Bot.NeedLimits
	c.Bot.NeedLimits = false // what is missing is one finding of many here
	p, err := plan.NewLive(c, a.Definitions, a.Getenv)
	if err != nil {
		return err
	}
	findings, err := doctor.Examine(ctx, p,
		doctor.Options{Getenv: a.Getenv, OnWait: func(text string) { console.Tell(a.Stderr, text) }, NeedLimits: needed,
			TryAlerts: f.alerts})
	if err != nil {
		return err
	}
	if err := keepCheckup(p, findings); err != nil {
		console.Tell(a.Stderr, err.Error())
	}
	if f.json {
		err = console.PrintJSON(a.Stdout, findings)
	} else {
		err = writeFindings(a.Stdout, findings)
	}
	for i := range findings {
		if err == nil && findings[i].Level == doctor.Fail {
			err = errChecksFailed
		}
	}
	return err
}

// keepCheckup keeps findings in the state folder.
func keepCheckup(p *plan.Live, findings []doctor.Finding) error {
	c := statedir.Checkup{AtMS: nowMS(), Version: version.Of(debug.ReadBuildInfo()), Config: p.SettingsHash}
	for i := range findings {
		c.Findings = append(c.Findings, findings[i].Finding)
	}
	return c.Write(p.Config.Bot.State)
}

// writeFindings writes a line for each finding, the hint behind it, and the count of each level in
// the end.
func writeFindings(out io.Writer, findings []doctor.Finding) error {
	var text strings.Builder
	count := map[string]int{}
	for i := range findings {
		f := &findings[i]
		count[f.Level]++
		fmt.Fprintf(&text, "%-4s  %-12s  %s", f.Level, f.Check, f.Text)
		if f.Hint != "" {
			fmt.Fprintf(&text, "; %s", f.Hint)
		}
		text.WriteByte('\n')
		for _, line := range f.Lines {
			fmt.Fprintf(&text, "%20s%s\n", "", line)
		}
	}
	fmt.Fprintf(&text, "%d ok, %d to be judged, %d fail\n", count[doctor.OK], count[doctor.Warn], count[doctor.Fail])
	_, err := io.WriteString(out, text.String())
	return err
}
