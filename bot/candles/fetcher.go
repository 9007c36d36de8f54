package candles

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// settle is how long after its end a candle counts as closed.
const settle = 2 * time.Second

// firstTrades is before anything was traded anywhere.
const firstTrades = market.Time(1_230_940_800_000_000_000) // 2009-01-03

// fetcher downloads the candles of one series.
type fetcher struct {
	client   *rest.Client
	path     string // of the store
	tell     func(string)
	interval market.Interval
	market   market.Market // only its name and the decimals in which its candles are read
	options  candles.WriteOptions
	span     candles.Range // what is wanted: whole candles, closed ones
	bar      *console.Bar

	report  fetchReport
	candles []market.Candle // of a page, reused
	early   bool            // a candle that has not closed yet was told of
}

// errBeginning is returned where the exchange has no older candles.
var errBeginning = errors.New("the exchange's first candle")

// prepare asks for the exchange's time and the market's rules, and settles what is to be fetched. A
// to of 0 is now.
func (f *fetcher) prepare(ctx context.Context, name string, from, to market.Time) error {
	if err := f.client.Sync(ctx); err != nil {
		return err
	}
	list, err := f.client.Markets(ctx, name)
	if err != nil {
		return fmt.Errorf("market %s: %w", name, err)
	}
	if len(list) != 1 || list[0].Name != name {
		return fmt.Errorf("market %s: %w", name, rest.ErrMismatch)
	}
	f.options = candles.WriteOptions{Market: name, Interval: f.interval,
		PriceDigits: decimals(string(list[0].TickSize)), VolumeDigits: min(list[0].QuantityDecimals, market.MaxDigits)}
	f.market = market.Market{Name: name, PriceDigits: f.options.PriceDigits, VolumeDigits: f.options.VolumeDigits}
	closed := f.interval.Floor(f.client.Now().Add(-settle))
	if to == 0 || to > closed {
		to = closed
	}
	f.span = candles.Range{From: ceilInterval(f.interval, from), To: f.interval.Floor(to)}
	if f.span.From >= f.span.To {
		return config.Usagef("no %s candle from %s on has closed by %s", f.interval, from, to)
	}
	f.report = fetchReport{Market: name, Interval: f.interval.String(), FromMS: f.span.From.Millis(),
		ToMS: f.span.To.Millis()}
	return nil
}

// decimals is the number of digits behind the point of a tickSize, zeros included: older prices may
// be finer than the tick.
func decimals(tick string) uint8 {
	_, fraction, _ := strings.Cut(tick, ".")
	if strings.ContainsAny(fraction, "eE") {
		return 0 // the candles will show
	}
	return uint8(min(len(fraction), market.MaxDigits))
}

// ceilInterval returns the first start of a candle at or after t.
func ceilInterval(interval market.Interval, t market.Time) market.Time {
	if interval.Aligned(t) {
		return t
	}
	return interval.End(interval.Floor(t))
}

// with opens the store for one piece of work: between two pages others may read it, or write to it.
// While another process holds the store, the fetch waits.
func (f *fetcher) with(ctx context.Context, work func(*candles.Store) error) error {
	for told := false; ; told = true {
		store, err := candles.Open(f.path)
		switch {
		case err == nil:
			return errors.Join(work(store), store.Close())
		case !errors.Is(err, bolt.ErrLocked):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case !told:
			f.tell(f.path + " is in use by another process; the fetch goes on when that one has finished")
		}
	}
}

