package bot

import (
	"context"
	"fmt"
	"net"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/dashboard"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/research/ledger"
)

const dashboardHelp = `Show a bot on web pages of this machine: how it stands, its orders with their stories, profit and
round trips. The first start makes two tokens and prints each once as an address: one to look, and one to act
too (halt, resume, cancel, cancel-all, flatten). From another machine: ssh -L 8787:127.0.0.1:8787 SERVER`

// The files with the dashboard's tokens.
const (
	lookFile = "dashboard.token"
	actFile  = "dashboard.act.token"
)

// dashboardFlags are the flags of `bot dashboard`.
type dashboardFlags struct{ config, state, listen, out, candles string }

func (a *app) dashboardCommand() *cobra.Command {
	f := &dashboardFlags{}
	c := &cobra.Command{
		Use: "dashboard", Short: "Show a bot on web pages", Args: onlyFlags, Long: dashboardHelp,
		Example: "  bot dashboard -c configs/sandbox.toml\n  bot dashboard --state bots/live --listen 127.0.0.1:9000",
		RunE:    a.enter(func(ctx context.Context, _ []string) error { return a.dashboard(ctx, f) }),
	}
	c.Flags().StringVarP(&f.config, "config", "c", "", "the bot that runs with this config `FILE`")
	c.Flags().StringVar(&f.state, "state", "", "the bot whose state is in this `FOLDER`")
	c.Flags().StringVar(&f.listen, "listen", "127.0.0.1:8787", "`ADDRESS` of this machine; port 0: a free one")
	c.Flags().StringVar(&f.out, "out", "out", "`DIR` with results of backtests, searches and gaps")
	c.Flags().StringVar(&f.candles, "db", config.DefaultStore,
		"candle store `FILE`: the ledger of tries beside it says how much was searched")
	return c
}

// dashboard serves the pages until ctx ends.
func (a *app) dashboard(ctx context.Context, f *dashboardFlags) error {
	folder, err := (&callerFlags{config: f.config, state: f.state}).folder()
	if err != nil {
		return err
	}
	name, _, err := net.SplitHostPort(f.listen)
	if err != nil || !config.LoopbackHost(name) {
		return config.Usagef("--listen %s: want a port of this machine, like 127.0.0.1:8787; to look from another "+
			"machine, use ssh -L", f.listen)
	}
	look, act, err := dashboardTokens(folder)
	if err != nil {
		return err
	}
	on, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.listen)
	if err != nil {
		return fmt.Errorf("dashboard: %w", err)
	}
	server, err := dashboard.New(dashboard.Config{
		Bot: dashboard.Bot{Of: operator.Target{Folder: folder}, Name: filepath.Base(folder)}, Look: look.secret,
		Act: act.secret,
		Out: f.out, Ledger: ledger.Beside(f.candles).Path(),
		Log: console.Logger(a.Stderr, "info", a.Getenv)})
	if err != nil {
		return err
	}
	address := "http://" + on.Addr().String() + "/"
	fmt.Fprint(a.Stdout, look.text(address, "to look"), act.text(address, "to look and act"))
	return server.Serve(ctx, on)
}

// dashboardToken is a token of the dashboard and its file.
type dashboardToken struct {
	secret, file string
	made         bool // by this start
}

// dashboardTokens are the tokens in a folder, to look and to act. The first start makes them.
func dashboardTokens(folder string) (look, act dashboardToken, err error) {
	look.file, act.file = filepath.Join(folder, lookFile), filepath.Join(folder, actFile)
	for _, token := range []*dashboardToken{&look, &act} {
		if token.secret, token.made, err = dashboard.Token(token.file); err != nil {
			return look, act, err
		}
	}
	return look, act, nil
}

// text names the address that opens the dashboard. The token itself is printed once.
func (t *dashboardToken) text(address, what string) string {
	if t.made {
		return fmt.Sprintf("open %senter?token=%s %s\n", address, t.secret, what)
	}
	return fmt.Sprintf("open %s %s; the token is in %s\n", address, what, t.file)
}
