package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/market"
)

// paper is the exchange of paper mode: simulated in this process, and kept in its own file beside
// the bot's. It has the markets, the rules, bid and ask of the exchange of the market data. The bot
// uses it through a client like any other: signing, journal, unknown outcomes and reconcile are
// those of live mode.
type paper struct {
	*sandbox.Exchange
	client  *rest.Client
	catalog *market.Catalog
	log     zerolog.Logger
	events  chan market.Event // of the feed, after the simulated exchange has processed them
	failed  bool
}

// openTrading makes the client for orders: that of the exchange, or in paper mode one of a
// simulated exchange.
func (r *runner) openTrading(ctx context.Context) error {
	began, err := r.checkMode()
	if err != nil {
		return err
	}
	if r.trading = r.client; !r.plan.Config.Bot.Paper() {
		return r.checkAccount(ctx, began)
	}
	path := filepath.Join(r.plan.Config.Bot.State, statedir.PaperFile)
	info, err := os.Stat(path)
	if gone := errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0; began && gone {
		return fmt.Errorf("%s is gone, or empty: without it %s speaks of orders and money that are nowhere; begin "+
			"anew with another bot.state", path, statedir.StateFile)
	}
	p := &paper{catalog: r.plan.Catalog, log: r.log, events: make(chan market.Event, 64)}
	config, err := r.plan.PaperExchange(path, r.client.Now())
	if err != nil {
		return err
	}
	if p.Exchange, err = sandbox.New(config); err != nil {
		return fmt.Errorf("simulated exchange of paper mode: %w", err)
	}
	r.paper = p
	key, served := &config.Accounts[0].Keys[0], http.Handler(p)
	if r.wrapPaper != nil {
		served = r.wrapPaper(p)
	}
	p.client, err = rest.New(rest.Config{
		BaseURL: "http://127.0.0.1", Key: rest.NewSecret(key.Key), Secret: rest.NewSecret(key.Secret),
		Window: market.Duration(r.plan.Config.Exchange.Window), Transport: inProcess{served},
	})
	if err != nil {
		return err
	}
	p.client.Use(p.catalog)
	r.trading = p.client
	return errors.Join(p.client.Sync(ctx), p.begin(ctx, r.client))
}

// checkMode refuses a state folder of the other mode. began reports whether the folder was traded
// with at all.
func (r *runner) checkMode() (began bool, err error) {
	before, err := r.store.Blob(statedir.ModeBlob)
	if err != nil {
		return false, err
	}
	account, err := r.store.Blob(statedir.PartPrefix + engine.PartAccount)
	if err != nil {
		return false, err
	}
	began = account != nil
	if (began || before != nil) && string(before) != r.plan.Config.Bot.FolderMode() {
		return began, r.plan.Config.Source.Place(config.Keyf([]string{"bot", "mode"},
			"is %s, and the state folder %s was traded with in mode %s; name another in bot.state",
			r.plan.Config.Bot.Mode, r.plan.Config.Bot.State, before))
	}
	return began, nil
}

// begin gives the simulated exchange the rules and prices of the real one, before trading.
func (p *paper) begin(ctx context.Context, data exchange.MarketData) error {
	for _, m := range p.catalog.Markets() {
		if err := p.SetRules(m.Name, m); err != nil {
			return err
		}
	}
	var prices, books []market.Ticker
	err := live.RetryUntilReached(ctx, p.log, func() (err error) {
		if prices, err = data.TickerPrices(ctx, nil); err == nil || errors.Is(err, exchange.ErrUnits) {
			books, err = data.TickerBooks(ctx, nil)
		}
		if errors.Is(err, exchange.ErrUnits) { // the other markets' prices are there
			err = nil
		}
		return err
	})
	if err != nil {
		return err
	}
	for i := range prices {
		t := &prices[i]
		if at := slices.IndexFunc(books, func(b market.Ticker) bool { return b.Market == t.Market }); at >= 0 {
			t.Bid, t.Ask = books[at].Bid, books[at].Ask
		}
		if err := p.onEvent(&market.Event{Kind: market.KindTicker, Ticker: t}); err != nil {
			return err
		}
	}
	return nil
}

// relay gives the feed's events to the simulated exchange, then to the loop, until ctx ends. Queue:
// 64 events; an event waits for room, and the feed meanwhile drops prices.
func (p *paper) relay(ctx context.Context, from <-chan market.Event) {
	for {
		select {
		case ev := <-from:
			if err := p.onEvent(&ev); err != nil && !p.failed {
				p.failed = true
				p.log.Error().Err(err).Msg("the simulated exchange has stopped")
			}
			select {
			case p.events <- ev:
			case <-ctx.Done():
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// onEvent sets prices, status and rules of the simulated exchange.
func (p *paper) onEvent(ev *market.Event) error {
	switch ev.Kind {
	case market.KindTicker:
		t := ev.Ticker
		return p.SetQuote(p.catalog.Market(t.Market).Name, t.Last, t.Bid, t.Ask)
	case market.KindMarketStatus:
		return p.SetRules(ev.Rules.Name, ev.Rules)
	}
	return nil
}

// inProcess is an http.RoundTripper that calls a handler of this process.
type inProcess struct{ handler http.Handler }

// RoundTrip returns the handler's answer.
func (t inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	arriving := r.WithContext(r.Context())
	arriving.RemoteAddr = "127.0.0.1:1"
	if arriving.Body == nil {
		arriving.Body = http.NoBody
	}
	w := &answerInProcess{header: http.Header{}, status: http.StatusOK}
	t.handler.ServeHTTP(w, arriving)
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header,
		Body:   io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}

// answerInProcess is an http.ResponseWriter in memory.
type answerInProcess struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header returns the header of the answer.
func (a *answerInProcess) Header() http.Header { return a.header }

// WriteHeader sets the status.
func (a *answerInProcess) WriteHeader(status int) { a.status = status }

// Write appends to the body.
func (a *answerInProcess) Write(data []byte) (int, error) { return a.body.Write(data) }
