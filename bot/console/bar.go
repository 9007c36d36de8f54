package console

import (
	"context"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/tidemark-trading/tidemark/market"
)

// progressAfter is the age of a run at which the bar appears.
const progressAfter = time.Second

// Bar draws a progress bar on a terminal, for runs longer than progressAfter.
type Bar struct {
	screen   io.Writer // nil: draws nothing
	what     string    // its label
	quiet    context.Context
	cancel   context.CancelFunc
	from, to market.Time
	last     market.Time // reached
	runs     int         // through the range: the envelope needs several
	done     int         // finished runs
	bar      *progressbar.ProgressBar
}

// NewBar prepares the bar for a number of runs through a range of time. The bar is drawn if screen
// is a terminal and the range is not empty. Call End.
func NewBar(ctx context.Context, screen io.Writer, what string, from, to market.Time, runs int) *Bar {
	b := &Bar{what: what, from: from, to: to, runs: runs}
	if _, ok := TerminalOf(screen); !ok {
		return b
	}
	b.screen = screen
	b.quiet, b.cancel = context.WithTimeout(ctx, progressAfter)
	return b
}

// Reach moves the bar to a candle's start; one before the last begins the next run through the
// range.
func (b *Bar) Reach(at market.Time) {
	if at < b.last {
		b.done++
	}
	b.last = at
	if b.screen == nil || b.quiet.Err() == nil || b.to <= b.from {
		return
	}
	if b.bar == nil {
		b.bar = progressbar.NewOptions64(100, progressbar.OptionSetWriter(b.screen),
			progressbar.OptionSetDescription(b.what),
			progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetWidth(40),
			// the library counts from the first drawing
			progressbar.OptionSetElapsedTime(false), progressbar.OptionSetPredictTime(false))
	}
	share := (float64(b.done) + min(max(float64(at-b.from)/float64(b.to-b.from), 0), 1)) / float64(b.runs)
	_ = b.bar.Set64(int64(100 * min(share, 0.99))) // a failed drawing stops nothing
}

// End takes the bar off the screen; it may be called again.
func (b *Bar) End() {
	if b.bar != nil {
		_ = b.bar.Clear()
		b.bar = nil
	}
	if b.cancel != nil {
		b.cancel()
	}
}

// Count counts on a terminal, for work longer than progressAfter whose end is not known.
type Count struct {
	Bar
}

// NewCount prepares a count. It is drawn if screen is a terminal. Call End.
func NewCount(ctx context.Context, screen io.Writer, what string) *Count {
	return &Count{*NewBar(ctx, screen, what, 0, 0, 1)}
}

// Reach shows a number.
func (c *Count) Reach(n int64) {
	if c.screen == nil || c.quiet.Err() == nil {
		return
	}
	if c.bar == nil {
		c.bar = progressbar.NewOptions64(-1, progressbar.OptionSetWriter(c.screen),
			progressbar.OptionSetDescription(c.what), progressbar.OptionClearOnFinish(),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSpinnerType(14),
			progressbar.OptionShowCount(), progressbar.OptionSetElapsedTime(false))
	}
	_ = c.bar.Set64(n) // a failed drawing stops nothing
}
