package plan

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
)

// Access is a config of `bot run` with the keys of its account: all that it takes to ask the
// exchange.
type Access struct {
	Config      *config.Run
	Key, secret string
	Transport   http.RoundTripper // to the exchange; nil: over the network
	Now         func() time.Time  // the machine's clock; nil: that it has
}

// NewAccess finds key and secret where a config says that they are. It looks at nothing else.
func NewAccess(c *config.Run, getenv func(string) string) (*Access, error) {
	a := &Access{Config: c}
	return a, c.Source.Place(a.readKeys(getenv))
}

// readKeys finds key and secret.
func (a *Access) readKeys(getenv func(string) string) error {
	e, keys := &a.Config.Exchange, config.Secrets{Getenv: getenv}
	key, err := keys.Read([]string{"exchange"}, "key", e.Key, e.KeyFile, e.KeyEnv)
	if err != nil {
		return err
	}
	words, err := keys.Read([]string{"exchange"}, "secret", e.Secret, e.SecretFile, e.SecretEnv)
	if err != nil {
		return err
	}
	a.Key, a.secret = key.Text, words.Text
	if a.Config.Bot.Mode == config.ModePaper && a.Key == "" && a.secret == "" {
		return nil // market data is public
	}
	if a.Key == "" || a.secret == "" {
		return config.Keyf([]string{"exchange", "key"},
			"key and secret are missing; name them by key_env and secret_env, or key_file and secret_file")
	}
	return nil
}

// Client makes the client of the exchange. Its budget follows the ledger's rules.
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

// allMarkets stands behind the name of an endpoint whose weight for all markets is meant.
const allMarkets = " all"

// weightsOf are those of the config as the client takes them: over the table's.
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

// Listing is what the exchange offers.
type Listing struct {
	Assets  []rest.Asset
	Markets []rest.Market
}

// Ask asks the exchange for its time, assets and markets.
func (a *Access) Ask(ctx context.Context, c *rest.Client) (l Listing, err error) {
	if err = c.Sync(ctx); err != nil {
		return l, fmt.Errorf("ask %s: %w", a.Config.Exchange.Origin(), err)
	}
	if l.Assets, err = c.Assets(ctx, ""); err == nil {
		l.Markets, err = c.Markets(ctx, "")
	}
	if err == nil && (len(l.Assets) == 0 || len(l.Markets) == 0) {
		err = errors.New("the exchange lists no markets, or no assets") // which is an answer that went wrong
	}
	return l, err
}

// AskUntil asks until the exchange answers, or ctx ends.
func (a *Access) AskUntil(ctx context.Context, c *rest.Client, log zerolog.Logger) (l Listing, err error) {
	err = live.RetryUntilReached(ctx, log, func() (err error) {
		l, err = a.Ask(ctx, c)
		return err
	})
	return l, err
}
