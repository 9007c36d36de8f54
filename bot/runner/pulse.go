package runner

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/market"
)

// pulse logs now and then how the bot stands and what it waits for, until ctx ends: for a person at
// a terminal.
func (r *runner) pulse(ctx context.Context, c *control) {
	if r.Pulse == 0 {
		return
	}
	for tick := time.NewTicker(r.Pulse); ; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			tick.Stop()
			return
		}
		answer, err := c.status(ctx, &operator.Request{})
		if s, told := answer.(*operator.Status); told && err == nil {
			r.log.Info().Msg(pulseText(s, r.awaited(r.trading.Now())))
		}
	}
}

// awaited is what the strategies wait for: the next candle that closes.
func (r *runner) awaited(now market.Time) string {
	next, text := market.Time(0), ""
	for i := range r.plan.Strategies {
		s := &r.plan.Strategies[i]
		if at := s.Interval.End(s.Interval.Floor(now)); text == "" || at < next {
			next = at
			text = fmt.Sprintf("waits for the %s candle of %s", s.Interval, at.Std().Format("15:04Z"))
		}
	}
	return text
}

// pulseText is a status in a line.
func pulseText(s *operator.Status, awaited string) string {
	parts := []string{s.State}
	warming := 0
	for _, x := range s.Strategies {
		switch x.State {
		case operator.Halted:
			parts = append(parts, x.Name+" is halted: "+x.Reason)
		case operator.WarmingUp:
			warming++
		}
		if x.Universe != nil && x.Universe.Hint != "" {
			parts = append(parts, x.Name+": "+x.Universe.Hint)
		}
	}
	if warming > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d strategies warm up", warming, len(s.Strategies)))
	}
	switch {
	case s.Opening != "":
		parts = append(parts, s.Opening)
	case s.State == operator.Trading && awaited != "":
		parts = append(parts, awaited)
	}
	if s.Equity != "" {
		parts = append(parts, fmt.Sprintf("equity %s %s, exposed %s", s.Equity, s.Currency, s.Exposure))
	}
	if s.DayResult != "" {
		parts = append(parts, "today "+s.DayResult)
	}
	if len(s.Unprotected) > 0 {
		parts = append(parts, fmt.Sprintf("%d positions without an exit", len(s.Unprotected)))
	}
	if len(s.NotGuarded) > 0 {
		parts = append(parts, fmt.Sprintf("%d groups not guarded", len(s.NotGuarded)))
	}
	return strings.Join(append(parts, fmt.Sprintf("%d orders open", s.OpenOrders)), "; ")
}
