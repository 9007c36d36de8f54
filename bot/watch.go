package bot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/alert"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/dashboard"
	"github.com/tidemark-trading/tidemark/bot/host"
	"github.com/tidemark-trading/tidemark/bot/watch"
)

const watchHelp = `Watch bots on this or other machines through their dashboards. A bot that does not answer for
watch.silent (20 s), that is stopped, or that a strategy blocks raises an alert, with its last known open orders and
positions. configs/watch.toml shows every setting.

--act serves pages with the kill switch of each bot, for a phone: it cancels a silent bot's orders and sells its
positions at the exchange, as bot cancel-all --direct --flatten does, after the name of the bot was typed. For that
bots.NAME.config names the bot's config, and the keys that it names have to be on this machine.`

// watchFlags are the flags of `bot watch`.
type watchFlags struct {
	config string
	sets   []string
	act    bool
}

func watchCommand(a *app) *cobra.Command {
	f := &watchFlags{}
	c := &cobra.Command{
		Use: "watch", Short: "Be told when a bot is silent, and act for it", Args: onlyFlags, Long: watchHelp,
		Example: "  bot watch -c configs/watch.toml\n  bot watch -c configs/watch.toml --act",
		RunE:    a.enter(func(ctx context.Context, _ []string) error { return a.watch(ctx, f) }),
	}
	c.Flags().StringVarP(&f.config, "config", "c", "", "config `FILE`, as configs/watch.toml")
	c.Flags().StringArrayVar(&f.sets, "set", nil, "change one setting, `a.b.c=value`; may be repeated")
	c.Flags().BoolVar(&f.act, "act", false, "serve pages with the kill switch of each bot")
	return c
}

// watch runs the command until ctx ends.
func (a *app) watch(ctx context.Context, f *watchFlags) error {
	if f.config == "" {
		return config.Usagef("want a config: -c configs/watch.toml")
	}
	c, err := readConfig(f.config, f.sets, func(s *config.Source) (*config.WatchConfig, error) {
		return config.LoadWatch(s, a.Getenv)
	})
	if err != nil {
		return err
	}
	section := c.Alerts.Section()
	places, err := alert.NewReceivers(section, a.Getenv)
	var heart *alert.Heartbeat
	if err == nil {
		heart, err = alert.NewHeartbeat(section, a.Getenv)
	}
	if err != nil {
		return c.Source.Place(err)
	}
	log := console.Logger(a.Stderr, c.Watch.Log, a.Getenv)
	sender := alert.NewSender(places, heart, log)
	defer sender.Stop(alertsAtEnd)
	if len(places) == 0 {
		log.Warn().Msg("[alerts.to] has no receiver: a silent bot is told in this log alone")
	}
	setting := watch.Config{WatchConfig: c, Alerts: sender, Now: time.Now, Log: log}
	var door *watchDoor
	if f.act {
		if door, err = openWatchDoor(ctx, c); err != nil {
			return err
		}
		setting.Pages = door.address
		fmt.Fprint(a.Stdout, door.look.text(door.address, "to look"), door.act.text(door.address, "to look and act"))
	}
	w, err := watch.New(setting)
	if err != nil {
		return err
	}
	log.Info().Strs("bots", c.Names()).Stringer("silent", time.Duration(c.Watch.Silent)).Msg("bots are watched")
	sender.Begin()
	if door == nil {
		w.Run(ctx)
		return nil
	}
	return a.watchAndServe(ctx, w, door)
}

// watchDoor is where the pages of the watcher listen.
type watchDoor struct {
	on        net.Listener
	entrance  dashboard.Entrance
	tls       *host.Certificate // nil: none
	look, act dashboardToken
	address   string
}

// openWatchDoor makes the tokens where there are none, and listens.
func openWatchDoor(ctx context.Context, c *config.WatchConfig) (*watchDoor, error) {
	folder, section := c.Watch.Folder, c.Watch.Door()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	d, err := &watchDoor{}, error(nil)
	d.look.file, d.act.file = filepath.Join(folder, watch.LookFile), filepath.Join(folder, watch.ActFile)
	for _, token := range []*dashboardToken{&d.look, &d.act} {
		if token.of, token.made, err = dashboard.Token(token.file); err != nil {
			return nil, err
		}
	}
	if section.TLSCert != "" {
		if d.tls, err = host.NewCertificate(section.TLSCert, section.TLSKey); err != nil {
			return nil, fmt.Errorf("watch: %w", err)
		}
	}
	d.entrance = dashboard.Entrance{Look: d.look.of, Act: d.act.of, Secure: section.Secure(),
		Proxied: section.BehindProxy, Hosts: section.Hosts, Now: time.Now}
	if d.on, err = (&net.ListenConfig{}).Listen(ctx, "tcp", section.Listen); err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	d.address = addressOf(section, d.on.Addr().String())
	return d, nil
}

// watchAndServe watches, and serves the pages, until ctx ends.
func (a *app) watchAndServe(ctx context.Context, w *watch.Watcher, door *watchDoor) error {
	pages := &watch.Pages{Watcher: w, Flatten: a.flattenWatched}
	server := &http.Server{Handler: door.entrance.Handler(pages.Handler(ctx), door.on.Addr().String()),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10}
	if door.tls != nil {
		server.TLSConfig = door.tls.TLS()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	served := make(chan error, 1)
	go func() { defer cancel(); served <- host.ServeUntil(ctx, server, door.on, 2*time.Second) }()
	w.Run(ctx)
	pages.Wait()
	if err := <-served; err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	return nil
}

// flattenWatched is the kill switch for a watched bot. It asks no question at a terminal: the
// holdings tell what is held.
func (a *app) flattenWatched(ctx context.Context, b watch.Bot, say io.Writer) error {
	quiet := *a
	quiet.Stdin, quiet.Stdout, quiet.Stderr = strings.NewReader(""), say, say
	f := &actFlags{callerFlags: callerFlags{config: b.Config, state: b.Folder}, wait: 90 * time.Second,
		directFlags: directFlags{direct: true, flatten: true, by: b.By}}
	err := quiet.direct(ctx, f)
	if errors.Is(err, context.Canceled) {
		return errors.New("bot watch was stopped; the same again goes on")
	}
	return err
}
