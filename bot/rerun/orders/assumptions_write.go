package orders

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// setting is a line of the section.
type setting struct {
	key, why string
	measured string // empty: it is not known
	value    string // as a backtest needs it; empty: its default is nearer to what was measured
}

// settings are the lines of the [backtest] section.
func (m *Measured) settings() []setting {
	v := m.Values()
	low, high := m.Intervals()
	interval := func(low, high float64, format string) string {
		if math.IsNaN(low) || math.IsNaN(high) {
			return ""
		}
		return fmt.Sprintf("; 80 %% interval "+format+" to "+format, low, high)
	}
	costs := fmt.Sprintf("of %d orders that met the market, %d are needed", len(m.Costs), leastCosts)
	all := []setting{{key: "half_spread_bps", why: costs}, {key: "slippage_bps", why: costs},
		{key: "latency", why: fmt.Sprintf("of %d answers, %d are needed", len(m.Latencies), leastCosts)},
		{key: "fill_probability"}}
	if !math.IsNaN(v.HalfSpread) {
		all[0].measured = fmt.Sprintf(`"%.2f"`, v.HalfSpread)
		all[0].why = fmt.Sprintf("mean of %d orders by value", len(m.Costs)) +
			interval(low.HalfSpread, high.HalfSpread, "%.2f")
		all[1].measured = fmt.Sprintf(`"%.2f"`, v.Slippage)
		all[1].why = "past the best price at arrival" + interval(low.Slippage, high.Slippage, "%.2f")
		if measured := mean(m.Costs, slippage); measured < 0 {
			all[1].why = fmt.Sprintf("measured %.2f: better than the best price at arrival", measured)
		}
	}
	if !math.IsNaN(v.Latency) {
		all[2].measured = fmt.Sprintf("%q", seconds(v.Latency).String())
		all[2].why = fmt.Sprintf("median from decision to acceptance of %d orders", len(m.Latencies)+m.Unanswered)
		if m.Applies(v.Latency) {
			all[2].value = all[2].measured
		} else {
			all[2].why += fmt.Sprintf(
				"; left out: on candles of %s a limit order would arrive a third of a candle late",
				m.Interval)
		}
	}
	_, fills, candles := hazard(m.Waits)
	all[3].why = fmt.Sprintf("of %d fills in touched candles, %d are needed", fills, leastFills)
	if !math.IsNaN(v.Fill) {
		all[3].measured = fmt.Sprintf(`"%.4f"`, v.Fill)
		all[3].why = fmt.Sprintf("%d fills in %d touched candles of %s", fills, candles, m.Interval) +
			interval(low.Fill, high.Fill, "%.2f")
	}
	for i := range all {
		if all[i].key != "latency" {
			all[i].value = all[i].measured
		}
	}
	return all
}

// Applies reports whether a backtest comes nearer to a latency in seconds by its setting than
// without it. On candles a limit order arrives at the next third of the candle: a latency of less
// than half of that is nearer to none.
func (m *Measured) Applies(latency float64) bool {
	return m.Interval == 0 || latency >= m.Interval.End(0).Sub(0).Seconds()/6
}

// Figures are the assumptions as JSON. A null is not known: there are too few orders.
type Figures struct {
	Orders          int      `json:"orders"`
	FromNS          int64    `json:"from_ns"`
	ToNS            int64    `json:"to_ns"`
	HalfSpreadBPS   *float64 `json:"half_spread_bps"`
	SlippageBPS     *float64 `json:"slippage_bps"`
	LatencyMS       *float64 `json:"latency_ms"`
	FillProbability *float64 `json:"fill_probability"`
	Costs           int      `json:"cost_orders"` // that met the market
	Fills           int      `json:"touch_fills"`
	Touched         int      `json:"touched_candles"`
	Through         int      `json:"through_candles"`
	ThroughFilled   int      `json:"through_candles_filled"`
	Unanswered      int      `json:"unanswered"`
	LeftOut         []Count  `json:"left_out"`
}

// Figures returns the assumptions for a program.
func (m *Measured) Figures() Figures {
	v := m.Values()
	f := Figures{Orders: m.Orders, FromNS: int64(m.From), ToNS: int64(m.To), Costs: len(m.Costs), Through: m.Through,
		ThroughFilled: m.ThroughAll, Unanswered: m.Unanswered, LeftOut: m.LeftOut}
	_, f.Fills, f.Touched = hazard(m.Waits)
	for _, one := range [...]struct {
		value float64
		into  **float64
	}{{v.HalfSpread, &f.HalfSpreadBPS}, {v.Slippage, &f.SlippageBPS}, {1000 * v.Latency, &f.LatencyMS},
		{v.Fill, &f.FillProbability}} {
		if !math.IsNaN(one.value) {
			*one.into = &one.value
		}
	}
	return f
}

// FirstLine begins every Section.
const FirstLine = "# Measured from "

// Section is the [backtest] section of a config, with what each figure was measured from as a
// comment. What the orders do not support is a comment too, and leaves the backtest's default.
func (m *Measured) Section() string {
	var b, again strings.Builder
	fmt.Fprintf(&b, FirstLine+"%s.\n# A backtest with these lines says so; compare docs/rerun.md.\n\n[backtest]\n",
		m.source())
	for _, s := range m.settings() {
		switch {
		case s.measured == "":
			fmt.Fprintf(&b, "# %s: not measured, %s\n", s.key, s.why)
			continue
		case s.value == "":
			fmt.Fprintf(&b, "# %s = %s # %s\n", s.key, s.measured, s.why)
		default:
			fmt.Fprintf(&b, "%s = %s # %s\n", s.key, s.value, s.why)
		}
		fmt.Fprintf(&again, "%s = %s\n", s.key, s.measured)
	}
	if m.Through > 0 {
		fmt.Fprintf(&b, "# fill_through: %d of %d candles that traded through an order filled it whole (%.2f); a "+
			"backtest fills all\n", m.ThroughAll, m.Through, float64(m.ThroughAll)/float64(m.Through))
	}
	fmt.Fprintf(&b, "\n[backtest.measured]\norders = %d\nfrom = %s\nto = %s\n%s", m.Orders,
		m.From.String()[:10], dayAfter(m.To), again.String())
	return b.String()
}

// dayAfter is the day that begins after a time.
func dayAfter(t market.Time) string {
	const day = market.Time(24 * 3600e9)
	return ((t + day - 1) / day * day).String()[:10]
}

func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(100 * time.Microsecond)
}
