package profit

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// The groups of a profit.
const (
	ByDay      = "day"
	ByWeek     = "week" // from Monday on
	ByMonth    = "month"
	ByYear     = "year"
	ByStrategy = "strategy"
	ByMarket   = "market"
	ByTag      = "tag"
)

// Groups lists the groups of a profit.
func Groups() []string {
	return []string{ByDay, ByWeek, ByMonth, ByYear, ByStrategy, ByMarket, ByTag}
}

// ZoneBlob is the name under which a bot stores the name of its time zone.
const ZoneBlob = "zone"

// Query narrows a question. The zero value asks for everything.
type Query struct {
	Since    string `json:"since,omitempty"` // a date, a time, or how long ago: 2026-11-01, 90d; empty: everything
	Until    string `json:"until,omitempty"` // likewise, exclusive
	Strategy string `json:"strategy,omitempty"`
	Market   string `json:"market,omitempty"`
	By       string `json:"by,omitempty"`     // of a profit: one of Groups; empty: by day
	Zone     string `json:"zone,omitempty"`   // of days: an IANA name; empty: the bot's setting
	Every    string `json:"every,omitempty"`  // of a curve: the span of a sample, like 1h; empty: all samples
	Latest   int    `json:"latest,omitempty"` // of a list: only so many of the latest; 0: all
}

// Zone returns a time zone by its IANA name, UTC for an empty one.
func Zone(name string) (*time.Location, error) {
	place, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, fmt.Errorf("time zone %q: want a name like Europe/Berlin, or UTC, that this machine knows", name)
	}
	return place, nil
}

// Check returns an error for the person who asks, if the zone, the group, the times or the span of
// the samples are none.
func (q *Query) Check() error {
	zone, err := Zone(q.Zone)
	if err != nil {
		return err
	}
	if q.By != "" && !slices.Contains(Groups(), q.By) {
		return fmt.Errorf("by %q: want one of %s", q.By, strings.Join(Groups(), ", "))
	}
	if _, _, err := q.bounds(0, zone); err != nil {
		return err
	}
	_, err = q.every()
	return err
}

// zone is the asked time zone, else the bot's, else UTC.
func (q *Query) zone(from Source) (*time.Location, error) {
	name := q.Zone
	if name == "" {
		stored, err := from.Blob(ZoneBlob)
		if err != nil {
			return nil, err
		}
		name = string(stored)
	}
	return Zone(name)
}

// every is the span of a curve's samples, 0 for all samples.
func (q *Query) every() (market.Time, error) {
	if q.Every == "" {
		return 0, nil
	}
	span, err := ParseAgo(q.Every)
	if err != nil || span < time.Minute {
		return 0, fmt.Errorf("a sample every %q: want a span like 15m, 1h or 1d", q.Every)
	}
	return market.Time(span), nil
}

// span is the asked time, with bounds where none were asked for. It refuses a time that ends before
// it begins.
func (q *Query) span(now market.Time, zone *time.Location) (since, until market.Time, err error) {
	if since, until, err = q.bounds(now, zone); err == nil && since >= until {
		err = fmt.Errorf("since %s, until %s: want the earlier time first", q.Since, q.Until)
	}
	return since, until, err
}

// bounds reads the asked time.
func (q *Query) bounds(now market.Time, zone *time.Location) (since, until market.Time, err error) {
	since, until = math.MinInt64, math.MaxInt64
	if q.Since != "" {
		since, err = parseMoment(q.Since, now, zone)
	}
	if q.Until != "" && err == nil {
		until, err = parseMoment(q.Until, now, zone)
	}
	return since, until, err
}

// Span is the asked time in the bot's zone: [since, until), with 0 where no bound was asked for.
// Ages end at now.
func (q *Query) Span(from Source, now market.Time) (since, until market.Time, err error) {
	zone, err := q.zone(from)
	if err != nil {
		return 0, 0, err
	}
	if since, until, err = q.span(now, zone); since == math.MinInt64 {
		since = 0
	}
	if until == math.MaxInt64 {
		until = 0
	}
	return since, until, err
}

// dates are the forms of a day, a month and a year of a zone, and times those of a time of it; the
// commands print the last one.
var (
	dates = []string{time.DateOnly, "2006-01", "2006"}
	times = []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", time.DateTime}
)

// parseMoment reads a date or a time of a zone, an instant, or how long ago it was.
func parseMoment(text string, now market.Time, zone *time.Location) (market.Time, error) {
	if ago, err := ParseAgo(text); err == nil {
		return now - market.Time(ago), nil
	}
	for _, form := range dates {
		if at, err := time.Parse(form, text); err == nil {
			return market.TimeOf(market.Midnight(at.Year(), at.Month(), at.Day(), zone))
		}
	}
	for _, form := range times {
		if at, err := time.ParseInLocation(form, text, zone); err == nil {
			return market.TimeOf(at)
		}
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return 0, fmt.Errorf("time %q: want a date like 2026-11-01, a time like 2026-11-01T09:30, or an age like 90d "+
			"or 36h", text)
	}
	return market.TimeOf(at)
}

// ParseAgo reads days like 90d, or a duration like 36h.
func ParseAgo(text string) (time.Duration, error) {
	if count, isDays := strings.CutSuffix(text, "d"); isDays {
		days, err := strconv.ParseUint(count, 10, 16)
		return time.Duration(days) * 24 * time.Hour, err
	}
	ago, err := time.ParseDuration(text)
	if err == nil && ago <= 0 {
		err = fmt.Errorf("%q is not above 0", text)
	}
	return ago, err
}

// known refuses a strategy or a market that the books do not have.
func (q *Query) known(l *timeline) error {
	if l.currency == nil {
		return nil // it has never run
	}
	if q.Strategy != "" && !slices.Contains(l.strategies, q.Strategy) {
		return WrongError{fmt.Errorf("strategy %q: the bot has had none of that name; it has %s", q.Strategy,
			strings.Join(l.strategies, ", "))}
	}
	if q.Market == "" || l.catalog.MarketNamed(q.Market) != nil {
		return nil
	}
	var names []string
	for _, m := range l.catalog.Markets() {
		names = append(names, m.Name)
	}
	return WrongError{fmt.Errorf("market %q: the bot has traded none of that name; it has %s", q.Market,
		strings.Join(names, ", "))}
}

// WrongError is a question for something that the books do not have.
type WrongError struct{ error }

// wants reports whether an event is of the asked strategy and market.
func (q *Query) wants(l *timeline) func(*event) bool {
	strategy, known := l.places[q.Strategy]
	m := l.catalog.MarketNamed(q.Market)
	return func(e *event) bool {
		return (q.Strategy == "" || known && e.strategy == strategy) && (q.Market == "" || m != nil && e.market == m.ID)
	}
}
