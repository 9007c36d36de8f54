package bot

import (
	"context"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// progressAfter is how long a run may take without a bar.
const progressAfter = time.Second

// progress draws a bar on a terminal, for runs that are worth one.
type progress struct {
	screen   io.Writer // nil: draws nothing
	what     string    // is under way
	quiet    context.Context
	cancel   context.CancelFunc
	from, to market.Time
	last     market.Time // reached
	runs     int         // through the range, for the envelope
	done     int         // of them
	bar      *progressbar.ProgressBar
}

// newProgress prepares the bar for a plan's range. end must be called.
func newProgress(ctx context.Context, screen io.Writer, p *planner) *progress {
	b := &progress{}
	if _, ok := terminalOf(screen); !ok || len(p.plan.Feeds) == 0 {
		return b
	}
	f := p.plan.Feeds[len(p.plan.Feeds)-1]
	series, err := p.candles.Series(f.Market.Name, f.Interval)
	if err != nil {
		return b // the run will say so
	}
	b.screen, b.what, b.from, b.to, b.runs = screen, "backtest", max(p.plan.From, series.First), rangeEnd(p.plan.To, &series), 1
	if path := p.plan.Venue.Path; p.options.Envelope && (path == sim.Pessimistic || path == sim.Optimistic) {
		b.runs = 2
	} else if p.options.Envelope {
		b.runs = 3
	}
	b.quiet, b.cancel = context.WithTimeout(ctx, progressAfter)
	return b
}

// newFetchProgress prepares the bar for candles of a range. end must be called.
func newFetchProgress(ctx context.Context, screen io.Writer, span candles.Range) *progress {
	b := &progress{what: "fetch", from: span.From, to: span.To, runs: 1}
	if _, ok := terminalOf(screen); !ok {
		return b
	}
	b.screen = screen
	b.quiet, b.cancel = context.WithTimeout(ctx, progressAfter)
	return b
}

func rangeEnd(to market.Time, series *candles.Series) market.Time {
	if to == 0 {
		return series.End()
	}
	return min(to, series.End())
}

// reach moves the bar to a candle's start; one before the last begins the next run through the range.
func (b *progress) reach(at market.Time) {
	if at < b.last {
		b.done++
	}
	b.last = at
	if b.screen == nil || b.quiet.Err() == nil || b.to <= b.from {
		return
	}
	if b.bar == nil {
		b.bar = progressbar.NewOptions64(100, progressbar.OptionSetWriter(b.screen), progressbar.OptionSetDescription(b.what),
			progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetWidth(40),
			progressbar.OptionSetElapsedTime(false), progressbar.OptionSetPredictTime(false)) // it would count from when it was first drawn
	}
	share := (float64(b.done) + min(max(float64(at-b.from)/float64(b.to-b.from), 0), 1)) / float64(b.runs)
	_ = b.bar.Set64(int64(100 * min(share, 0.99))) // a bar that cannot be drawn stops nothing
}

// end takes the bar off the screen; it may be called again.
func (b *progress) end() {
	if b.bar != nil {
		_ = b.bar.Clear()
		b.bar = nil
	}
	if b.cancel != nil {
		b.cancel()
	}
}
