package profit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tidemark-trading/tidemark/market"
)

// Earned is the profit of a period, a strategy, a market or a tag. Money is in
// the account's currency, exact, as a plain decimal; what is not known is empty.
type Earned struct {
	Name       string `json:"name"`              // of the group: 2026-11-23, maker, BTC-EUR, stop
	FromMS     int64  `json:"from_ms,omitempty"` // of a period
	Realised   string `json:"realised"`          // by sales, after fees
	Unrealised string `json:"unrealised"`        // of a period: its change; of a strategy or market: as it stands
	Fees       string `json:"fees"`
	Turnover   string `json:"turnover"` // what all fills traded
	Trips      int    `json:"trips"`    // round trips that ended
	Won        int    `json:"won"`
	Flows      string `json:"flows"`  // of a period: what came, less what left
	Equity     string `json:"equity"` // at the end of a period
	// Return is the time-weighted return of a period: flows have no part in it.
	Return *float64 `json:"return"`
	// Drawdown is the largest fall of the time-weighted index from a peak, as a part of the peak.
	Drawdown *float64 `json:"drawdown"`
	Fall     string   `json:"fall"` // the largest fall of what was earned from its peak
}

// Answer is what each answer about a bot begins with.
type Answer struct {
	Running bool `json:"running"` // the running bot gave it; else its state file did
}

// ByBot notes that the running bot gave the answer.
func (a *Answer) ByBot() { a.Running = true }

// ProfitReport is the profit of a bot, by groups and in all.
type ProfitReport struct {
	Answer
	AsOfMS   int64    `json:"as_of_ms,omitempty"` // of a stopped bot: when its file was last written
	Zone     string   `json:"zone"`               // of the days
	By       string   `json:"by"`
	Currency string   `json:"currency"`
	Groups   []Earned `json:"groups"`
	Total    Earned   `json:"total"`
	// MoneyWeighted is the return of the whole time on the money that was there: the rate at which
	// start and flows grow to the end. Return of the total is time-weighted.
	MoneyWeighted *float64 `json:"money_weighted"`
	LeftOut       []string `json:"left_out,omitempty"` // markets of other currencies, in which there were fills
}

// Brief rounds a decimal of an answer to four places, for a person.
func Brief(text string) string {
	if at := strings.IndexByte(text, '.'); at < 0 || len(text) <= at+5 {
		return text
	}
	number, err := decimal.NewFromString(text)
	if err != nil {
		return text
	}
	return number.Round(4).String()
}

// Signed is Brief with the sign of a gain.
func Signed(text string) string {
	if text = Brief(text); text != "0" && text != "" && text[0] != '-' {
		return "+" + text
	}
	return text
}

// Part is a part of a whole for a person, by a form for hundredths, like %+.2f%%; "-": unknown.
// What rounds to 0 has no sign.
func Part(part *float64, form string) string {
	if part == nil {
		return "-"
	}
	text := fmt.Sprintf(form, 100**part)
	if strings.Trim(text, "+-0.%") == "" {
		return strings.TrimLeft(text, "+-")
	}
	return text
}

// DrawdownText is the drawdown as a part, or in money where there is no whole; "-": unknown.
func (e *Earned) DrawdownText() string {
	if e.Drawdown == nil {
		return cmp.Or(Brief(e.Fall), "-")
	}
	return Part(e.Drawdown, "%.2f%%")
}

// sums add up what a group has earned, in values of ledger.digits decimals.
type sums struct {
	name                     string
	from, to                 market.Time // of a period
	realised, fees, turnover market.Value
	trips, won               int
	unrealised               market.Value
	standing                 bool // unrealised is what positions stand at
}

// accountant groups what a fold finds.
type accountant struct {
	l            *timeline
	by           string
	zone         *time.Location
	since, until market.Time
	groups       []*sums
	named        map[string]*sums
	total        sums
	period       *sums // the latest one
	trips        trips
	leftOut      []string
}

