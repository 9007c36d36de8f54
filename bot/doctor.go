package bot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
)

const doctorHelp = `Look at everything that a live bot depends on, without trading: exchange and clock, key and rights, markets, the smallest orders, limits,
polling plan, state file, disk, secrets, and whether somebody else trades on the account.

Each strategy is let trade over the latest candles of the exchange, in this process and with its own parameters, money and limits: what it
asks for there is what is tried against tick, step, minimum, balance and limits.

It keeps to the weight budget, so that a bot that trades with the same key is not banned, and waits for the next minute where it has to.

It sends no order. Whether the key may withdraw it finds out by a withdrawal that names no asset, no amount and no address, which every exchange
refuses. Exit code 0 says that nothing fails; warnings are for a person to judge.`

func (a *app) doctorCommand() *cobra.Command {
	f, asJSON, tryAlerts := &runFlags{}, false, false
	c := &cobra.Command{
		Use: "doctor", Short: "Check everything before trading", Long: doctorHelp, Args: onlyFlags,
		Example: "  bot doctor -c configs/sandbox.toml\n  bot doctor -c my.toml --alerts --json",
		RunE:    a.enter(func(ctx context.Context, _ []string) error { return a.doctor(ctx, f, asJSON, tryAlerts) }),
	}
	c.Flags().StringVarP(&f.config, "config", "c", "", "config `FILE` of bot run")
	c.Flags().StringArrayVar(&f.sets, "set", nil, "change one setting: `a.b.c=value`; may be repeated")
	c.Flags().BoolVar(&tryAlerts, "alerts", false, "send a message to each receiver of [alerts], once")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// The levels of a finding.
const (
	levelOK   = "ok"
	levelWarn = "warn"
	levelFail = "fail"
)

// finding is what one check found.
type finding struct {
	Check string   `json:"check"`
	Level string   `json:"level"` // ok, warn, fail
	Text  string   `json:"text"`
	Mend  string   `json:"mend,omitempty"`
	Lines []string `json:"lines,omitempty"` // a table that goes with it
}

// doctor is one examination.
type doctor struct {
	plan     *runPlan
	client   *rest.Client
	known    *knownState
	held     map[market.AssetID]market.Money // available at the exchange
	tell     func(text string)               // what is waited for
	findings []finding
}

// doctorPatience is how long the whole examination may take.
const doctorPatience = 2 * time.Minute

// errUnwell is the exit code of findings that were printed already.
var errUnwell = errors.New("not ready to trade: see the checks that fail")

// doctor runs the command.
func (a *app) doctor(ctx context.Context, f *runFlags, asJSON, tryAlerts bool) error {
	c, err := a.runConfigOf(f)
	if err != nil {
		return err
	}
	needed := c.Bot.NeedLimits
	c.Bot.NeedLimits = false // what is missing is one finding of many here
	p, err := newRunPlan(c, a.Kinds, a.Getenv)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	d := &doctor{plan: p, held: map[market.AssetID]market.Money{}, tell: a.tell}
	for _, hint := range p.source.hints {
		d.warn("config", hint, "change the config as it says, before a later release refuses the key")
	}
	d.secrets()
	d.limits(needed)
	d.disk()
	d.stateFile(ctx)
	d.units(foldersOfUnits(a.Getenv))
	d.alerts(ctx, tryAlerts)
	if err := d.atExchange(ctx); err != nil {
		return err
	}
	if asJSON {
		err = a.printJSON(d.findings)
	} else {
		err = writeFindings(a.Stdout, d.findings)
	}
	for i := range d.findings {
		if err == nil && d.findings[i].Level == levelFail {
			err = errUnwell
		}
	}
	return err
}

// atExchange makes the checks that need the exchange.
func (d *doctor) atExchange(ctx context.Context) (err error) {
	ledger := rest.NewLedger(rest.LedgerConfig{ // a bot may be trading with this key: what it needs is not spent here
		Now: func() market.Time { return d.client.Now() }, After: after, Prefix: d.plan.Exchange.Prefix,
		PerKey: int(d.plan.Exchange.PerKey), PerIP: int(d.plan.Exchange.PerIP), Warn: func(w rest.Warning) { d.tell(w.String()) },
	})
	if d.client, err = d.plan.client(ledger); err != nil {
		return err
	}
	defer d.client.Close()
	if !d.reach(ctx) {
		return nil
	}
	d.clock()
	paper := d.plan.Bot.Mode == modePaper
	readable := !paper && d.rights(ctx)
	offered, err := d.plan.ask(ctx, d.client)
	if err == nil {
		err = d.plan.learn(offered)
	}
	if err != nil {
		d.fail("markets", err.Error(), "correct the markets and account.currency of the config")
		return nil
	}
	d.client.Use(d.plan.catalog)
	d.markets()
	d.polling()
	if readable {
		d.balances(ctx)
		d.others(ctx)
	}
	if paper {
		d.paperAccount()
	}
	if readable || paper { // else nobody knows what the strategies have
		d.smallestOrders(ctx)
	}
	return nil
}

func (d *doctor) ok(check, format string, args ...any) {
	d.findings = append(d.findings, finding{Check: check, Level: levelOK, Text: fmt.Sprintf(format, args...)})
}

func (d *doctor) warn(check, text, mend string) {
	d.findings = append(d.findings, finding{Check: check, Level: levelWarn, Text: text, Mend: mend})
}

func (d *doctor) fail(check, text, mend string) {
	d.findings = append(d.findings, finding{Check: check, Level: levelFail, Text: text, Mend: mend})
}

// writeFindings writes a line for each finding, the mend behind it, and the count of each level in the end.
func writeFindings(out io.Writer, findings []finding) error {
	var text strings.Builder
	count := map[string]int{}
	for i := range findings {
		f := &findings[i]
		count[f.Level]++
		fmt.Fprintf(&text, "%-4s  %-12s  %s", f.Level, f.Check, f.Text)
		if f.Mend != "" {
			fmt.Fprintf(&text, "; %s", f.Mend)
		}
		text.WriteByte('\n')
		for _, line := range f.Lines {
			fmt.Fprintf(&text, "%20s%s\n", "", line)
		}
	}
	fmt.Fprintf(&text, "%d ok, %d to be judged, %d fail\n", count[levelOK], count[levelWarn], count[levelFail])
	_, err := io.WriteString(out, text.String())
	return err
}
