package operator

import (
	"context"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// AskTrades asks for round trips.
func AskTrades(ctx context.Context, of Target, q *profit.Query) (Answer[profit.TradeList], error) {
	return askBooks(ctx, of, PathTrades, q, func(store *journal.Store, now market.Time) (*profit.TradeList, error) {
		list, err := profit.Trades(store, q, now)
		if err == nil {
			list.AsOfMS = now.Millis()
		}
		return list, err
	})
}

// AskProfit asks what the bot has earned.
func AskProfit(ctx context.Context, of Target, q *profit.Query) (Answer[profit.ProfitReport], error) {
	return askBooks(ctx, of, PathProfit, q, func(store *journal.Store, now market.Time) (*profit.ProfitReport, error) {
		report, err := ProfitOf(store, q, now)
		if err == nil {
			report.AsOfMS = now.Millis()
		}
		return report, err
	})
}

// ProfitOf says what a bot has earned, at the prices that its state file has: they are at most a
// minute old while it runs.
func ProfitOf(store *journal.Store, q *profit.Query, now market.Time) (*profit.ProfitReport, error) {
	prices, err := statedir.Prices(store)
	if err != nil {
		return nil, err
	}
	return profit.Profit(store, q, prices.Last, now)
}

// AskEquity asks for a curve.
func AskEquity(ctx context.Context, of Target, q *profit.Query) (Answer[profit.Curve], error) {
	return askBooks(ctx, of, PathEquity, q, func(store *journal.Store, now market.Time) (*profit.Curve, error) {
		curve, err := profit.Equity(store, q, now)
		if err == nil {
			curve.AsOfMS = now.Millis()
		}
		return curve, err
	})
}

// askBooks asks a running bot a question of its books, or reads them from a state file. Ages then
// end with the file's last entry.
func askBooks[T any](ctx context.Context, of Target, path string, q *profit.Query,
	read func(*journal.Store, market.Time) (*T, error)) (Answer[T], error) {
	if err := q.Check(); err != nil {
		return Answer[T]{}, config.Usagef("%w", err)
	}
	return askOrRead(ctx, of, path, &Request{Books: q}, func(store *journal.Store) (*T, error) {
		entries, err := store.LastEntries(1)
		if err != nil {
			return nil, err
		}
		var now market.Time
		if len(entries) > 0 {
			now = entries[0].At
		}
		return read(store, now)
	})
}
