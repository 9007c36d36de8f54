// Package universe ranks the markets of an exchange by their volume, as it was known at an instant.
// It never reads a store and never looks beyond that instant. Start at Ranking.At.
package universe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

// Digits are the decimals of a volume in quote.
const Digits = 8

// ranks are the words of a config, with the days of their window.
var ranks = []struct {
	word string
	days int
}{{"volume30d", 30}, {"volume7d", 7}, {"volume1d", 1}}

// Ranks are the words for the rank of a universe.
func Ranks() (words []string) {
	for _, r := range ranks {
		words = append(words, r.word)
	}
	return words
}

// Window is the number of days of a rank; 0: there is no such rank.
func Window(rank string) int {
	for _, r := range ranks {
		if r.word == rank {
			return r.days
		}
	}
	return 0
}

// Rule says which markets are members.
type Rule struct {
	Window  int    // days over which the volume is averaged
	Top     int    // how many markets are members
	Quote   string // only markets with this quote asset
	MinDays int    // only markets with a known volume on so many days of the window, at least 1
}

// UsualDays is the MinDays of a config without one: nine tenths of the window, so that a missing
// record throws no market out.
func UsualDays(window int) int { return max(1, window*9/10) }

// Source is where a volume comes from.
type Source uint8

// The sources.
const (
	FromCandles Source = iota + 1 // the candles of the day
	FromRecord                    // the 24 hours before a record of the exchange's markets
)

// Member is a market of the universe.
type Member struct {
	Market string
	Mean   market.Value // volume a day in quote, Digits decimals, rounded down
	Days   int          // days of the window whose volume is known
	Source Source       // of the newest day
}

// fresh is how many days old the newest volume of a member may be: the record of a day may be made
// after the day, and one may be missing.
const fresh = 2

// Ranking has the daily volumes of markets. Fill it first, then ask.
type Ranking struct {
	markets  map[string]*history
	listings []listing // by time
	sorted   bool
}

// history is the volumes of one market, by day from first on.
type history struct {
	name  string
	quote string
	first int64
	days  []day
	sums  []total // of the days before; one more than days
}

// day is the volume of one UTC day.
type day struct {
	volume market.Value
	known  market.Time // from when on
	source Source      // 0: the volume is not known
}

type total struct {
	volume market.Value
	days   int
}

// listing is the status of each market in a record.
type listing struct {
	at      market.Time
	trading map[string]bool // by name; missing: the market is not listed
}

// AddCandleDays adds the volumes of whole UTC days, made of candles. They stand before records of
// the same days.
func (b *Ranking) AddCandleDays(name string, first int64, volumes []market.Value) error {
	h, err := b.history(name)
	if err != nil {
		return err
	}
	for i, v := range volumes {
		n := first + int64(i)
		*h.at(n) = day{volume: v, known: candles.DayStart(n + 1), source: FromCandles}
	}
	b.sorted = false
	return nil
}

// AddListing adds a record. Its volumes belong to the UTC day in which most of its 24 hours lie.
// Records come in any order.
func (b *Ranking) AddListing(l *candles.Listing) error {
	status := listing{at: l.At, trading: make(map[string]bool, len(l.Markets))}
	for i := range l.Markets {
		m := &l.Markets[i]
		status.trading[m.Market] = m.Trading()
		volume, err := quoteVolume(m)
		if err != nil {
			return fmt.Errorf("record of %s: %s: %w", l.At, m.Market, err)
		}
		h, err := b.history(m.Market)
		if err != nil {
			return fmt.Errorf("record of %s: %w", l.At, err)
		}
		d := h.at(candles.DayOf(l.At - market.Time(12*60*60*1e9)))
		if d.source == FromCandles || d.source == FromRecord && d.known <= l.At {
			continue
		}
		*d = day{volume: volume, known: l.At, source: FromRecord}
	}
	b.listings, b.sorted = append(b.listings, status), false
	return nil
}

// quoteVolume is the recorded volume in quote; 0 without a trade.
func quoteVolume(m *candles.Listed) (market.Value, error) {
	if m.VolumeQuote24h == "" {
		return market.Value{}, nil
	}
	text := m.VolumeQuote24h
	if point := strings.IndexByte(text, '.'); point >= 0 && !strings.ContainsAny(text, "eE") {
		text = text[:min(len(text), point+1+Digits)] // finer digits do not matter
	}
	volume, err := market.ParseValue(text, Digits)
	if err == nil && volume.Sign() < 0 {
		err = fmt.Errorf("a volume of %s", m.VolumeQuote24h)
	}
	return volume, err
}

