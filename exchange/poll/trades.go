package poll

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// tradesPage is the largest number of trades of one query, and tradesPages of the queries of one
// round: what is older is left out, and said.
const (
	tradesPage  = 1000
	tradesPages = 20
)

// tradeCursor is the progress of a market's trades.
type tradeCursor struct {
	market *market.Market
	since  market.Time // of the latest trade sent
	last   []uuid.UUID // the trades of that time
	said   market.Time // when trades ahead of the clock were last told of
}

// trades sends the trades of a market since the last round, each once, the oldest first. Trades
// before the first round are left out.
func (f *Feed) trades(id market.ID) func(context.Context) error {
	t := &tradeCursor{market: f.Catalog.Market(id), since: f.Data.Now()}
	return func(ctx context.Context) error {
		found, err := f.newTrades(ctx, t)
		if err != nil {
			return err
		}
		now := f.Data.Now()
		for i := range found {
			trade := found[i].Trade
			f.send(ctx, market.Event{At: max(now, trade.Time), Kind: market.KindTrade, Market: id, Trade: &trade})
		}
		return nil
	}
}

// newTrades are the trades since the last ones, the oldest first.
func (f *Feed) newTrades(ctx context.Context, t *tradeCursor) (all []exchange.PublicTrade, err error) {
	until, ahead := market.Time(0), 0
	defer func() { f.tellAhead(t, ahead) }()
	for range tradesPages {
		page, err := f.TradeData.TradesBetween(ctx, t.market, t.since, until, tradesPage, nil)
		if err != nil {
			return nil, err
		}
		now := f.Data.Now()
		for _, trade := range page {
			if trade.Time > now {
				ahead++
				continue
			}
			known := trade.Time < t.since || slices.Contains(t.last, trade.ID) ||
				slices.ContainsFunc(all, func(a exchange.PublicTrade) bool { return a.ID == trade.ID })
			if !known {
				all = append(all, trade)
			}
		}
		if len(page) < tradesPage || page[len(page)-1].Time == until {
			return t.take(all), nil
		}
		until = page[len(page)-1].Time
	}
	f.Log.Warn().Str("market", t.market.Name).Int("trades", len(all)).
		Msg("more trades than one round can fetch: the oldest of them are missing")
	return t.take(all), nil
}

// tellAhead tells, at most once a minute, of trades whose time lies ahead of the exchange's clock:
// they are delivered when it has come. A cursor that jumped to them would leave out those before.
func (f *Feed) tellAhead(t *tradeCursor, ahead int) {
	if now := f.Data.Now(); ahead > 0 && now.Sub(t.said) >= time.Minute {
		t.said = now
		f.Log.Warn().Str("market", t.market.Name).Int("trades", ahead).
			Msg("trades lie ahead of the exchange's clock: they are not delivered yet")
	}
}

// take moves the cursor on past trades, which came newest first, and turns them round.
func (t *tradeCursor) take(all []exchange.PublicTrade) []exchange.PublicTrade {
	slices.Reverse(all)
	slices.SortStableFunc(all, func(a, b exchange.PublicTrade) int { return int(max(-1, min(1, a.Time-b.Time))) })
	for _, trade := range all {
		if trade.Time > t.since {
			t.since, t.last = trade.Time, t.last[:0]
		}
		t.last = append(t.last, trade.ID)
	}
	return all
}
