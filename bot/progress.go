package bot

import (
	"context"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// progressAfter is how long a run may take without a bar.
const progressAfter = time.Second

// progress draws a bar on a terminal, for runs that are worth one.
type progress struct {
	screen   io.Writer // nil: draws nothing
	quiet    context.Context
	cancel   context.CancelFunc
	from, to market.Time
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
	b.screen, b.from, b.to = screen, max(p.plan.From, series.First), rangeEnd(p.plan.To, &series)
	b.quiet, b.cancel = context.WithTimeout(ctx, progressAfter)
	return b
}

func rangeEnd(to market.Time, series *state.Series) market.Time {
	if to == 0 {
		return series.End()
	}
	return min(to, series.End())
}

// reach moves the bar to a candle's start.
func (b *progress) reach(at market.Time) {
	if b.screen == nil || b.quiet.Err() == nil || b.to <= b.from {
		return
	}
	if b.bar == nil {
		b.bar = progressbar.NewOptions64(100, progressbar.OptionSetWriter(b.screen), progressbar.OptionSetDescription("backtest"),
			progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetWidth(40))
	}
	share := float64(at-b.from) / float64(b.to-b.from)
	_ = b.bar.Set64(int64(100 * min(max(share, 0), 1))) // a bar that cannot be drawn stops nothing
}

// end takes the bar off the screen.
func (b *progress) end() {
	if b.bar != nil {
		_ = b.bar.Clear()
	}
	if b.cancel != nil {
		b.cancel()
	}
}
