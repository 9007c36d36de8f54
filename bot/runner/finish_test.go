package runner

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// A stop with keep_exits = false meets a flatten at any of its moments. A sale whose exit has gone
// for it leaves before the end; where it is refused, the last line says what is left, and the next
// start protects it.
func TestAStopThatKeepsNoExitsFinishesTheSalesThatHaveBegun(t *testing.T) {
	for name, hears := range hearings {
		for _, refused := range []bool{false, true} {
			for ms := 0; ms <= 60; ms += bottest.Rounds(4, 30) {
				t.Run(fmt.Sprintf("%s %t %d", name, refused, ms), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						s := stageOf(t, "patient", patientKind)
						s.hears = hears
						p := s.start()
						time.Sleep(10 * time.Second)
						require.Len(t, s.OpenAtTheExchange(), 1)
						if refused {
							m := *s.Market()
							m.Status = market.CancelOnly // the bot has not heard of it yet
							require.NoError(t, s.ex.SetRules(m.Name, &m))
						}
						c := &control{r: p.runner, ctx: t.Context()}
						go func() { _, _ = c.flatten(t.Context(), &operator.Request{}) }()
						time.Sleep(time.Duration(ms) * time.Millisecond)
						require.NoError(t, p.end())
						require.Empty(t, s.OpenAtTheExchange())
						held := p.account.Position(1, s.Market().ID).Amount
						if ms > 0 || refused { // at 0 ms either comes first
							require.Equal(t, refused, held > 0)
						}
						if held > 0 {
							require.Regexp(t, "position left: it has no exit until the next start", s.log.Tail(1))
						}
					})
				})
			}
		}
	}
}

// goerKind is patient until it is told to close.
func goerKind(leaves *atomic.Bool) strategy.Definition {
	return scripted("goer", func() onTicker {
		stay, closed := patient(), false
		return func(d *strategy.Desk, t market.Ticker) {
			switch {
			case !leaves.Load():
				stay(d, t)
			case !closed:
				closed = d.In(t.Market).Close() == nil
			}
		}
	})
}

// A stop with keep_exits = false meets a strategy's own Close: the sale whose exit has gone for it
// leaves, in as many orders as it takes. An auction takes no market orders: the last line says what
// is left, and the next start protects it.
func TestAStopThatKeepsNoExitsFinishesAStrategysClose(t *testing.T) {
	bottest.Unraced(t)
	for name, rule := range map[string]func(m *market.Market){
		"in one":   nil,
		"in parts": func(m *market.Market) { m.MaxOrderInQuote = 100_00 },
		"auction":  func(m *market.Market) { m.Status = market.Auction },
	} {
		for ms := 0; ms <= 80; ms += 8 {
			t.Run(fmt.Sprintf("%s %d", name, ms), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var leaves atomic.Bool
					s := stageOf(t, "goer", goerKind(&leaves))
					s.hears = overPolls
					s.config = strings.Replace(s.config, "[poll]\n", "[poll]\nrules = \"30s\"\n", 1)
					p := s.start()
					time.Sleep(10 * time.Second)
					if name == "in parts" {
						s.rule(rule)
						time.Sleep(40 * time.Second) // the bot has heard of it
					}
					stop := s.resting()
					leaves.Store(true)
					for open := s.OpenAtTheExchange(); len(open) > 0 && open[0].Order.ExchangeID == stop.ExchangeID; {
						time.Sleep(time.Millisecond)
						open = s.OpenAtTheExchange()
					}
					if name == "auction" {
						s.rule(rule) // the exit has gone, and the sale has not come
					}
					time.Sleep(time.Duration(ms) * time.Millisecond)
					require.NoError(t, p.end())
					require.Empty(t, s.OpenAtTheExchange())
					held := p.account.Position(1, s.Market().ID).Amount
					if name != "auction" {
						require.Zero(t, held)
						return
					}
					require.Positive(t, held)
					require.Regexp(t, "position left: it has no exit until the next start", s.log.Tail(1))
					leaves.Store(false)
					p = s.start()
					time.Sleep(10 * time.Second)
					require.Equal(t, market.TypeStopLoss, s.resting().Type)
					require.NoError(t, p.end())
				})
			})
		}
	}
}
