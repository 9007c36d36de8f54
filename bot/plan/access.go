package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/stream"
	"github.com/tidemark-trading/tidemark/market"
)

// Access is a config of `bot run` with the key and secret of its account: enough to send requests
// to the exchange.
type Access struct {
	Config      *config.Run
	Key, secret string
	Transport   http.RoundTripper // to the exchange; nil: over the network
	Now         func() time.Time  // the machine's clock; nil: time.Now
}

// NewAccess reads key and secret from the places that a config names. It checks nothing else.
func NewAccess(c *config.Run, getenv func(string) string) (*Access, error) {
	a := &Access{Config: c}
	return a, c.Source.Place(a.readKeys(getenv))
}

// readKeys reads key and secret. Only paper mode may have none.
func (a *Access) readKeys(getenv func(string) string) error {
	e, keys := &a.Config.Exchange, config.Secrets{Getenv: getenv}
	key, err := keys.Read([]string{"exchange"}, "key", e.Key, e.KeyFile, e.KeyEnv)
	if err != nil {
		return err
	}
	secret, err := keys.Read([]string{"exchange"}, "secret", e.Secret, e.SecretFile, e.SecretEnv)
	if err != nil {
		return err
	}
	a.Key, a.secret = key.Text, secret.Text
	if a.Config.Bot.Paper() && a.Key == "" && a.secret == "" {
		return nil // market data is public
	}
	if a.Key == "" || a.secret == "" {
		return config.Keyf([]string{"exchange", "key"},
			"key and secret are missing; name them by key_env and secret_env, or key_file and secret_file")
	}
	return nil
}

// Client makes the client of the exchange with a weight budget.
func (a *Access) Client(budget rest.Budget) (*rest.Client, error) {
	e := &a.Config.Exchange
	c, err := rest.New(rest.Config{
		BaseURL: e.BaseURL, Key: rest.NewSecret(a.Key), Secret: rest.NewSecret(a.secret), Prefix: e.Prefix,
		Window:  market.Duration(e.Window),
		Weights: weightsOf(e), SignPublic: e.SignMarketData, Budget: budget,
		Transport: a.Transport, Now: a.Now,
	})
	if err != nil {
		return nil, a.Config.Source.Place(config.At([]string{"exchange"}, err))
	}
	return c, nil
}

// Stream is the config of the connection to the exchange's WebSocket: authenticated where private
// is set, or where market data is signed. now is the exchange's clock, that of the client.
func (a *Access) Stream(client *rest.Client, budget rest.Budget, private bool, log zerolog.Logger) stream.Config {
	e := &a.Config.Exchange
	config := stream.Config{BaseURL: e.BaseURL, Window: market.Duration(e.Window), Now: client.Now, Sync: client.Sync,
		Budget: budget, Transport: a.Transport, Log: log}
	if private || e.SignMarketData {
		config.Key, config.Secret = rest.NewSecret(a.Key), rest.NewSecret(a.secret)
	}
	return config
}

// allMarkets is the suffix of an endpoint's name for the weight of a request for all markets.
const allMarkets = " all"

// weightsOf returns the weights of the config over those of the client's table.
func weightsOf(e *config.ExchangeSection) map[string]rest.Weight {
	changed := map[string]rest.Weight{}
	for given, points := range e.Weights {
		name, all := strings.CutSuffix(given, allMarkets)
		w, known := changed[name]
		if !known {
			w, _ = rest.WeightOf(name)
		}
		if all {
			w.All = int(points)
		} else {
			w.One = int(points)
		}
		changed[name] = w
	}
	return changed
}

// Listing lists the assets and markets of the exchange.
type Listing struct {
	Assets  []rest.Asset
	Markets []rest.Market
	// For universes: the volumes of the last 24 hours, and the exchange's clock when they were
	// asked for.
	Volumes []rest.Ticker24h
	At      market.Time
}

