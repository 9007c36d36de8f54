package profit

import (
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// Sample is the equity at a time. Money is in the account's currency, as a plain decimal.
type Sample struct {
	AtMS     int64  `json:"at_ms"`
	Equity   string `json:"equity"`
	Low      string `json:"low"`  // since the sample before
	High     string `json:"high"` // likewise
	Exposure string `json:"exposure,omitempty"`
	Flow     string `json:"flow,omitempty"` // that came or left since the sample before
	// Index is the time-weighted growth since the first sample: 1.1 is 10 % more, whatever came or
	// left.
	Index float64 `json:"index"`
}

// Curve is the equity of an account, or of a strategy. A strategy that shares money with others has
// no equity: its curve is what it has earned, Earned is set, and the index stays 1.
type Curve struct {
	Answer
	AsOfMS        int64    `json:"as_of_ms,omitempty"` // of a stopped bot: when its file was last written
	Zone          string   `json:"zone"`               // in which a person reads the times
	Strategy      string   `json:"strategy,omitempty"`
	Currency      string   `json:"currency"`
	Earned        bool     `json:"earned,omitempty"`
	Samples       []Sample `json:"samples"`
	TimeWeighted  *float64 `json:"time_weighted"`
	MoneyWeighted *float64 `json:"money_weighted"`
	Drawdown      *float64 `json:"drawdown"`
	Fall          string   `json:"fall"` // the largest fall of what was earned from its peak
}

// Equity returns the curve of the account, or of Query.Strategy, in the asked time. now is the
// present, where ages of the query end.
func Equity(from Source, q *Query, now market.Time) (*Curve, error) {
	zone, err := q.zone(from)
	if err != nil {
		return nil, err
	}
	since, until, err := q.span(now, zone)
	if err != nil {
		return nil, err
	}
	every, err := q.every()
	if err != nil {
		return nil, err
	}
	l, err := readFlows(from, q.Strategy)
	if err != nil {
		return nil, err
	}
	if err := q.known(l); err != nil {
		return nil, err
	}
	answer := &Curve{Zone: zone.String(), Strategy: q.Strategy, Samples: []Sample{}}
	if l.currency == nil {
		return answer, nil // it has never run
	}
	answer.Currency = l.currency.Symbol
	c, err := l.curveOf(from, q.Strategy, since, until)
	if err != nil {
		return nil, err
	}
	before, points := c.within(since, until)
	r := measure(before, points)
	answer.Earned = c.earned
	if !r.known {
		return answer, nil
	}
	digits := l.currency.Digits
	answer.Fall = market.FormatFixed(int64(r.fall), digits)
	answer.Samples = sampled(before, points, &rows{every: every, zone: zone}, digits)
	if !c.earned {
		answer.TimeWeighted, answer.Drawdown = known(r.weighted), known(r.drawdown)
		if len(points) > 0 {
			start := since
			if before == nil {
				start = points[0].at
			}
			answer.MoneyWeighted = known(moneyWeighted(before, points, start, min(until, now+1)))
		}
	}
	return answer, nil
}

// rows are the spans of which a curve has a row each.
type rows struct {
	every    market.Time // 0: each point has a row
	zone     *time.Location
	from, to market.Time // the day of the zone of the time before
}

// wholeDay is the length of most days.
const wholeDay = market.Time(24 * time.Hour)

// of returns the number of the span that has a time. A span that divides the day, or is whole days,
// begins with a day of the zone; others begin at multiples since 1970.
func (r *rows) of(at market.Time) market.Time {
	if r.every%wholeDay != 0 && wholeDay%r.every != 0 {
		return market.FloorTo(at, r.every)
	}
	if at < r.from || at >= r.to {
		r.from, r.to, _ = PeriodOf(at, ByDay, r.zone)
	}
	if r.every < wholeDay {
		return r.from + market.FloorTo(at-r.from, r.every)
	}
	year, month, day := r.from.Std().In(r.zone).Date()
	return market.FloorTo(market.Time(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).UnixNano()), r.every)
}

// end reports whether a point is the last one of its span.
func (r *rows) end(points []point, i int) bool {
	return r.every == 0 || i+1 == len(points) || r.of(points[i+1].at) != r.of(points[i].at)
}

// sampled writes the points, of each span the last one with the extremes and flows of the span.
func sampled(before *point, points []point, spans *rows, digits uint8) []Sample {
	samples := make([]Sample, 0, len(points))
	money := func(m market.Money) string { return market.FormatFixed(int64(m), digits) }
	index, has := 1.0, market.Money(0)
	if before != nil {
		has = before.after
	}
	var low, high, flow market.Money
	fresh := true
	for i := range points {
		p := &points[i]
		if has > 0 {
			index *= float64(p.before) / float64(has)
		}
		has = p.after
		if fresh {
			low, high, flow = p.lowest(), p.high, 0
		}
		low, high, flow = min(low, p.lowest()), max(high, p.high, p.after), flow+p.after-p.before
		if fresh = spans.end(points, i); !fresh {
			continue
		}
		s := Sample{AtMS: p.at.Millis(), Equity: money(p.after), Low: money(low), High: money(high), Index: index}
		if p.exposure != 0 {
			s.Exposure = money(p.exposure)
		}
		if flow != 0 {
			s.Flow = money(flow)
		}
		samples = append(samples, s)
	}
	return samples
}

// lowest is the lowest equity up to a point. Before the first money came there was none.
func (p *point) lowest() market.Money {
	if p.before == 0 && p.after > 0 {
		return p.after
	}
	return min(p.low, p.after)
}
