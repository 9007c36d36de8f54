package bracket

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
)

// Departure is a position that a person has asked to be sold. A Close of everything sells it, once
// the exchange would take the sale; until then, and after a Close that failed, the exits of the
// position stay. A departure ends with its position, or with EndDepartures.
type Departure struct {
	Strategy market.StrategyID
	Market   market.ID
	Next     market.Time // time of the next attempt
	Failures int         // in a row
	Small    bool        // the position is below the market's minimum
	Code     int         // the exchange's code of the latest failure; 0: the exchange had no part in it
	Why      string      // the latest failure; empty: none yet
	Refused  bool        // the latest attempt ended at the gate: no exit was touched
}

// departures is all departures of a set.
type departures struct {
	all   []Departure
	saved []Departure // as last saved
	tag   string      // of the sales
}

// departer leaves positions for a person: a sale is tried until the position has gone.
type departer struct {
	*closer
	departs departures
}

// of returns the departure of a strategy from a market, or nil.
func (d *departures) of(id market.StrategyID, m market.ID) *Departure {
	for i := range d.all {
		if x := &d.all[i]; x.Strategy == id && x.Market == m {
			return x
		}
	}
	return nil
}

// end removes the departures of a strategy from a market, 0 for all markets.
func (d *departures) end(id market.StrategyID, m market.ID) {
	d.all = slices.DeleteFunc(d.all, func(x Departure) bool { return x.Strategy == id && (m == 0 || x.Market == m) })
}

// due is the time of the next attempt.
func (d *departures) due() market.Time {
	at := never
	for i := range d.all {
		at = min(at, d.all[i].Next)
	}
	return at
}

// fail notes an attempt that has failed. A sale that the exchange would not take is tried again
// when the market changes, and now and then.
func (d *Departure) fail(now market.Time, code int, why string) {
	d.Failures++
	d.Code, d.Why, d.Refused = code, why, false
	d.Small = code == exchange.CodeMinBase || code == exchange.CodeMinQuote
	d.Next = now.Add(min(market.Duration(time.Second)<<min(d.Failures-1, 10), maxWait))
}

// Depart begins to leave a position for good. tag is that of the sales.
func (s *departer) Depart(id market.StrategyID, m market.ID, tag string) {
	d := s.departs.of(id, m)
	if d == nil {
		s.departs.tag = tag
		s.departs.all = append(s.departs.all, Departure{Strategy: id, Market: m, Next: s.now()})
		d = &s.departs.all[len(s.departs.all)-1]
	}
	if d.Next <= s.now() && !s.silent() {
		s.depart(d)
	}
}

// EndDepartures ends the departures of a strategy: it trades again. A sale under way goes on.
func (s *departer) EndDepartures(id market.StrategyID) { s.departs.end(id, 0) }

// Departures are the positions that are to be sold for a person and are not being sold now.
func (s *departer) Departures(id market.StrategyID) (waiting []Departure) {
	for _, d := range s.departs.all {
		if d.Strategy == id && !s.Closing(id, d.Market) {
			waiting = append(waiting, d)
		}
	}
	return waiting
}

// departAll makes the attempts that are due.
func (s *departer) departAll() {
	for i := len(s.departs.all) - 1; i >= 0; i-- {
		if i < len(s.departs.all) && s.departs.all[i].Next <= s.now() {
			s.depart(&s.departs.all[i])
		}
	}
}

// depart begins the Close of a departure, where the exchange would take the sale.
func (s *departer) depart(d *Departure) {
	id, m := d.Strategy, d.Market
	held, _ := s.orders.Position(id, m)
	switch {
	case s.Closing(id, m):
		d.Next = never // its end sets it
		return
	case held <= 0 && !s.orders.Pending(id, m, s.orders.Newest()):
		s.departs.end(id, m)
		return
	case held <= 0:
		d.Next = s.now().Add(market.Duration(time.Second))
		return
	}
	last, err := s.orders.MayLeave(id, m, held)
	if err == nil {
		d.Next = never
		err = s.Close(&Leave{Strategy: id, Market: m, Whole: true, Amount: held, Last: last, Tag: s.departs.tag})
	}
	if err != nil {
		code, why := 0, (*risk.Refusal)(nil)
		if errors.As(err, &why) {
			code = why.Code
		}
		d.fail(s.now(), code, err.Error())
		d.Refused = true
	}
}

// departFailed notes the end of a Close that has not sold all.
func (s *departer) departFailed(c *closing) {
	d := s.departs.of(c.strategy, c.market)
	switch {
	case d == nil:
	case c.whole:
		d.fail(s.now(), c.code, c.why)
	default:
		d.Next = s.now()
	}
}

// departDone notes the end of a Close that has sold all, or all but dust.
func (s *departer) departDone(c *closing) {
	switch d := s.departs.of(c.strategy, c.market); {
	case d == nil:
	case c.whole:
		s.departs.end(c.strategy, c.market)
	default:
		d.Next = s.now()
	}
}

// SavedDeparture is a departure in an engine's snapshot.
type SavedDeparture struct {
	Strategy string      `json:"strategy"`
	Market   string      `json:"market"`
	Next     market.Time `json:"next"`
	Failures int         `json:"failures,omitzero"`
	Code     int         `json:"code,omitzero"`
	Small    bool        `json:"small,omitzero"`
	Why      string      `json:"why,omitempty"`
	Refused  bool        `json:"refused,omitzero"`
	Tag      string      `json:"tag"`
}

// SaveDepartures returns the departures; names are those of strategies by StrategyID − 1.
func (s *departer) SaveDepartures(names []string) (all []SavedDeparture) {
	for _, d := range s.departs.all {
		all = append(all, SavedDeparture{Strategy: names[d.Strategy-1], Market: s.catalog.Market(d.Market).Name,
			Next: d.Next, Failures: d.Failures, Code: d.Code, Small: d.Small, Why: d.Why, Refused: d.Refused,
			Tag: s.departs.tag})
	}
	return all
}

// RestoreDepartures adds saved departures.
func (s *departer) RestoreDepartures(all []SavedDeparture, names []string) error {
	for _, from := range all {
		at, m := slices.Index(names, from.Strategy), s.catalog.MarketNamed(from.Market)
		if at < 0 || m == nil {
			return fmt.Errorf("flatten of %s in %s: one of them is gone", from.Strategy, from.Market)
		}
		s.departs.tag = from.Tag
		s.departs.all = append(s.departs.all, Departure{Strategy: market.StrategyID(at + 1), Market: m.ID,
			Next: from.Next, Failures: from.Failures, Code: from.Code, Small: from.Small, Why: from.Why,
			Refused: from.Refused})
	}
	return nil
}