// run fetches what is not stored as complete, the newest first.
func (f *fetcher) run(ctx context.Context) (*fetchReport, error) {
	var complete []candles.Range
	err := f.with(ctx, func(store *candles.Store) error {
		price, volume, err := store.Digits(f.market.Name)
		if err != nil && !errors.Is(err, candles.ErrNoData) {
			return err
		}
		f.market.PriceDigits, f.market.VolumeDigits = max(f.market.PriceDigits, price), max(f.market.VolumeDigits,
			volume)
		complete, err = store.Complete(f.market.Name, f.interval)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, missing := range slices.Backward(subtract(f.span, complete)) {
		err := f.fetch(ctx, missing)
		if errors.Is(err, errBeginning) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return &f.report, f.with(ctx, f.count)
}

// subtract returns the parts of span that none of the ranges, sorted and apart from each other,
// covers.
func subtract(span candles.Range, ranges []candles.Range) (parts []candles.Range) {
	for _, r := range ranges {
		if r.From > span.From && r.From < span.To {
			parts = append(parts, candles.Range{From: span.From, To: r.From})
		}
		if r.To > span.From {
			span.From = r.To
		}
	}
	if span.From < span.To {
		parts = append(parts, span)
	}
	return parts
}

// fetch walks a range backwards, a page at a time. A page is complete from its oldest candle on;
// whether nothing was traded before that, or the exchange has nothing, shows when an older candle
// is found.
func (f *fetcher) fetch(ctx context.Context, r candles.Range) error {
	for end := r.To; end > r.From; {
		f.bar.Reach(f.span.From + f.span.To - end)
		start := max(r.From, f.interval.StartOf(f.interval.Index(end)-rest.MaxCandles))
		if err := f.page(ctx, start, end, rest.MaxCandles); err != nil {
			return err
		}
		if len(f.candles) == 0 {
			err := f.older(ctx, start)
			if errors.Is(err, errBeginning) {
				f.report.BeginningMS = end.Millis()
			}
			if err != nil {
				return err
			}
		}
		oldest := f.candles[0].Start
		if oldest < r.From { // Answer beyond the range
			oldest, f.candles = r.From, f.candles[:0]
		}
		if err := f.put(ctx, candles.Range{From: oldest, To: end}); err != nil {
			return err
		}
		end = oldest
	}
	return nil
}

// older looks for the newest candle before end, however old. It returns errBeginning where there is
// none.
func (f *fetcher) older(ctx context.Context, end market.Time) error {
	start := f.interval.Floor(firstTrades)
	if start >= end {
		return errBeginning
	}
	if err := f.page(ctx, start, end, 1); err != nil {
		return err
	}
	if len(f.candles) == 0 {
		return errBeginning
	}
	return nil
}

// page asks for the candles in [start, end), waits where the exchange bans, and reads finer where
// the candles need it.
func (f *fetcher) page(ctx context.Context, start, end market.Time, limit int) (err error) {
	for {
		f.report.Requests++
		f.candles, err = f.client.Candles(ctx, &f.market, f.interval, start, end, limit, f.candles[:0])
		left, failed := exchange.CheckLeftOut(err)
		if left != nil && left.False == 0 { // no hole: the range does not have them
			if err = failed; !f.early {
				f.early = true
				f.tell(left.Error() + ": left out")
			}
		}
		var refused *exchange.Error
		switch {
		case err == nil:
			return nil
		case errors.As(err, &refused) && refused.Code == exchange.CodeBanned:
			continue // the budget waits for the end of the ban
		case errors.Is(err, market.ErrInexact) && min(f.market.PriceDigits, f.market.VolumeDigits) < market.MaxDigits:
			f.market.PriceDigits, f.market.VolumeDigits = min(f.market.PriceDigits+2,
				market.MaxDigits), min(f.market.VolumeDigits+2, market.MaxDigits)
			continue
		}
		return err
	}
}

// put stores the candles of a page and that the exchange has answered for a range.
func (f *fetcher) put(ctx context.Context, answered candles.Range) error {
	return f.with(ctx, func(store *candles.Store) error {
		report, err := store.Put(f.options, f.candles, f.market.PriceDigits, f.market.VolumeDigits,
			[]candles.Range{answered})
		if err == nil {
			f.report.add(report)
		}
		return err
	})
}

// count says what is stored of the range now.
func (f *fetcher) count(store *candles.Store) error {
	gaps, err := store.Gaps(f.market.Name, f.interval, f.span.From, f.span.To)
	if errors.Is(err, candles.ErrNoData) {
		return fmt.Errorf("the exchange has no %s candles of %s before %s", f.interval, f.market.Name, f.span.To)
	}
	f.report.Candles = f.interval.Index(f.span.To) - f.interval.Index(f.span.From)
	for _, gap := range gaps {
		f.report.Candles -= gap.Candles
		if gap.NoTrade {
			f.report.NoTrade += gap.Candles
		} else {
			f.report.Missing += gap.Candles
		}
	}
	return err
}
