package operator

import (
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// AskTrades asks for round trips.
func AskTrades(q *profit.Query) Question[profit.TradeList] {
	return askBooks(PathTrades, q, func(store *journal.Store, now market.Time) (*profit.TradeList, error) {
		list, err := profit.Trades(store, q, now)
		if err == nil {
			list.AsOfMS = now.Millis()
		}
		return list, err
	})
}

// AskProfit asks what the bot has earned.
func AskProfit(q *profit.Query) Question[profit.ProfitReport] {
	return askBooks(PathProfit, q, func(store *journal.Store, now market.Time) (*profit.ProfitReport, error) {
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
func AskEquity(q *profit.Query) Question[profit.Curve] {
	return askBooks(PathEquity, q, func(store *journal.Store, now market.Time) (*profit.Curve, error) {
		curve, err := profit.Equity(store, q, now)
		if err == nil {
			curve.AsOfMS = now.Millis()
		}
		return curve, err
	})
}

// askBooks asks a running bot a question of its books, or reads them from a state file. Ages then
// end with the file's last entry.
func askBooks[T any](path string, q *profit.Query, read func(*journal.Store, market.Time) (*T, error)) Question[T] {
	all := Question[T]{path: path, ask: Request{Books: q}, read: func(store *journal.Store) (*T, error) {
		entries, err := store.LastEntries(1)
		if err != nil {
			return nil, err
		}
		var now market.Time
		if len(entries) > 0 {
			now = entries[0].At
		}
		return read(store, now)
	}}
	if err := q.Check(); err != nil {
		all.wrong = config.Usagef("%w", err)
	}
	return all
}