// Listing synchronises the client's clock and requests the assets and markets.
func (a *Access) Listing(ctx context.Context, c *rest.Client) (l Listing, err error) {
	if err = c.Sync(ctx); err != nil {
		return l, fmt.Errorf("ask %s: %w", a.Config.Exchange.Origin(), err)
	}
	if l.Assets, err = c.Assets(ctx, ""); err == nil {
		l.Markets, err = c.Markets(ctx, "")
	}
	if l.At = c.Now(); err == nil && a.hasUniverse() {
		l.Volumes, err = c.Tickers24h(ctx, "")
	}
	if err == nil {
		err = l.check(a.Config.Exchange.Origin())
	}
	return l, err
}

// errEmpty is wrapped where an exchange lists no markets, or no assets: mostly a faulty answer.
var errEmpty = errors.New("look whether exchange.base_url is that of an exchange; a sandbox needs a " +
	"[markets.NAME] that is not delisted")

// check requires a market and an asset. A row without a name is none.
func (l *Listing) check(origin string) error {
	named := func(list int, name func(i int) string) bool {
		for i := range list {
			if name(i) != "" {
				return true
			}
		}
		return false
	}
	switch {
	case !named(len(l.Markets), func(i int) string { return l.Markets[i].Name }):
		return fmt.Errorf("%s answers, and the exchange lists no markets: %w", origin, errEmpty)
	case !named(len(l.Assets), func(i int) string { return l.Assets[i].Symbol }):
		return fmt.Errorf("%s answers, and the exchange lists no assets: %w", origin, errEmpty)
	}
	return nil
}

// hasUniverse reports whether any strategy trades a universe.
func (a *Access) hasUniverse() bool {
	for _, s := range a.Config.Strategies {
		if s.Universe != nil {
			return true
		}
	}
	return false
}

// emptyTimes in a row a list without markets is no slip of the exchange: a minute has gone.
const emptyTimes = 7

// AwaitListing repeats Listing until the exchange answers, or ctx ends. An exchange that lists
// nothing for a minute is an error.
func (a *Access) AwaitListing(ctx context.Context, c *rest.Client, log zerolog.Logger) (l Listing, err error) {
	empty, nothing := 0, error(nil)
	err = live.RetryUntilReached(ctx, log, func() (err error) {
		if l, err = a.Listing(ctx, c); !errors.Is(err, errEmpty) {
			empty = 0
			return err
		}
		if empty++; empty == emptyTimes {
			nothing = err
			return nil
		}
		return exchange.False(err)
	})
	return l, cmp.Or(nothing, err)
}

// credentialHints are what to do about an exchange's refusal of a key (venue-facts 2.2).
var credentialHints = map[int]string{
	301: "the key is not 64 characters long: copy it again",
	304: "the exchange finds the request too old: widen exchange.window",
	305: "the exchange has no such key, or it is not active: copy it again, or make a new one",
	306: "confirm the key by the exchange's e-mail",
	307: "add this machine's address to those of the key",
	309: "the secret does not belong to the key: copy both again",
	310: "give the key the right to trade",
	311: "give the key the right to read",
}

// KeyHint is what to do about an exchange's refusal of the key; empty where an error is none.
func KeyHint(err error) string {
	var refusal *exchange.Error
	if errors.As(err, &refusal) {
		return credentialHints[refusal.Code]
	}
	return ""
}

// NewWeightBudget returns a weight budget as a config says. now is the exchange's clock; the
// budget calls warn with its warnings.
func NewWeightBudget(e *config.ExchangeSection, now func() market.Time, warn func(rest.Warning)) *rest.WeightBudget {
	return rest.NewWeightBudget(rest.LedgerConfig{
		Now: now, After: after, Prefix: e.Prefix, PerKey: int(e.PerKey), PerIP: int(e.PerIP), Warn: warn,
	})
}

// after calls f in a new goroutine after d, unless stop is called before. The budget has no clock.
func after(d market.Duration, f func()) (stop func() bool) { return time.AfterFunc(d, f).Stop }
