package trials

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// Seal is a part of the candles that no run may use until it is opened.
type Seal struct {
	Markets []string `json:"markets"` // sorted
	From    int64    `json:"from_ms"` // Unix milliseconds
	To      int64    `json:"to_ms"`   // exclusive
	// Tries and Series count tries and different series of returns: those that had used a part of
	// the range before the seal. In the row of an opening they count the family.
	Tries  int64 `json:"tries"`
	Series int64 `json:"series"`

	Opened *Opening `json:"-"` // nil: it is closed
}

// Opening is the one time at which a seal was opened.
type Opening struct {
	At            int64 // Unix milliseconds
	Tries, Series int64 // of the family at that time
	// Looks are the keys of the first maxLooks different tries that have used the range since then.
	Looks []uint64
}

// maxLooks is how many looks are kept.
const maxLooks = 1000

// Text names the range for a person.
func (s *Seal) Text() string {
	return fmt.Sprintf("%s to %s of %s", day(s.From), day(s.To), joined(s.Markets))
}

// day is a time for a person: without the hour, where it is midnight.
func day(ms int64) string {
	t := market.Time(ms) * 1_000_000
	if ms%(24*60*60*1000) == 0 {
		return t.Std().Format("2006-01-02")
	}
	return t.String()
}

// joined names a few markets.
func joined(markets []string) string {
	if len(markets) > 3 {
		return fmt.Sprintf("%s, %s and %d other markets", markets[0], markets[1], len(markets)-2)
	}
	text := markets[0]
	for _, m := range markets[1:] {
		text += ", " + m
	}
	return text
}

// Span is the range of the seal.
func (s *Seal) Span() Span { return Span{s.Markets, s.From, s.To} }

func (s *Seal) same(o *Seal) bool {
	return s.From == o.From && s.To == o.To && slices.Equal(s.Markets, o.Markets)
}

// seal reads a seal or an opening. The same seal or opening counts once.
func (v *View) seal(f *frame) {
	at := slices.IndexFunc(v.Seals, func(o Seal) bool { return o.Opened == nil && o.same(f.seal) })
	switch {
	case f.kind == kindSeal && at < 0:
		v.Seals = append(v.Seals, *f.seal)
	case f.kind == kindOpening && at >= 0:
		v.Seals[at].Opened = &Opening{At: f.at, Tries: f.seal.Tries, Series: f.seal.Series}
	}
}

// look notes the tries that use a range whose seal was opened.
func (v *View) look(f *frame) {
	o := &v.origins[f.origin]
	for i := range v.Seals {
		seal := &v.Seals[i]
		if span := seal.Span(); seal.Opened == nil || !span.overlaps(o.Markets, o.From, o.To) {
			continue
		}
		for n := range f.tries() {
			key := f.try(n).Key
			if len(seal.Opened.Looks) < maxLooks && !slices.Contains(seal.Opened.Looks, key) {
				seal.Opened.Looks = append(seal.Opened.Looks, key)
			}
		}
	}
}

// Under are the seals of a list that a span overlaps.
func (s *Span) Under(list []Seal) (closed, opened []Seal) {
	for _, seal := range list {
		switch {
		case !s.overlaps(seal.Markets, seal.From, seal.To):
		case seal.Opened == nil:
			closed = append(closed, seal)
		default:
			opened = append(opened, seal)
		}
	}
	return closed, opened
}

// Seal seals the candles of a span. The seal has the number of tries that have used a part of it
// already.
func (v *View) Seal(span Span, at int64) (Seal, error) {
	seal := Seal{Markets: union(nil, span.Markets), From: span.From, To: span.To}
	used := func(f *frame) (uint64, bool) {
		o := &v.origins[f.origin]
		return 0, span.overlaps(o.Markets, o.From, o.To)
	}
	err := v.count(used, func(uint64) { seal.Tries++ }, func(uint64) { seal.Series++ })
	if err != nil {
		return seal, err
	}
	return seal, v.ledger.writeSeal(kindSeal, &seal, at)
}

// Open opens a seal that is closed, and notes how many tries its family has.
func (v *View) Open(seal *Seal, at int64) error {
	st, err := v.Standing(Span{seal.Markets, seal.From - 1, seal.To}, nil) // searches end where the seal begins
	if err != nil {
		return err
	}
	opening := Seal{Markets: seal.Markets, From: seal.From, To: seal.To, Tries: st.Tries, Series: st.Series}
	if err := v.ledger.writeSeal(kindOpening, &opening, at); err != nil {
		return err
	}
	seal.Opened = &Opening{At: at, Tries: st.Tries, Series: st.Series}
	return nil
}

func (l *Ledger) writeSeal(k kind, seal *Seal, at int64) error {
	text, err := json.Marshal(seal)
	if err != nil {
		return err
	}
	_, err = l.write(framed(nil, append(begin(k, at), text...)))
	return err
}
