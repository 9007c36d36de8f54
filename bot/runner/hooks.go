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

// watchedJournal is a journal whose user is watched: what the loop notes is what it does.
type watchedJournal struct {
	live.Journal
	watch *watch
}

// journal returns the journal that the loop is to write.
func (w *watch) journal(j *botJournal) live.Journal {
	if w == nil {
		return j
	}
	if w.metrics != nil {
		j.timed = func(took time.Duration) { w.metrics.commits.Observe(took.Seconds()) }
	}
	return &watchedJournal{j, w}
}

// Outcome counts what became of a command.
func (j *watchedJournal) Outcome(at market.Time, i *exchange.Intent, err error) {
	j.Journal.Outcome(at, i, err)
	outcome := exchange.OutcomeOf(err)
	if outcome == exchange.Rejected {
		j.watch.rejected++
	}
	if m := j.watch.metrics; m != nil {
		m.orders.WithLabelValues(i.Command.String(), outcome.String()).Inc()
	}
}

// Commit ends a turn of the loop.
func (j *watchedJournal) Commit(at market.Time) error {
	err := j.Journal.Commit(at)
	if err == nil {
		j.watch.turn()
	}
	return err
}

// write commits the batch, and tells how long that took who asked for it.
func (j *botJournal) write() error {
	began := time.Now()
	err := j.store.Commit(j.batch)
	if err != nil {
		err = j.lastRoom(err)
	}
	if j.timed != nil {
		j.timed(time.Since(began))
	}
	return err
}

// watchedLog are findings of which the watch tells.
type watchedLog struct {
	live.ReconcileLog
	watch *watch
}

// reconcileLog returns who is to keep what the loop finds.
func (w *watch) reconcileLog(j *botJournal) live.ReconcileLog {
	if w == nil {
		return j
	}
	return &watchedLog{j, w}
}

// Note counts differences and tells of them.
func (f *watchedLog) Note(kind, text string) {
	f.ReconcileLog.Note(kind, text)
	if m := f.watch.metrics; m != nil {
		m.differences.WithLabelValues(kind).Inc()
	}
	f.watch.tell(alert.Difference, "%s: %s", kind, text)
}

// Discrepancy tells of a difference that does not halt; one that does is remarked too.
func (f *watchedLog) Discrepancy(at market.Time, d *state.Discrepancy) {
	f.ReconcileLog.Discrepancy(at, d)
	if m := f.watch.metrics; m != nil {
		m.differences.WithLabelValues("balance").Inc()
	}
	f.watch.tell(alert.Difference, "%s: books %s, exchange %s; %s", d.What, d.Ours, d.Theirs, d.Conclusion)
}

// stepped returns what hears of the engine's steps; nil: nobody.
func (w *watch) stepped() func(market.EventKind, time.Duration) {
	if w == nil || w.metrics == nil {
		return nil
	}
	return func(kind market.EventKind, took time.Duration) {
		w.metrics.steps.WithLabelValues(kind.String()).Observe(took.Seconds())
	}
}

// watchedData is market data of which is noted when it was last heard.
type watchedData struct {
	exchange.MarketData
	watch *watch
}

// data returns the market data that the feed is to ask for.
func (w *watch) data(d exchange.MarketData) exchange.MarketData {
	if w == nil {
		return d
	}
	return &watchedData{d, w}
}

// note notes an answer, also one of which a part does not fit.
func (d *watchedData) note(feed int, err error) {
	if err == nil || errors.Is(err, exchange.ErrUnits) {
		d.watch.heard[feed].Store(d.watch.since())
	}
}

// TickerPrices is MarketData's.
func (d *watchedData) TickerPrices(ctx context.Context, dst []market.Ticker) ([]market.Ticker, error) {
	got, err := d.MarketData.TickerPrices(ctx, dst)
	d.note(feedPrices, err)
	return got, err
}

// TickerBooks is MarketData's.
func (d *watchedData) TickerBooks(ctx context.Context, dst []market.Ticker) ([]market.Ticker, error) {
	got, err := d.MarketData.TickerBooks(ctx, dst)
	d.note(feedTops, err)
	return got, err
}

// Book is MarketData's.
func (d *watchedData) Book(ctx context.Context, m *market.Market, depth int, into *market.OrderBook) error {
	err := d.MarketData.Book(ctx, m, depth, into)
	d.note(feedBooks, err)
	return err
}

// Candles is MarketData's.
func (d *watchedData) Candles(ctx context.Context, m *market.Market, interval market.Interval, start, end market.Time,
	limit int, dst []market.Candle) ([]market.Candle, error) {
	got, err := d.MarketData.Candles(ctx, m, interval, start, end, limit, dst)
	d.note(feedCandles, err)
	return got, err
}

// Rules is MarketData's.
func (d *watchedData) Rules(ctx context.Context) ([]market.Market, error) {
	got, err := d.MarketData.Rules(ctx)
	d.note(feedRules, err)
	return got, err
}