func (b *Ranking) history(name string) (*history, error) {
	if h := b.markets[name]; h != nil {
		return h, nil
	}
	_, quote, err := market.SplitName(name)
	if err != nil {
		return nil, err
	}
	if b.markets == nil {
		b.markets = map[string]*history{}
	}
	b.markets[name] = &history{name: name, quote: quote}
	return b.markets[name], nil
}

// at is the place of a day, made if there is none.
func (h *history) at(n int64) *day {
	switch {
	case len(h.days) == 0:
		h.first = n
	case n < h.first:
		h.days = slices.Concat(make([]day, h.first-n), h.days)
		h.first = n
	}
	if missing := n - h.first + 1 - int64(len(h.days)); missing > 0 {
		h.days = append(h.days, make([]day, missing)...)
	}
	return &h.days[n-h.first]
}

// At ranks the markets by what was known at an instant: the members, the best first. Markets of the
// same mean stand by name.
func (b *Ranking) At(t market.Time, r Rule) ([]Member, error) {
	if err := b.sort(); err != nil {
		return nil, err
	}
	listed := b.listedAt(t)
	var members []Member
	for name, h := range b.markets {
		if h.quote != r.Quote || listed != nil && !listed.trading[name] {
			continue
		}
		m, err := h.member(t, r)
		if err != nil {
			return nil, err
		}
		if m.Days >= max(1, r.MinDays) {
			members = append(members, m)
		}
	}
	slices.SortFunc(members, func(a, b Member) int {
		return cmp.Or(b.Mean.Cmp(a.Mean), strings.Compare(a.Market, b.Market))
	})
	return members[:min(len(members), r.Top)], nil
}

// member is a market's place in the ranking, over the window that ends with its newest known day.
// Days is 0 where it can have none: nothing was traded on that day, or it is too old.
func (h *history) member(t market.Time, r Rule) (m Member, err error) {
	today := candles.DayOf(t)
	newest := today - 1
	for ; newest >= today-fresh; newest-- {
		if d := h.day(newest); d != nil && d.source != 0 && d.known <= t {
			break
		}
	}
	d := h.day(newest)
	if newest < today-fresh || d.volume.Sign() == 0 {
		return m, nil
	}
	from := max(newest-int64(r.Window)+1, h.first)
	all, before := h.sums[newest-h.first+1], h.sums[from-h.first]
	sum, err := all.volume.Sub(before.volume)
	m = Member{Market: h.name, Days: all.days - before.days, Source: d.source}
	m.Mean = sum.QuoInt(int64(max(1, m.Days)))
	return m, err
}

// day is the volume of a day, nil outside of the history.
func (h *history) day(n int64) *day {
	if n < h.first || n >= h.first+int64(len(h.days)) {
		return nil
	}
	return &h.days[n-h.first]
}

// listedAt is the newest record that was known at an instant; nil where it is too old to say which
// markets there are.
func (b *Ranking) listedAt(t market.Time) *listing {
	n, _ := slices.BinarySearchFunc(b.listings, t+1, func(l listing, t market.Time) int { return cmp.Compare(l.at, t) })
	if n == 0 || candles.DayOf(b.listings[n-1].at) < candles.DayOf(t)-fresh {
		return nil
	}
	return &b.listings[n-1]
}

// sort makes the book ready for questions.
func (b *Ranking) sort() error {
	if b.sorted {
		return nil
	}
	slices.SortFunc(b.listings, func(a, b listing) int { return cmp.Compare(a.at, b.at) })
	for _, h := range b.markets {
		h.sums = make([]total, len(h.days)+1)
		for i := range h.days {
			next := h.sums[i]
			if d := &h.days[i]; d.source != 0 {
				sum, err := next.volume.Add(d.volume)
				if err != nil {
					return fmt.Errorf("volumes of %s: %w", h.name, err)
				}
				next = total{sum, next.days + 1}
			}
			h.sums[i+1] = next
		}
	}
	b.sorted = true
	return nil
}