// Profit says what a bot has earned in the asked time, by Query.By. last returns the latest price
// of a market, 0 for none; now is the present, where ages of the query end.
func Profit(from Source, q *Query, last func(market.ID) market.Price, now market.Time) (*ProfitReport, error) {
	zone, err := q.zone(from)
	if err != nil {
		return nil, err
	}
	a := accountant{by: cmp.Or(q.By, ByDay), zone: zone, named: map[string]*sums{}}
	if a.since, a.until, err = q.span(now, zone); err != nil {
		return nil, err
	}
	if a.l, err = read(from, true); err != nil {
		return nil, err
	}
	if err := q.known(a.l); err != nil {
		return nil, err
	}
	report := &ProfitReport{Zone: zone.String(), By: a.by, Groups: []Earned{}}
	if a.l.currency == nil {
		return report, nil // it has never run
	}
	report.Currency = a.l.currency.Symbol
	held, err := a.l.replay(a.wants(q), a.add)
	if err == nil {
		err = cmp.Or(a.endTrips(), a.value(held, last))
	}
	if err != nil {
		return nil, err
	}
	report.LeftOut = a.leftOut
	var c curve
	if q.Market == "" && a.by != ByMarket && a.by != ByTag {
		if c, err = a.l.curveOf(from, q.Strategy, a.since, a.until); err != nil {
			return nil, err
		}
	}
	return report, a.report(report, &c, from, min(a.until, now+1))
}

// wants leaves out markets of other currencies, and notes them.
func (a *accountant) wants(q *Query) func(*event) bool {
	asked := q.wants(a.l)
	return func(e *event) bool {
		if !asked(e) {
			return false
		}
		m := a.l.catalog.Market(e.market)
		ours := m.Quote == a.l.currency.ID
		if !ours && !slices.Contains(a.leftOut, m.Name) {
			a.leftOut = append(a.leftOut, m.Name)
		}
		return ours
	}
}

// add counts a change in its group.
func (a *accountant) add(c *effect) error {
	if err := a.trips.add(c); err != nil || c.event.side == 0 || c.event.at < a.since || c.event.at >= a.until {
		return err
	}
	drop := a.l.digits(a.l.currency.ID) - c.holding.market.ValueDigits
	for _, s := range [...]*sums{&a.total, a.group(c.event.at, c.holding, c.event.tag)} {
		err := cmp.Or(addTo(&s.realised, c.realised, drop), addTo(&s.fees, c.fee, drop),
			addTo(&s.turnover, c.turnover, drop))
		if err != nil {
			return err
		}
	}
	return nil
}

// endTrips counts the round trips where they ended.
func (a *accountant) endTrips() error {
	for i := range a.trips.list {
		t := &a.trips.list[i]
		if t.exit < a.since || t.exit >= a.until {
			continue
		}
		for _, s := range [...]*sums{&a.total, a.group(t.exit, t.holding, t.tag)} {
			s.trips++
			if t.profit.Sign() > 0 {
				s.won++
			}
		}
	}
	return nil
}

// group returns the sums of an event's group.
func (a *accountant) group(at market.Time, h *holding, tag uint32) *sums {
	switch a.by {
	case ByStrategy:
		return a.of(a.l.names[h.strategy])
	case ByMarket:
		return a.of(h.market.Name)
	case ByTag:
		return a.of(a.l.reason(tag))
	}
	if p := a.period; p != nil && at >= p.from && at < p.to {
		return p
	}
	from, to, name := PeriodOf(at, a.by, a.zone)
	a.period = a.of(name)
	a.period.from, a.period.to = from, to
	return a.period
}

// of returns the sums of a name.
func (a *accountant) of(name string) *sums {
	s := a.named[name]
	if s == nil {
		s = &sums{name: name}
		a.named[name], a.groups = s, append(a.groups, s)
	}
	return s
}

// PeriodOf returns the day, week, month or year of an instant in a time zone: its
// start, its end and its name.
func PeriodOf(at market.Time, by string, zone *time.Location) (from, to market.Time, name string) {
	t := at.Std().In(zone)
	year, month, day := t.Date()
	form := "2006-01-02"
	var days, months, years int
	switch by {
	case ByWeek:
		day -= (int(t.Weekday()) + 6) % 7
		days = 7
	case ByMonth:
		day, months, form = 1, 1, "2006-01"
	case ByYear:
		month, day, years, form = 1, 1, 1, "2006"
	default:
		days = 1
	}
	first := market.Midnight(year, month, day, zone)
	next := market.Midnight(year+years, month+time.Month(months), day+days, zone)
	return market.Time(first.UnixNano()), market.Time(next.UnixNano()), first.Format(form)
}

