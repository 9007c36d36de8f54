package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/poll"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/stream"
	"github.com/tidemark-trading/tidemark/market"
)

// openClient makes the client and its weight budget, learns the markets, and binds the state file
// to them.
func (r *runner) openClient(ctx context.Context) (err error) {
	r.weights.WeightBudget = plan.NewWeightBudget(&r.plan.Config.Exchange,
		func() market.Time { return r.client.Now() }, r.warnOfBudget)
	if r.client, err = r.plan.Client(r.weights.WeightBudget); err != nil {
		return err
	}
	if err := r.restoreWeights(); err != nil {
		return err
	}
	r.log.Info().Str("exchange", r.plan.Config.Exchange.Origin()).Msg("asking the exchange for its markets")
	offered, err := r.plan.AwaitListing(ctx, r.client, r.log)
	if err != nil {
		return err
	}
	if r.plan.Held, err = statedir.Held(r.store); err != nil {
		return err
	}
	r.plan.Known = r.store.Catalog()
	rules, err := statedir.LatestRules(r.store)
	if err != nil {
		return err
	}
	r.plan.Least = func(name string) (market.Qty, market.Money) { return rules[name].MinBase, rules[name].MinQuote }
	if err := r.restoreRankings(); err != nil {
		return err
	}
	if err := r.plan.Finish(offered); err != nil {
		return err
	}
	for _, note := range r.plan.Notes {
		r.log.Info().Msg(note)
	}
	if err := r.plan.Polling(r.client).Check(int(r.plan.Config.Exchange.PerKey),
		int(r.plan.Config.Exchange.PerIP)); err != nil {
		return config.Errorf("%s: %w", r.plan.Config.Source.Name(), err)
	}
	r.client.Use(r.plan.Catalog)
	return r.store.Bind(r.plan.Catalog, r.plan.Names())
}

// weights is the weight budget of a bot, in this process and in the state file.
type weights struct {
	*rest.WeightBudget
	banned atomic.Bool // a ban has begun since it was last written down
}

// warnOfBudget logs a warning of the weight budget.
func (r *runner) warnOfBudget(w rest.Warning) {
	r.log.Warn().Msg(w.String())
	if w.Kind == rest.WarnBan {
		r.weights.banned.Store(true)
	}
	r.watch.warned(w)
}

// restoreWeights loads an earlier run's weight budgets and bans.
func (r *runner) restoreWeights() error {
	data, err := r.store.Blob(statedir.WeightBudgetBlob)
	if err != nil || data == nil {
		return err
	}
	var kept rest.WeightBudgetState
	if err := json.Unmarshal(data, &kept); err != nil {
		return fmt.Errorf("weight budget in the state file: %w", err)
	}
	r.weights.Restore(kept)
	return nil
}

// streams is what the bot hears over the exchange's WebSocket. On a nil streams its methods do
// nothing.
type streams struct {
	on      *stream.Connection
	feed    *stream.Feed
	notices *stream.Notices // nil: own orders are asked for
}

// streamedOrders are the orders of a bot over the exchange's WebSocket, and their connection. It is
// one of their own: what ends that of the feeds leaves no order without an answer.
type streamedOrders struct {
	*rest.SocketOrders
	on *stream.Connection
}

// openStreams moves the channels that the config streams from a feed that polls to one that
// streams. Both send to the same channel.
func (r *runner) openStreams(polled *poll.Config) error {
	section, live := &r.plan.Config.Stream, !r.plan.Config.Bot.Paper()
	if !section.Any(live) {
		return nil
	}
	hears := live && section.Streams(section.Account)
	on, err := stream.New(r.plan.Stream(r.client, r.weights.WeightBudget, hears, r.log))
	if err != nil {
		return err
	}
	polled.Out = make(chan market.Event, max(256, 4*len(polled.Tickers)))
	r.streams = &streams{on: on, feed: plan.Streamed(section, false, polled, on)}
	if hears {
		r.streams.notices = stream.NewNotices(on, r.plan.Catalog, r.client.Now, r.log)
	}
	return nil
}

// run runs the stream until ctx ends.
func (s *streams) run(ctx context.Context) {
	if s == nil {
		return
	}
	var beside sync.WaitGroup
	beside.Go(func() { s.on.Run(ctx) })
	beside.Go(func() { s.feed.Run(ctx) })
	if s.notices != nil {
		beside.Go(func() { s.notices.Run(ctx) })
	}
	beside.Wait()
}

// noticed are the notices of own orders; nil: there are none.
func (s *streams) noticed() <-chan exchange.Notice {
	if s == nil || s.notices == nil {
		return nil
	}
	return s.notices.C()
}

// muted connects the stream anew, because its channel account has not told of something.
func (s *streams) muted() {
	if s != nil {
		s.on.Reset(stream.ErrSilent)
	}
}

// setAside lets orders leave over HTTP for a while, because the exchange denies what a socket told.
func (r *runner) setAside(long time.Duration) {
	if r.orders != nil {
		r.orders.SetAside(long)
	}
}

// age is the time since the latest event of any channel; false: none has come.
func (s *streams) age() (youngest market.Duration, any bool) {
	if s == nil {
		return 0, false
	}
	for _, ch := range s.on.Channels() {
		if age, known := ch.Age(); known && (!any || age < youngest) {
			youngest, any = age, true
		}
	}
	return youngest, any
}
