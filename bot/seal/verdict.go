package seal

import (
	"encoding/json"
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research/stats"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// Observation is the document of a verdict: the account at the end of a UTC day, what the day was,
// and the evidence since the seal. The first observation behind a seal is its baseline, from which
// the first day counts.
type Observation struct {
	Version int `json:"version"`
	// of the reckoning: the first minute behind the day, or the bot's next one
	AtMS      int64             `json:"at_ms"`
	Baseline  bool              `json:"baseline,omitempty"`
	Equity    string            `json:"equity"`
	Exposure  string            `json:"exposure"`
	Balances  map[string]string `json:"balances"`  // by asset
	Prices    map[string]string `json:"prices"`    // by market
	Transfers string            `json:"transfers"` // that came in since the reckoning before, in the currency
	Return    float64           `json:"return"`    // since the reckoning before, transfers taken out
	Share     float64           `json:"share"`     // exposure at the reckoning before, as a part of the equity
	Trips     int               `json:"trips"`
	Slippage  []Slip            `json:"slippage,omitempty"`
	// fills that took, of orders without a known price at arrival
	Unknown  int                       `json:"unknown,omitempty"`
	Evidence [stats.Quantities]float64 `json:"evidence"`
	Total    float64                   `json:"total"`
	Changed  []string                  `json:"changed,omitempty"` // what differs from the sealed strategies
}

// Slip is the slippage of a fill that took: how much worse than the best price on the other side
// when the exchange's answer came.
type Slip struct {
	Order   int64   `json:"order"`
	Fill    string  `json:"fill"`
	Market  string  `json:"market"`
	Buy     bool    `json:"buy,omitempty"`
	Price   string  `json:"price"`
	Against string  `json:"against"` // the best price on the other side
	Decided string  `json:"decided"` // the price when the strategy decided
	BPS     float64 `json:"bps"`     // of Decided; above 0: worse
}

// bps is the slippage of a fill against a price, in basis points of another.
func bps(buy bool, price, against, decided market.Price) float64 {
	x := float64(price-against) / float64(decided) * 1e4
	if !buy {
		x = -x
	}
	return x
}

// day is the day of an observation as the evidence takes it.
func (o *Observation) day() *stats.Day {
	d := &stats.Day{Return: o.Return, Exposure: o.Share, Trips: o.Trips}
	for i := range o.Slippage {
		d.Slippage = append(d.Slippage, o.Slippage[i].BPS)
	}
	return d
}

func decodeObservation(v *journal.Verdict) (*Observation, error) {
	o := &Observation{}
	if err := json.Unmarshal(v.Document, o); err != nil {
		return nil, fmt.Errorf("%w: verdict on %s: %w", bolt.ErrCorrupt, dateOf(v.Day), err)
	}
	return o, checkVersion(o.Version)
}

// dateOf is the UTC date of a time.
func dateOf(t market.Time) string { return t.Std().Format("2006-01-02") }

// watched is a seal and what was held against it so far.
type watched struct {
	number   uint64 // of the journal entry
	at       market.Time
	by       string
	hash     string
	document *Document
	evidence *stats.Evidence
	from     int64        // the day of the baseline; the days behind it count
	last     *Observation // of the latest verdict; nil: none yet
	lastDay  int64        // of that
	broken   market.Time  // the day of the alarm; 0: none
	unknown  int          // fills without a known price at arrival
}

// newWatched begins with a seal.
func newWatched(number uint64, at market.Time, s *journal.Seal) (*watched, error) {
	d, err := decode(s.Document)
	if err != nil {
		return nil, err
	}
	w := &watched{number: number, at: at, by: s.By, hash: hashOf(s.Document), document: d}
	w.evidence, err = stats.NewEvidence(&d.Promise)
	return w, err
}

// add holds an observation of a day against the seal.
func (w *watched) add(day market.Time, o *Observation) {
	number := day.Day()
	if o.Baseline || w.last == nil {
		w.from = number
	} else {
		for missed := w.lastDay + 1; missed < number; missed++ {
			w.evidence.Add(&stats.Day{Missed: true})
		}
		w.evidence.Add(o.day())
		if w.broken == 0 && w.evidence.Broken() != nil {
			w.broken = day
		}
	}
	w.last, w.lastDay = o, number
	w.unknown += o.Unknown
}

// watchedIn is the latest seal of the kept entries, with its verdicts; nil: there is none.
func watchedIn(rows []journal.KeptRow) (w *watched, err error) {
	for i := range rows {
		switch r := rows[i].Record.(type) {
		case *journal.Seal:
			if r.Scope != Scope {
				continue
			}
			if w, err = newWatched(rows[i].Number, rows[i].At, r); err != nil {
				return nil, fmt.Errorf("entry %d: %w", rows[i].Number, err)
			}
		case *journal.Verdict:
			if w == nil || r.Scope != Scope || r.Seal != w.number {
				continue
			}
			o, err := decodeObservation(r)
			if err != nil {
				return nil, fmt.Errorf("entry %d: %w", rows[i].Number, err)
			}
			w.add(r.Day, o)
		}
	}
	return w, nil
}
