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
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// marketsReport describes a record of markets, as a program reads it.
type marketsReport struct {
	Day     string `json:"day"`
	AtMS    int64  `json:"at_ms"` // the exchange's clock when it was asked
	Markets int    `json:"markets"`
	Trading int    `json:"trading"`
	Added   bool   `json:"added"` // false: the day had a record already, which stays
	Fees    int    `json:"fees"`  // markets with the account's fees
}

// fetchMarkets stores the record of today's markets.
func (a *commands) fetchMarkets(ctx context.Context, f *fetchFlags) error {
	if f.market != "" || f.interval != "" || f.from != "" || f.to != "" {
		return config.Usagef("--markets records all markets as they are now; it goes without --market, --interval, " +
			"--from and --to")
	}
	w, remote, err := a.fetcher(f)
	if err != nil {
		return err
	}
	defer w.client.Close()
	fees, err := a.feeClient(f)
	if err != nil {
		return err
	}
	if fees != nil {
		defer fees.Close()
	}
	kept, added, err := w.recordMarkets(ctx, remote.Origin(), fees)
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

// feeClient is a client of the account whose fees are recorded; nil: there is no key. A key that
// cannot be read is told, and costs only the fees: the record of a day cannot be made up later.
func (a *commands) feeClient(f *fetchFlags) (*rest.Client, error) {
	c, err := f.runConfig()
	if err != nil || c == nil {
		return nil, err
	}
	c.Exchange.BaseURL = cmp.Or(f.baseURL, c.Exchange.BaseURL)
	c.Exchange.Prefix = cmp.Or(f.prefix, c.Exchange.Prefix)
	access, err := plan.NewAccess(c, a.Getenv)
	if err != nil {
		console.Tell(a.Stderr, noFees(err))
		return nil, nil
	}
	if access.Key == "" {
		return nil, nil
	}
	var client *rest.Client
	client, err = access.Client(plan.NewWeightBudget(&c.Exchange, func() market.Time { return client.Now() },
		func(w rest.Warning) { console.Tell(a.Stderr, w.String()) }))
	return client, err
}

// noFees says that a record is made without fees.
func noFees(why error) string { return fmt.Sprintf("the record has no fees of the account: %v", why) }

// recordMarkets asks the exchange and stores its answers, with the fees of an account where fees is
// not nil.
func (f *fetcher) recordMarkets(ctx context.Context, origin string, fees *rest.Client) (kept *candles.Listing,
	added bool, err error) {
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
	if fees != nil {
		if err := addFees(ctx, fees, listing); err != nil {
			f.tell(noFees(err))
		}
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

// addFees asks for the account's fees, once for each fee category of each quote asset, and adds
// them to the markets. After an error no market has any.
func addFees(ctx context.Context, client *rest.Client, l *candles.Listing) error {
	if err := client.Sync(ctx); err != nil {
		return err
	}
	type kind struct{ quote, category string }
	asked, all := map[kind]rest.Rates{}, make([]rest.Rates, len(l.Markets))
	for i := range l.Markets {
		m := &l.Markets[i]
		_, quote, err := market.SplitName(m.Market)
		if err != nil {
			return err
		}
		of := kind{quote, m.FeeCategory}
		rates, known := asked[of]
		if !known {
			if rates, err = client.Fees(ctx, m.Market, ""); err != nil {
				return fmt.Errorf("fees of %s: %w", m.Market, err)
			}
			asked[of] = rates
		}
		all[i] = rates
	}
	for i := range l.Markets {
		l.Markets[i].MakerFee, l.Markets[i].TakerFee = string(all[i].Maker), string(all[i].Taker)
	}
	return nil
}

func reportOf(l *candles.Listing, added bool) *marketsReport {
	r := &marketsReport{Day: day(l.At), AtMS: l.At.Millis(), Markets: len(l.Markets), Added: added}
	for i := range l.Markets {
		if l.Markets[i].Trading() {
			r.Trading++
		}
		if l.Markets[i].TakerFee != "" {
			r.Fees++
		}
	}
	return r
}

// String is one line, for the log of cron.
func (r *marketsReport) String() string {
	text := fmt.Sprintf("markets of %s: %d recorded, %d of them trading", r.Day, r.Markets, r.Trading)
	if r.Fees > 0 {
		text += fmt.Sprintf(", %d with the account's fees", r.Fees)
	}
	if !r.Added {
		text += fmt.Sprintf("; the record of %s stays", timeOfMillis(r.AtMS))
	}
	return text
}
