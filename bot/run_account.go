package bot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// Whose orders and money a state file tells of: its exchange, and the key that it was last used with, of which a digest is kept.
const (
	exchangeBlob = "exchange"
	keyBlob      = "key"
)

// remembers is how long an exchange is sure to know an order that has ended.
const remembers = 30 * 24 * time.Hour

// checkAccount refuses a state file of another exchange or, as far as can be told, of another account: its orders would be nowhere, and what it
// takes for the strategies' own would be somebody else's.
func (r *runner) checkAccount(ctx context.Context, began bool) error {
	if !began {
		return nil
	}
	before, err := r.store.Blob(exchangeBlob)
	if err != nil {
		return err
	}
	if now := originOf(r.plan.Exchange.BaseURL); len(before) > 0 && !sameExchange(string(before), now) && string(before) != originOf(r.plan.Exchange.MovedFrom) {
		return r.plan.source.place(at([]string{"exchange", "base_url"}, fmt.Errorf("is at %s, and the orders and money in %s are at %s; name another bot.state or, where the exchange has moved, the old address in exchange.moved_from",
			now, r.plan.Bot.State, before)))
	}
	key, err := r.store.Blob(keyBlob)
	if err != nil || len(key) == 0 || string(key) == digestOf(r.plan.key) {
		return err
	}
	return r.checkKey(ctx)
}

// checkKey asks by a key that is new for the latest order that the exchange has taken.
func (r *runner) checkKey(ctx context.Context) error {
	r.log.Warn().Msg("the key is another than in the last run: it has to be of the same account")
	var last *state.OrderRow
	traded := map[market.ID]bool{} // the client knows no others
	for i := range r.plan.strategies {
		for _, m := range r.plan.strategies[i].Markets {
			traded[m.ID] = true
		}
	}
	err := r.store.Orders(0, func(o *state.OrderRow) error {
		if o.Reported && traded[o.Market] {
			row := *o
			last = &row
		}
		return nil
	})
	if err != nil || last == nil {
		return err
	}
	err = live.Insist(ctx, r.log, func() error {
		_, err := r.client.Order(ctx, last.Market, last.ClientOrderID, last.ExchangeID)
		return err
	})
	if !errors.Is(err, exchange.ErrCode(exchange.CodeNotFound)) || last.Done() && r.client.Now().Sub(last.Updated) > remembers {
		return nil // what else is wrong with the key will show
	}
	return r.plan.source.place(at([]string{"exchange", "key"}, fmt.Errorf("is another than in the last run, and the exchange knows nothing of order %s by it: it is of another account; name another bot.state", last.ClientOrderID)))
}

// originOf is scheme and host of an address, by which exchanges are told apart.
func originOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}

// sameExchange reports whether two addresses may be those of one exchange: one on this machine may have another port each time.
func sameExchange(a, b string) bool { return a == b || onThisMachine(a) && onThisMachine(b) }

func onThisMachine(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil {
		return false
	}
	address, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && address.IsLoopback()
}

// digestOf tells a key from others without telling it.
func digestOf(key string) string {
	sum := sha256.Sum256([]byte("tidemark account key " + key))
	return hex.EncodeToString(sum[:8])
}
