package orders

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// leastFills is how many fills a fill probability needs to be written.
const leastFills = 30

// leastCosts is how many orders that met the market a half spread and a slippage need, as a median
// latency needs so many answers.
const leastCosts = 20

// Measured has the figures from the orders of a bot. Rates are in basis points.
type Measured struct {
	From, To market.Time // of the orders
	Orders   int         // that the exchange took
	Costs    []Cost      // of those that met the market when they arrived
	// Latencies are from the decision to the acceptance, sorted. Unanswered orders stand behind
	// them.
	Latencies  []market.Duration
	Unanswered int
	Waits      []Wait          // of orders at rest that a candle touched
	Through    int             // candles that traded through an order at rest …
	ThroughAll int             // … and filled it whole
	Interval   market.Interval // the shortest of the markets' candles; 0: there are no orders
	LeftOut    []Count         // orders that say nothing, by reason
	Gaps       []Hole
}

// Count is a number of orders.
type Count struct {
	Orders int    `json:"orders"`
	Why    string `json:"why"` // after "orders that"
}

// Range bounds the decisions of the orders that are measured; 0 is no bound.
type Range struct{ From, To market.Time }

// ErrPaper means that the orders of a folder met a simulated exchange.
var ErrPaper = errors.New("these are paper orders: their fills are assumptions themselves; assumptions are " +
	"measured from live ones")

// MeasureAssumptions measures the orders of a log. An order log of paper mode is ErrPaper.
func MeasureAssumptions(log *Log, in Range) (*Measured, error) {
	if log.Paper {
		return nil, ErrPaper
	}
	m := &Measured{From: max(in.From, log.From), To: log.To, Gaps: log.Gaps, LeftOut: []Count{}}
	if in.To != 0 {
		m.To = min(in.To, log.To)
	}
	left := map[string]int{}
	for _, o := range log.Orders {
		place := o.Place()
		if place == nil || place.Decided < m.From || in.To != 0 && place.Decided >= in.To {
			continue
		}
		if of := log.Intervals[o.Market]; m.Interval == 0 || of < m.Interval {
			m.Interval = of
		}
		if why := m.add(log.Catalog.Market(o.Market), o); why != "" {
			left[why]++
		}
	}
	slices.Sort(m.Latencies)
	for _, why := range reasons {
		if left[why] > 0 {
			m.LeftOut = append(m.LeftOut, Count{left[why], why})
		}
	}
	return m, nil
}

// Why an order says nothing of some assumption.
const (
	notSent   = "never left the bot"
	refused   = "were refused by the exchange"
	triggered = "waited for a trigger: they have no price of arrival"
	quoteless = "met the market without a recorded quote at decision or arrival"
	// Such an order stands in Unanswered.
	unanswered = "had no answer and were never found at the exchange"
	timeless   = "have no known time of acceptance"
	untouched  = "rested and no candle touched them"
)

var reasons = []string{notSent, refused, unanswered, timeless, triggered, quoteless, untouched}

// add measures an order. It returns why the order is left out; empty: it is not.
func (m *Measured) add(of *market.Market, o *Life) (why string) {
	place := o.Place()
	switch {
	case o.Accepted != 0:
		m.Orders++
		m.Latencies = append(m.Latencies, o.Accepted.Sub(place.Decided))
	case place.Sent == 0:
		return notSent
	case place.Answer == journal.AnswerRejected:
		return refused
	case o.ExchangeID == uuid.Nil:
		m.Unanswered++
		return unanswered
	default:
		m.Orders++
		return timeless
	}
	if o.Took {
		c, ok := costOfOrder(of, o)
		switch {
		case ok:
			m.Costs = append(m.Costs, c)
		case o.Type.HasTrigger():
			return triggered
		default:
			return quoteless
		}
		return ""
	}
	touched := false
	for i := range o.Rests {
		r := &o.Rests[i]
		t := throughs{}
		if w, ok := waitOf(of, o, r, &t); ok {
			touched, m.Waits = true, append(m.Waits, w)
		}
		m.Through, m.ThroughAll = m.Through+t.Candles, m.ThroughAll+t.Full
	}
	switch {
	case len(o.Rests) == 0 && o.Type.HasTrigger():
		return triggered
	case !touched:
		return untouched
	}
	return ""
}

// Values are the assumptions of a backtest. A field that is not known is not a number.
type Values struct {
	HalfSpread, Slippage float64 // basis points
	Latency              float64 // seconds
	Fill                 float64 // probability
}

// Values are the assumptions that the orders support.
func (m *Measured) Values() Values {
	return valuesOf(m.Costs, m.Waits, m.latency(0.5))
}

func valuesOf(costs []Cost, waits []Wait, latency float64) Values {
	v := Values{math.NaN(), math.NaN(), latency, math.NaN()}
	if len(costs) >= leastCosts {
		v.HalfSpread, v.Slippage = max(0, mean(costs, halfSpread)), max(0, mean(costs, slippage))
	}
	if p, fills, _ := hazard(waits); fills >= leastFills {
		v.Fill = p
	}
	return v
}

// latency is a quantile of the latencies in seconds. Orders without an answer count as endless. It
// is not a number where there are too few orders, or where it is one of those.
func (m *Measured) latency(q float64) float64 {
	n := len(m.Latencies) + m.Unanswered
	at := int(math.Ceil(q*float64(n)-1e-9)) - 1
	if !enough(q, n) || at >= len(m.Latencies) {
		return math.NaN()
	}
	return m.Latencies[max(at, 0)].Seconds()
}

// source says in words from where the assumptions are.
func (m *Measured) source() string {
	from, to := m.From.String()[:len(time.DateOnly)], m.To.String()[:len(time.DateOnly)]
	if from == to {
		return fmt.Sprintf("%d live orders of %s", m.Orders, from)
	}
	return fmt.Sprintf("%d live orders of %s to %s", m.Orders, from, to)
}
