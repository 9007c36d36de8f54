package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/dashboard"
	"github.com/tidemark-trading/tidemark/bot/host"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/research/trials"
)

const dashboardHelp = `Show a bot on web pages of this machine: how it stands, its orders with their stories, profit and
round trips. The first start makes two tokens and prints each once as an address: one to look, and one to act
too (halt, resume, cancel, cancel-all, flatten). From another machine: ssh -L 8787:127.0.0.1:8787 SERVER

With -c, the section [dashboard] of the config holds for the flags that are not given.`

// The files with the dashboard's tokens.
const (
	lookFile = "dashboard.token"
	actFile  = "dashboard.act.token"
)

// dashboardFlags are the flags of `bot dashboard`.
type dashboardFlags struct {
	callerFlags
	bots, tokens, out, candles string
	door                       config.DashboardSection
}

func dashboardCommand(a *app) *cobra.Command {
	f := &dashboardFlags{}
	c := &cobra.Command{
		Use: "dashboard", Short: "Show a bot on web pages", Args: onlyFlags, Long: dashboardHelp,
		Example: "  bot dashboard -c configs/sandbox.toml\n" +
			"  bot dashboard --state bots/live --listen 127.0.0.1:9000\n  bot dashboard --bots 'bots/*'",
	}
	c.RunE = a.enter(func(ctx context.Context, _ []string) error {
		if err := f.readSection(c.Flags().Changed); err != nil {
			return err
		}
		return a.dashboard(ctx, f)
	})
	c.Flags().StringVarP(&f.config, "config", "c", "", "the bot that runs with this config `FILE`")
	c.Flags().StringVar(&f.state, "state", "", "the bot whose state is in this `FOLDER`")
	c.Flags().StringVar(&f.bots, "bots", "", "every bot whose state folder matches `PATTERN`, like 'bots/*' in quotes")
	c.Flags().StringVar(&f.tokens, "tokens", "",
		"`FOLDER` of the tokens; without it the state folder, or with --bots the one above the matching folders")
	d := &f.door
	c.Flags().StringVar(&d.Listen, "listen", "127.0.0.1:8787",
		"`ADDRESS` to listen on; port 0: a free one; other machines need --tls-cert or --behind-proxy")
	c.Flags().StringVar(&d.TLSCert, "tls-cert", "", "`FILE` with a certificate; it is read again when it changes")
	c.Flags().StringVar(&d.TLSKey, "tls-key", "", "`FILE` with its key")
	c.Flags().BoolVar(&d.BehindProxy, "behind-proxy", false, "a proxy does TLS; its X-Forwarded headers are read")
	c.Flags().StringArrayVar(&d.Hosts, "host", nil, "`NAME` that browsers use; may be repeated")
	c.Flags().BoolVar(&d.Public, "public", false, "show percentages of finished days to all, at /public")
	c.Flags().BoolVar(&d.PublicNames, "public-names", false, "name bot and strategies there")
	c.Flags().StringVar(&f.out, "out", "out", "`DIR` with results of backtests, searches and gaps")
	c.Flags().StringVar(&f.candles, "db", config.DefaultStore,
		"candle store `FILE`: the ledger of tries beside it says how much was searched")
	return c
}

// readSection takes the section of the config, where there is one, for flags that are not given.
func (f *dashboardFlags) readSection(given func(flag string) bool) error {
	if f.config == "" {
		return nil
	}
	c, err := readConfig(f.config, nil, config.LoadRun)
	if err != nil {
		return err
	}
	if err := c.Source.Place(c.Dashboard.Check()); err != nil {
		return err
	}
	d, flags := c.Dashboard, f.door
	d.Listen = cmp.Or(d.Listen, flags.Listen)
	for flag, lay := range map[string]func(){
		"listen": func() { d.Listen = flags.Listen }, "tls-cert": func() { d.TLSCert = flags.TLSCert },
		"tls-key": func() { d.TLSKey = flags.TLSKey }, "behind-proxy": func() { d.BehindProxy = flags.BehindProxy },
		"host": func() { d.Hosts = flags.Hosts }, "public": func() { d.Public = flags.Public },
		"public-names": func() { d.PublicNames = flags.PublicNames },
	} {
		if given(flag) {
			lay()
		}
	}
	f.door = d
	return nil
}

// dashboard serves the pages until ctx ends.
func (a *app) dashboard(ctx context.Context, f *dashboardFlags) error {
	if f.door.Listen == "" {
		return config.Usagef("--listen: want an address, like 127.0.0.1:8787")
	}
	if err := f.door.Check(); err != nil {
		return asFlag(err)
	}
	c := &dashboard.Config{Out: f.out, Ledger: trials.Beside(f.candles).Path(),
		Log: console.Logger(a.Stderr, "info", a.Getenv)}
	tokens, err := f.choose(c)
	if err != nil {
		return err
	}
	site, err := openDashboard(ctx, &f.door, tokens, c)
	if err != nil {
		return err
	}
	fmt.Fprint(a.Stdout, site.look.text(site.address, "to look"), site.act.text(site.address, "to look and act"))
	return site.server.Serve(ctx, site.on)
}

