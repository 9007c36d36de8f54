package record

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/rerun/core"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/exchange/poll"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/stream"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/recording"
)

// open learns the markets, opens the recording, and begins it.
func (r *recorder) open(ctx context.Context) (err error) {
	run := r.config.Run()
	access := &plan.Access{Config: run, Transport: r.options.Transport}
	budget := plan.NewWeightBudget(&run.Exchange, func() market.Time { return r.client.Now() },
		func(w rest.Warning) { r.log.Warn().Msg(w.String()) })
	if r.client, err = access.Client(budget); err != nil {
		return err
	}
	r.log.Info().Str("exchange", run.Exchange.Origin()).Msg("asking the exchange for its markets")
	listing, err := access.AwaitListing(ctx, r.client, r.log)
	if err == nil {
		err = r.learn(&listing)
	}
	if err == nil {
		err = r.begin(ctx, access, budget)
	}
	if err != nil {
		r.client.Close()
	}
	return err
}

// learn makes the catalog of the markets that are recorded.
func (r *recorder) learn(l *plan.Listing) (err error) {
	c := &r.config.Record
	needed := map[string]bool{}
	markets := slices.DeleteFunc(l.Markets, func(m rest.Market) bool { return !slices.Contains(c.Markets, m.Name) })
	slices.SortFunc(markets, func(a, b rest.Market) int { return strings.Compare(a.Name, b.Name) })
	for i := range markets {
		needed[markets[i].Base], needed[markets[i].Quote] = true, true
	}
	for _, name := range c.Markets {
		if !slices.ContainsFunc(markets, func(m rest.Market) bool { return m.Name == name }) {
			return r.config.Source.Place(config.Keyf([]string{"record", "markets"}, "the exchange has no market %s",
				name))
		}
	}
	assets := slices.DeleteFunc(l.Assets, func(a rest.Asset) bool { return !needed[a.Symbol] })
	catalog, leftOut := rest.BuildCatalog(assets, markets)
	for _, why := range leftOut {
		return fmt.Errorf("the exchange's markets: %w", why)
	}
	r.catalog = catalog
	r.client.Use(catalog)
	if err := r.polling().Check(0, int(r.config.Exchange.PerIP)); err != nil {
		return config.Errorf("%s: %w", r.config.Source.Name(), err)
	}
	r.manifest, err = core.NewManifest(&core.Config{Catalog: catalog}, r.options.Program)
	return err
}

// polling lists the regular requests with their weight points.
func (r *recorder) polling() (all rest.Polls) {
	every, streams := r.config.Poll, r.config.Stream.Section()
	for _, of := range [...]struct {
		span   *config.Span
		stream bool
	}{{&every.Tickers, streams.Streams(streams.Tickers)}, {&every.Books, streams.Streams(streams.Books)},
		{&every.Trades, r.config.Stream.StreamsTrades()}} {
		if *of.span > 0 && of.stream {
			*of.span = max(*of.span, config.Span(plan.CompareEvery))
		}
	}
	add := func(name string, period market.Duration, times int) {
		weight := r.client.Weight(name)
		all = append(all, rest.Poll{Name: name, Weight: times * cmp.Or(weight.All, weight.One), Every: period,
			Payer: rest.PaidByIP})
	}
	add("GET /time", plan.ClockEvery, rest.TimeSamples)
	add("GET /markets", market.Duration(every.Rules), 1)
	add("GET /ticker/price", market.Duration(every.Tickers), 1)
	add("GET /ticker/book", market.Duration(every.Tickers), 1)
	markets := len(r.config.Record.Markets)
	add("GET /{market}/book", market.Duration(every.Books), markets)
	add("GET /{market}/trades", market.Duration(every.Trades), markets)
	intervals, _ := r.config.Record.Intervals() // read with the config
	for _, interval := range intervals {
		add("GET /{market}/candles", interval.Fixed(), markets)
	}
	return all
}

