package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/server"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/market"
)

const exchangeHelp = `Serve a simulated exchange over HTTP: the exchange of the specification, with accounts, keys,
signatures, a matching book and prices.

Without -c it has three markets with made-up prices, and one account with balances and a key with all rights. It
prints its address, its keys, and example requests for a shell. Ctrl-C stops it. docs/exchange.md describes it for
authors of clients.`

const exchangeExample = `  bot exchange
  bot exchange --listen 127.0.0.1:0 --json --speed 0
  bot exchange -c configs/exchange.toml --state exchange.db
  bot exchange --set rules.settle_after=5s --log info`

// exchangeFlags are the flags of the command.
type exchangeFlags struct {
	config, listen, speed, seed, state, faults, log string
	sets                                            []string
	noAdmin, json                                   bool
}

func exchangeCommand(a *app) *cobra.Command {
	f := &exchangeFlags{}
	c := &cobra.Command{
		Use:   "exchange",
		Short: "Serve a simulated exchange over HTTP", Long: exchangeHelp, Example: exchangeExample,
		Args: onlyFlags,
		RunE: a.enter(func(ctx context.Context, _ []string) error { return a.exchange(ctx, f) }),
	}
	flags := c.Flags()
	flags.StringVarP(&f.config, "config", "c", "", "config `FILE`; without it: three markets, one account")
	flags.StringArrayVar(&f.sets, "set", nil, "change one setting: `a.b.c=value`; may be repeated")
	flags.StringVar(&f.listen, "listen", "", "`ADDRESS` to listen on; without it 127.0.0.1:8080; port 0: any free one")
	flags.StringVar(&f.speed, "speed", "",
		"let the exchange's time run `N` times as fast; 0: it stands until POST /admin/clock moves it")
	flags.StringVar(&f.seed, "seed", "", "`SEED` of prices, sizes and faults")
	flags.StringVar(&f.state, "state", "", "keep the exchange in `FILE` over restarts; without it, memory")
	flags.StringVar(&f.faults, "faults", "", "script `FILE` of faults")
	flags.BoolVar(&f.noAdmin, "no-admin", false, "do without /admin")
	flags.BoolVar(&f.json, "json", false, "print address, keys and lines for a shell as one JSON object")
	flags.StringVar(&f.log, "log", "",
		"log `LEVEL` on standard error: off, error, warn (refusals too), info (every request), debug (connections too)")
	return c
}

// overrides are the flags as settings; the special ones come after --set, so that they win.
func (f *exchangeFlags) overrides() (list []config.Override, err error) {
	if list, err = config.ParseSets(f.sets); err != nil {
		return nil, err
	}
	for _, flag := range [...]struct{ name, key, text string }{
		{"listen", "exchange.listen", f.listen}, {"speed", "clock.speed", f.speed},
		{"seed", "exchange.seed", f.seed}, {"state", "exchange.state", f.state},
		{"faults", "exchange.faults", f.faults}, {"log", "exchange.log", f.log},
	} {
		if flag.text != "" {
			list = append(list, config.Override{Flag: "--" + flag.name + " " + config.Clip(flag.text),
				Path: strings.Split(flag.key, "."), Text: flag.text, Word: true})
		}
	}
	if f.noAdmin {
		list = append(list, config.Override{Flag: "--no-admin", Path: []string{"admin", "enabled"}, Text: "false",
			Word: true})
	}
	return list, nil
}

// plan reads the config that the flags name. Close the plan unless it is nil.
func (f *exchangeFlags) plan(getenv func(string) string) (*server.Setup, error) {
	overrides, err := f.overrides()
	if err != nil {
		return nil, err
	}
	source := &config.Source{Overrides: overrides}
	if f.config != "" {
		source, err = config.ReadSource(f.config, overrides)
	} else {
		err = source.RefuseTables("tiers", "assets", "markets", "accounts")
	}
	if err != nil {
		return nil, err
	}
	c, err := config.LoadSandbox(source)
	if err != nil {
		return nil, err
	}
	return server.NewPlan(c, getenv)
}

// warn writes lines that a person should read before anything else.
func (a *app) warn(lines []string) {
	for _, line := range lines {
		fmt.Fprintln(a.Stderr, "warning:", line)
	}
}

// exchange runs the command.
func (a *app) exchange(ctx context.Context, f *exchangeFlags) (err error) {
	if a.Getenv("GOGC") == "" && a.Getenv("GOMEMLIMIT") == "" {
		defer sandbox.PaceCollector()()
	}
	p, err := f.plan(a.Getenv)
	if p != nil {
		defer func() { err = errors.Join(err, p.Close()) }()
	}
	if err != nil {
		return err
	}
	a.warn(p.Warnings)
	bar := a.historyBar(ctx, p)
	ex, err := sandbox.New(p.Config)
	bar.End()
	if err != nil {
		return p.Explain(err)
	}
	defer func() { err = errors.Join(err, ex.Close()) }()
	s, err := server.New(ex, &p.Exchange, console.Logger(a.Stderr, p.Exchange.Log, a.Getenv))
	if err != nil {
		return err
	}
	if err := a.greet(p, s.Address, f.json); err != nil {
		return err
	}
	left, err := s.Run(ctx)
	if !f.json {
		fmt.Fprintln(a.Stdout, left)
	}
	return err
}

// longHistory is a history that takes more than a second to make.
const longHistory = market.Duration(1000 * time.Hour)

// historyBar shows how much of a long history is made: as a bar on a terminal, and with a line
// before.
func (a *app) historyBar(ctx context.Context, p *server.Setup) *console.Bar {
	c := &p.Config
	bar := console.NewBar(ctx, a.Stderr, "history", 0, market.Time(c.History), len(c.Markets))
	said := c.History < longHistory
	c.Progress = func(made market.Duration) {
		if !said {
			fmt.Fprintf(a.Stderr, "Making %.0f h of prices before the start, for each of %d markets.\n",
				time.Duration(c.History).Hours(), len(c.Markets))
		}
		said = true
		bar.Reach(market.Time(made))
	}
	return bar
}

// greet prints the facts that a client needs, and warns if other machines can reach the exchange.
func (a *app) greet(p *server.Setup, address *net.TCPAddr, asJSON bool) error {
	if !address.IP.IsLoopback() {
		fmt.Fprintln(a.Stderr, "warning: other machines can reach the exchange, and keys travel in the clear; "+
			"127.0.0.1 keeps it to this one")
	}
	if p.Clock.Speed == "0" && !p.Admin.Enabled {
		fmt.Fprintln(a.Stderr, "warning: time stands, and without /admin nothing can move it")
	}
	facts := p.Facts(address)
	if !asJSON {
		return facts.Write(a.Stdout)
	}
	text, err := json.Marshal(facts)
	if err != nil {
		return err
	}
	_, err = a.Stdout.Write(append(text, '\n'))
	return err
}