// choose sets the bots of a dashboard, and returns the folder of its tokens.
func (f *dashboardFlags) choose(c *dashboard.Config) (tokens string, err error) {
	if f.bots == "" {
		if tokens, err = f.folder(); err != nil {
			return "", err
		}
		c.Bot = dashboard.Bot{Of: operator.Target{Folder: tokens}, Name: filepath.Base(tokens)}
	} else {
		if f.config != "" || f.state != "" {
			return "", config.Usagef("--bots has several bots, -c and --state one; give one of them")
		}
		if _, err := botsIn(f.bots); err != nil {
			return "", err
		}
		c.Fleet = func() ([]dashboard.Bot, error) { return botsIn(f.bots) }
		for tokens = f.bots; strings.ContainsAny(tokens, `*?[\`); tokens = filepath.Dir(tokens) {
		}
	}
	return cmp.Or(f.tokens, tokens), nil
}

// botsIn are the bots whose state folders match a pattern, by their names. Folders without a state
// file are left out: a bot begins with one.
func botsIn(pattern string) (bots []dashboard.Bot, err error) {
	folders, err := filepath.Glob(pattern)
	if err != nil {
		return nil, config.Usagef("--bots %s: %w", pattern, err)
	}
	taken := map[string]string{}
	for _, one := range folders {
		if _, err := os.Stat(filepath.Join(one, statedir.StateFile)); err != nil {
			continue
		}
		name := filepath.Base(one)
		if other, is := taken[name]; is {
			return nil, config.Usagef("--bots %s: %s and %s have one name; rename a folder", pattern, other, one)
		}
		taken[name] = one
		bots = append(bots, dashboard.Bot{Of: operator.Target{Folder: one}, Name: name})
	}
	return bots, nil
}

// serveBeside serves the dashboard of a bot in its process, until ctx ends. The log names the files
// of the tokens, never a token. The pages of files are left out: to read them would take time that
// the bot needs.
func serveBeside(ctx context.Context, c *config.Run, log zerolog.Logger) error {
	// at the first start, the tokens may be made before the bot makes its folder
	if err := os.MkdirAll(c.Bot.State, 0o700); err != nil {
		return fmt.Errorf("dashboard: %w", err)
	}
	site, err := openDashboard(ctx, &c.Dashboard, c.Bot.State, &dashboard.Config{
		Bot: dashboard.Bot{Of: operator.Target{Folder: c.Bot.State, Beside: true}, Name: filepath.Base(c.Bot.State)},
		Log: log})
	if err != nil {
		return err
	}
	log.Info().Str("address", site.address).Str("token_to_look", site.look.file).Str("token_to_act", site.act.file).
		Msg("the dashboard listens")
	return site.server.Serve(ctx, site.on)
}

// asFlag names the flag in the place of the key of a config.
func asFlag(err error) error {
	var mistake *config.KeyError
	if !errors.As(err, &mistake) {
		return err
	}
	path := mistake.Path()
	flag := strings.ReplaceAll(path[len(path)-1], "_", "-")
	if flag == "hosts" {
		flag = "host"
	}
	return config.Usagef("%w", mistake.Named("--"+flag))
}

// dashboardSite is a dashboard that listens.
type dashboardSite struct {
	server    *dashboard.Server
	on        net.Listener
	look, act dashboardToken
	address   string // for browsers, with a slash at its end
}

// openDashboard listens, then makes tokens in a folder where there are none: their addresses are
// printed once, and no start that fails on a busy port may use that up. Serve its server.
func openDashboard(ctx context.Context, door *config.DashboardSection, tokens string,
	c *dashboard.Config) (_ *dashboardSite, err error) {
	site := &dashboardSite{}
	site.on, err = (&net.ListenConfig{}).Listen(ctx, "tcp", door.Listen)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("dashboard: %s is in use by another program, perhaps by the bot's own dashboard; stop "+
			"that one, or choose another port", door.Listen)
	case err != nil:
		return nil, fmt.Errorf("dashboard: %w", err)
	}
	defer func() {
		if err != nil {
			_ = site.on.Close()
		}
	}()
	if site.look, site.act, err = dashboardTokens(tokens); err != nil {
		return nil, err
	}
	c.Look, c.Act, c.Proxied, c.Hosts = site.look.of, site.act.of, door.BehindProxy, door.Hosts
	c.Public, c.PublicNames = door.Public, door.PublicNames
	if door.TLSCert != "" {
		if c.Certificate, err = host.NewCertificate(door.TLSCert, door.TLSKey); err != nil {
			return nil, fmt.Errorf("dashboard: %w", err)
		}
	}
	if site.server, err = dashboard.New(*c); err != nil {
		return nil, err
	}
	site.address = addressOf(door, site.on.Addr().String())
	return site, nil
}

// addressOf is the address for browsers.
func addressOf(door *config.DashboardSection, listens string) string {
	if door.BehindProxy {
		return "https://" + door.Hosts[0] + "/"
	}
	scheme := "http"
	if door.TLSCert != "" {
		scheme = "https"
	}
	host, port, _ := net.SplitHostPort(listens) // a listener's address
	if len(door.Hosts) > 0 {
		host = door.Hosts[0]
	} else if at, err := netip.ParseAddr(host); err == nil && at.IsUnspecified() {
		host = "127.0.0.1"
	}
	return scheme + "://" + net.JoinHostPort(host, port) + "/"
}

// dashboardToken is a token of the dashboard and its file.
type dashboardToken struct {
	of   *host.Fresh[string]
	made string // by this start; empty: it was there
	file string
}

// dashboardTokens are the tokens in a folder, to look and to act. The first start makes them.
func dashboardTokens(folder string) (look, act dashboardToken, err error) {
	look.file, act.file = filepath.Join(folder, lookFile), filepath.Join(folder, actFile)
	for _, token := range []*dashboardToken{&look, &act} {
		if token.of, token.made, err = dashboard.Token(token.file); err != nil {
			return look, act, err
		}
	}
	return look, act, nil
}

// text names the address that opens the dashboard. The token itself is printed once.
func (t *dashboardToken) text(address, what string) string {
	if t.made != "" {
		return fmt.Sprintf("open %senter?token=%s %s\n", address, t.made, what)
	}
	return fmt.Sprintf("open %s %s; the token is in %s\n", address, what, t.file)
}