// begin opens the recording and the feed.
func (r *recorder) begin(ctx context.Context, access *plan.Access, budget rest.Budget) (err error) {
	c := &r.config.Record
	intervals, err := c.Intervals()
	if err != nil {
		return err
	}
	for _, m := range r.catalog.Markets() {
		for _, interval := range intervals {
			r.series = append(r.series, candleRow{Series: poll.Series{Market: m.ID, Interval: interval}})
		}
	}
	r.feed = poll.New(r.feedConfig())
	now := r.client.Now()
	for i := range r.series {
		s := &r.series[i]
		s.Last = s.Interval.StartOf(s.Interval.Index(now) - 1)
		s.candles, err = r.feed.History(ctx, s.Series, now.Add(-market.Duration(r.config.Poll.Settle)), int(c.History))
		if err != nil {
			return fmt.Errorf("candles of %s before the start: %w", r.catalog.Market(s.Market).Name, err)
		}
		if n := len(s.candles); n > 0 {
			s.Last = s.candles[n-1].Start
		}
	}
	polled := r.feedConfig() // from the last of these candles on
	if streams := &r.config.Stream; streams.Any() {
		polled.Out = make(chan market.Event, max(256, 4*len(polled.Tickers)))
		if r.on, err = stream.New(access.Stream(r.client, budget, false, r.log)); err != nil {
			return err
		}
		r.stream = plan.Streamed(streams.Section(), streams.StreamsTrades(), &polled, r.on)
	}
	r.feed = poll.New(polled)
	dir := filepath.Join(c.Folder, statedir.RecordingFolder)
	r.writer, err = recording.Open(dir, recording.Options{Catalog: r.catalog, Limit: c.LimitMB << 20,
		Aside: r.packing.Go})
	if err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	if x, err := recording.Describe(dir); err == nil && x.Last != 0 {
		r.last = x.To
		r.log.Info().Stringer("recorded_until", x.To).Stringer("now", now).Msg("the recording goes on")
	}
	r.last = max(r.last, now)
	return r.start(r.last)
}

func (r *recorder) feedConfig() poll.Config {
	every := &r.config.Poll
	config := poll.Config{Data: r.client, TradeData: r.client, Catalog: r.catalog, Log: r.log, Depth: int(every.Depth),
		TickerEvery: market.Duration(every.Tickers), BookEvery: market.Duration(every.Books),
		TradesEvery: market.Duration(every.Trades), RulesEvery: market.Duration(every.Rules),
		Settle: market.Duration(every.Settle), Stale: func(silent market.Duration) {
			r.log.Warn().Stringer("silent_for", silent).Msg("no prices from the exchange")
		}}
	for _, m := range r.catalog.Markets() {
		if every.Tickers > 0 {
			config.Tickers = append(config.Tickers, m.ID)
		}
		if every.Books > 0 {
			config.Books = append(config.Books, m.ID)
		}
		if every.Trades > 0 {
			config.Trades = append(config.Trades, m.ID)
		}
	}
	for i := range r.series {
		config.Series = append(config.Series, r.series[i].Series)
	}
	return config
}

// historyPart is how many candles are one record.
const historyPart = 4096

// start records markets, rules and the latest candles, so that a reader may begin here.
func (r *recorder) start(at market.Time) error {
	text, err := r.manifest.Encode()
	if err != nil {
		return err
	}
	var history []market.Candle
	for i := range r.series {
		history = append(history, r.series[i].candles...)
	}
	slices.SortStableFunc(history, func(a, b market.Candle) int {
		return cmp.Or(cmp.Compare(a.End(), b.End()), cmp.Compare(a.Interval, b.Interval),
			cmp.Compare(a.Market, b.Market))
	})
	records := []recording.Record{{Kind: recording.KindStart, At: at, Manifest: text}}
	for part := range slices.Chunk(history, historyPart) {
		records = append(records, recording.Record{Kind: recording.KindHistory, At: at, Candles: part})
	}
	records = append(records, recording.Record{Kind: recording.KindOpen, At: at})
	for i := range records {
		if _, err := r.writer.Write(&records[i]); err != nil {
			return err
		}
	}
	r.report.Starts++
	r.day = at.Day()
	r.size, err = r.flush()
	return err
}
