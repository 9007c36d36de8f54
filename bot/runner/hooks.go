package runner

import (
	"context"
	"errors"
	"time"

	"github.com/tidemark-trading/tidemark/bot/alert"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// watchedJournal is a journal whose calls also go to the metrics and alerts.
type watchedJournal struct {
	live.Journal
	watch *watch
}

// journal returns the journal for the loop.
func (w *watch) journal(j *botJournal) live.Journal {
	if w == nil {
		return j
	}
	return &watchedJournal{j, w}
}

// Outcome counts the outcome of a command.
func (j *watchedJournal) Outcome(at market.Time, i *exchange.Intent, err error) {
	j.Journal.Outcome(at, i, err)
	outcome := exchange.OutcomeOf(err)
	if outcome == exchange.Rejected {
		j.watch.rejected++
	}
	j.watch.count("orders_total", 1, i.Command.String(), outcome.String())
}

// Commit ends a turn of the loop.
func (j *watchedJournal) Commit(at market.Time) error {
	err := j.Journal.Commit(at)
	if err == nil {
		j.watch.turn()
	}
	return err
}

// write commits the batch and reports how long that took.
func (j *botJournal) write() error {
	began := time.Now()
	j.recordTurn()
	entries := uint64(j.batch.Entries())
	err := j.store.Commit(j.batch)
	if err != nil {
		err = j.lastRoom(err)
	}
	if err == nil || errors.Is(err, live.ErrLastRoom) {
		j.entries, j.commands = j.entries+entries, false
	}
	if w := j.watch; w != nil && w.metrics != nil {
		w.metrics.commits.Observe(time.Since(began).Seconds())
	}
	return err
}

// watchedLog also counts the differences and raises alerts for them.
type watchedLog struct {
	live.ReconcileLog
	watch *watch
}

func (w *watch) reconcileLog(j *botJournal) live.ReconcileLog {
	if w == nil {
		return j
	}
	return &watchedLog{j, w}
}

// Note counts a difference and raises an alert.
func (f *watchedLog) Note(at market.Time, kind, text string) {
	f.ReconcileLog.Note(at, kind, text)
	f.watch.count("differences_total", 1, kind)
	f.watch.raise(alert.Difference, "%s: %s", kind, text)
}

// Discrepancy counts a difference that halts nothing; a difference that halts also reaches Note.
func (f *watchedLog) Discrepancy(at market.Time, d *state.Discrepancy) {
	f.ReconcileLog.Discrepancy(at, d)
	kind := "balance"
	if d.Order != 0 {
		kind = "order"
	}
	f.watch.count("differences_total", 1, kind)
	f.watch.raise(alert.Difference, "%s: books %s, exchange %s; %s", d.What, d.Ours, d.Theirs, d.Conclusion)
}

// stepped returns the callback for the engine's steps; nil: there are no metrics.
func (w *watch) stepped() func(market.EventKind, time.Duration) {
	if w == nil || w.metrics == nil {
		return nil
	}
	return func(kind market.EventKind, took time.Duration) {
		w.metrics.steps.WithLabelValues(kind.String()).Observe(took.Seconds())
	}
}

// watchedData notes when each feed was last answered.
type watchedData struct {
	exchange.MarketData
	watch *watch
}

// data returns the market data for the feed.
func (w *watch) data(d exchange.MarketData) exchange.MarketData {
	if w == nil {
		return d
	}
	return &watchedData{d, w}
}

// note notes an answer, also one that was read in part (exchange.ErrUnits, exchange.LeftOut).
func (d *watchedData) note(feed int, err error) {
	_, err = exchange.CheckLeftOut(err)
	if err == nil || errors.Is(err, exchange.ErrUnits) {
		d.watch.answered[feed].Store(d.watch.since())
	}
}

// TickerPrices implements exchange.MarketData.
func (d *watchedData) TickerPrices(ctx context.Context, dst []market.Ticker) ([]market.Ticker, error) {
	got, err := d.MarketData.TickerPrices(ctx, dst)
	d.note(feedPrices, err)
	return got, err
}

// TickerBooks implements exchange.MarketData.
func (d *watchedData) TickerBooks(ctx context.Context, dst []market.Ticker) ([]market.Ticker, error) {
	got, err := d.MarketData.TickerBooks(ctx, dst)
	d.note(feedTops, err)
	return got, err
}

// Book implements exchange.MarketData.
func (d *watchedData) Book(ctx context.Context, m *market.Market, depth int, into *market.OrderBook) error {
	err := d.MarketData.Book(ctx, m, depth, into)
	d.note(feedBooks, err)
	return err
}

// Candles implements exchange.MarketData.
func (d *watchedData) Candles(ctx context.Context, m *market.Market, interval market.Interval, start, end market.Time,
	limit int, dst []market.Candle) ([]market.Candle, error) {
	got, err := d.MarketData.Candles(ctx, m, interval, start, end, limit, dst)
	d.note(feedCandles, err)
	return got, err
}

// Rules implements exchange.MarketData.
func (d *watchedData) Rules(ctx context.Context) ([]market.Market, error) {
	got, err := d.MarketData.Rules(ctx)
	d.note(feedRules, err)
	return got, err
}
