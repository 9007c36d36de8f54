package bot

import (
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// after calls f in a goroutine of its own when d has passed, unless stop is called before: the timer of who has no clock.
func after(d market.Duration, f func()) (stop func() bool) { return time.AfterFunc(d, f).Stop }
