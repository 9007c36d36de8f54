package candles

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// marketsReport is what a record of markets holds, as a program reads it.
type marketsReport struct {
	Day     string `json:"day"`
	AtMS    int64  `json:"at_ms"` // the exchange's clock when it was asked
	Markets int    `json:"markets"`
	Trading int    `json:"trading"`
	Added   bool   `json:"added"` // false: the day had a record already, which stays
}

// fetchMarkets stores the record of today's markets.
func (a *commands) fetchMarkets(ctx context.Context, f *fetchFlags) error {
	if f.market != "" || f.interval != "" || f.from != "" || f.to != "" {
		return config.Usagef("--markets records all markets as they are now; it goes without --market, --interval, " +
			"--from and --to")
	}
	path, err := f.path()
	if err != nil {
		return err
	}
	remote, err := f.remote()
	if err != nil {
		return err
	}
	client, err := a.publicClient(remote)
	if err != nil {
		return config.Usagef("base URL or prefix of the exchange: %w", err)
	}
	defer client.Close()
	w := &fetcher{client: client, path: path, tell: func(text string) { console.Tell(a.Stderr, text) }}
	kept, added, err := w.recordMarkets(ctx, remote.Origin())
	if err != nil {
		return absent(err, remote.BaseURL)
	}
	report := reportOf(kept, added)
	if f.json {
		return console.PrintJSON(a.Stdout, report)
	}
	_, err = fmt.Fprintln(a.Stdout, report)
	return err
}

// recordMarkets asks the exchange and stores its answers.
func (f *fetcher) recordMarkets(ctx context.Context, origin string) (kept *candles.Listing, added bool, err error) {
	if err := f.client.Sync(ctx); err != nil {
		return nil, false, err
	}
	at := f.client.Now()
	markets, err := f.client.Markets(ctx, "")
	if err != nil {
		return nil, false, fmt.Errorf("markets: %w", err)
	}
	tickers, err := f.client.Tickers24h(ctx, "")
	if err != nil {
		return nil, false, fmt.Errorf("volumes of 24 hours: %w", err)
	}
	listing, err := listingOf(at, origin, markets, tickers)
	if err != nil {
		return nil, false, err
	}
	err = f.with(ctx, func(store *candles.Store) (err error) {
		kept, added, err = store.AddListing(listing)
		return err
	})
	return kept, added, err
}

// listingOf joins the answers, by name of market. It refuses an answer without a market, and names
// that a store cannot hold.
func listingOf(at market.Time, origin string, markets []rest.Market, tickers []rest.Ticker24h) (*candles.Listing,
	error) {
	if len(markets) == 0 {
		return nil, errors.New("the exchange lists no markets") // a faulty answer
	}
	volumes := make(map[string]*rest.Ticker24h, len(tickers))
	for i := range tickers {
		volumes[tickers[i].Market] = &tickers[i]
	}
	l := &candles.Listing{At: at, Exchange: origin}
	for i := range markets {
		m := &markets[i]
		if err := candles.CheckMarketName(m.Name); err != nil {
			return nil, err
		}
		volume := cmp.Or(volumes[m.Name], &rest.Ticker24h{})
		l.Markets = append(l.Markets, candles.Listed{
			Market: m.Name, Status: m.Status, TickSize: string(m.TickSize),
			MinOrderInBase: string(m.MinOrderInBaseAsset), MinOrderInQuote: string(m.MinOrderInQuoteAsset),
			MaxOrderInBase: string(m.MaxOrderInBaseAsset), MaxOrderInQuote: string(m.MaxOrderInQuoteAsset),
			QuantityDecimals: m.QuantityDecimals, NotionalDecimals: m.NotionalDecimals,
			MaxOpenOrders: uint32(min(max(m.MaxOpenOrders, 0), math.MaxUint32)), FeeCategory: m.FeeCategory,
			Volume24h: string(volume.Volume), VolumeQuote24h: string(volume.VolumeQuote), Last: string(volume.Last)})
	}
	slices.SortFunc(l.Markets, func(a, b candles.Listed) int { return strings.Compare(a.Market, b.Market) })
	for i := range l.Markets[1:] {
		if name := l.Markets[i].Market; name == l.Markets[i+1].Market {
			return nil, fmt.Errorf("the exchange lists %s twice: %w", name, rest.ErrMismatch)
		}
	}
	return l, nil
}

func reportOf(l *candles.Listing, added bool) *marketsReport {
	r := &marketsReport{Day: day(l.At), AtMS: l.At.Millis(), Markets: len(l.Markets), Added: added}
	for i := range l.Markets {
		if l.Markets[i].Trading() {
			r.Trading++
		}
	}
	return r
}

// String is one line, for the log of cron.
func (r *marketsReport) String() string {
	text := fmt.Sprintf("markets of %s: %d recorded, %d of them trading", r.Day, r.Markets, r.Trading)
	if !r.Added {
		text += fmt.Sprintf("; the record of %s stays", timeOfMillis(r.AtMS))
	}
	return text
}