// value values the open positions: a group of a strategy or a market gets what its positions stand
// at, and so does the total of these.
func (a *accountant) value(all holdings, last func(market.ID) market.Price) error {
	if a.by != ByStrategy && a.by != ByMarket {
		return nil
	}
	drop := a.l.digits(a.l.currency.ID)
	a.total.standing = true
	for _, h := range all {
		price := last(h.market.ID)
		s := a.group(0, h, 0)
		s.standing = true
		if h.Amount == 0 || price == 0 {
			continue
		}
		worth, err := h.market.Value(price, h.Amount)
		if err == nil {
			worth, err = worth.Sub(h.Cost)
		}
		if err == nil {
			err = cmp.Or(addTo(&s.unrealised, worth, drop-h.market.ValueDigits),
				addTo(&a.total.unrealised, worth, drop-h.market.ValueDigits))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// timed reports whether the groups are periods.
func (a *accountant) timed() bool { return a.by != ByStrategy && a.by != ByMarket && a.by != ByTag }

// report writes the groups and the total. Periods in which nothing was traded are in it where the
// curve shows that the bot ran.
func (a *accountant) report(r *ProfitReport, c *curve, from Source, now market.Time) error {
	_, points := c.within(a.since, a.until)
	if a.timed() {
		for i := range points {
			a.group(points[i].at, nil, 0)
		}
		slices.SortFunc(a.groups, func(x, y *sums) int { return cmp.Compare(x.from, y.from) })
	} else {
		slices.SortFunc(a.groups, func(x, y *sums) int { return strings.Compare(x.name, y.name) })
	}
	for _, s := range a.groups {
		part := c
		if a.by == ByStrategy {
			own, err := a.l.curveOf(from, s.name, a.since, a.until)
			if err != nil {
				return err
			}
			part = &own
		}
		since, until := a.since, a.until
		if a.timed() {
			since, until = max(since, s.from), min(until, s.to)
		}
		one := a.earned(s, part, since, until)
		if a.timed() {
			one.FromMS = s.from.Millis()
		}
		r.Groups = append(r.Groups, one)
	}
	a.total.name = "total"
	r.Total = a.earned(&a.total, c, a.since, a.until)
	if before, points := c.within(a.since, a.until); len(points) > 0 && !c.earned {
		start := a.since
		if before == nil {
			start = points[0].at
		}
		r.MoneyWeighted = known(moneyWeighted(before, points, start, now))
	}
	return nil
}

// earned writes sums with the part of a curve that belongs to them.
func (a *accountant) earned(s *sums, c *curve, since, until market.Time) Earned {
	digits := a.l.digits(a.l.currency.ID)
	one := Earned{Name: s.name, Realised: s.realised.Format(digits), Fees: s.fees.Format(digits),
		Turnover: s.turnover.Format(digits), Trips: s.trips, Won: s.won}
	if s.standing {
		one.Unrealised = s.unrealised.Format(digits)
	}
	r := measure(c.within(since, until))
	if !r.known {
		return one
	}
	money := func(m market.Money) string { return market.FormatFixed(int64(m), a.l.currency.Digits) }
	one.Fall = money(r.fall)
	if !s.standing {
		total, err := market.ValueOf(int64(r.end - r.start - r.flows)).ScaleUp(digits - a.l.currency.Digits)
		if err == nil {
			total, err = total.Sub(s.realised)
		}
		if err == nil {
			one.Unrealised = total.Format(digits)
		}
	}
	if !c.earned {
		one.Equity, one.Flows = money(r.end), money(r.flows)
		one.Return, one.Drawdown = known(r.weighted), known(r.drawdown)
	}
	return one
}

// known is a figure without the noise of its last digits, nil where it is none.
func known(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	if f = math.Round(f*1e12) / 1e12; f == 0 {
		f = 0 // without a sign
	}
	return &f
}
