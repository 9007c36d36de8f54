package bot

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

// access is a config of `bot run` with the keys of its account: all that it takes to ask the exchange.
type access struct {
	config      *config.Run
	key, secret string
	transport   http.RoundTripper // to the exchange; nil: over the network
	now         func() time.Time  // the machine's clock; nil: that it has
}

// newAccess finds key and secret where a config says that they are. It looks at nothing else.
func newAccess(c *config.Run, getenv func(string) string) (*access, error) {
	a := &access{config: c}
	return a, c.Source.Place(a.readKeys(getenv))
}

// readKeys finds key and secret.
func (a *access) readKeys(getenv func(string) string) error {
	e, keys := &a.config.Exchange, config.Secrets{Getenv: getenv}
	key, err := keys.Read([]string{"exchange"}, "key", e.Key, e.KeyFile, e.KeyEnv)
	if err != nil {
		return err
	}
	words, err := keys.Read([]string{"exchange"}, "secret", e.Secret, e.SecretFile, e.SecretEnv)
	if err != nil {
		return err
	}
	a.key, a.secret = key.Text, words.Text
	if a.config.Bot.Mode == config.ModePaper && a.key == "" && a.secret == "" {
		return nil // market data is public
	}
	if a.key == "" || a.secret == "" {
		return config.Keyf([]string{"exchange", "key"}, "key and secret are missing; name them by key_env and secret_env, or key_file and secret_file")
	}
	return nil
}

// client makes the client of the exchange. Its budget follows the ledger's rules.
func (a *access) client(budget rest.Budget) (*rest.Client, error) {
	e := &a.config.Exchange
	c, err := rest.New(rest.Config{
		BaseURL: e.BaseURL, Key: rest.NewSecret(a.key), Secret: rest.NewSecret(a.secret), Prefix: e.Prefix, Window: market.Duration(e.Window),
		AllowWithdrawals: e.AllowWithdrawals, Weights: weightsOf(e), SignPublic: e.SignMarketData, Budget: budget,
		Transport: a.transport, Now: a.now,
	})
	if err != nil {
		return nil, a.config.Source.Place(config.At([]string{"exchange"}, err))
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

// listing is what the exchange offers.
type listing struct {
	Assets  []rest.Asset
	Markets []rest.Market
}

// ask asks the exchange for its time, assets and markets.
func (a *access) ask(ctx context.Context, c *rest.Client) (l listing, err error) {
	if err = c.Sync(ctx); err != nil {
		return l, fmt.Errorf("ask %s: %w", a.config.Exchange.Origin(), err)
	}
	if l.Assets, err = c.Assets(ctx, ""); err == nil {
		l.Markets, err = c.Markets(ctx, "")
	}
	if err == nil && (len(l.Assets) == 0 || len(l.Markets) == 0) {
		err = errors.New("the exchange lists no markets, or no assets") // which is an answer that went wrong
	}
	return l, err
}

// askUntil asks until the exchange answers, or ctx ends.
func (a *access) askUntil(ctx context.Context, c *rest.Client, log zerolog.Logger) (l listing, err error) {
	err = live.Insist(ctx, log, func() (err error) {
		l, err = a.ask(ctx, c)
		return err
	})
	return l, err
}
