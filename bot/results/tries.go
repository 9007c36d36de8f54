package results

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/trials"
)

// Tries is how much was tried over the candles of a result, as the ledger of this machine knows it.
type Tries struct {
	Tries  int64 `json:"tries"`  // different backtests over candles that overlap
	Series int64 `json:"series"` // different series of daily returns among them
	// Bar is the annual Sharpe ratio, in excess of a hold at the result's own exposure, that the
	// best of so many worthless series exceeds in 5 of 100 cases on this length.
	Bar backtest.Figure `json:"bar"`
}

// maxSpans is the number of different ranges that are looked up in the ledger: each takes a pass
// over it.
const maxSpans = 40

// tries are the counts of a ledger, by range.
type tries struct {
	size    int64
	changed time.Time
	view    *trials.View // nil: there is no ledger, or it cannot be read
	spans   map[string]trials.Standing
}

// read reads the ledger where it has changed, and counts for the ranges of the results. It only
// reads: the ledger's index is made by the commands that append to it.
func (t *tries) read(path string, entries map[string]kept[Entry]) {
	info, err := os.Stat(path)
	if path == "" || err != nil {
		*t = tries{}
		return
	}
	if t.view == nil || t.size != info.Size() || !t.changed.Equal(info.ModTime()) {
		*t = tries{size: info.Size(), changed: info.ModTime(), spans: map[string]trials.Standing{}}
		if t.view, err = trials.At(path).View(); err != nil {
			t.view = nil
			return
		}
	}
	for _, e := range entries {
		key, span, is := spanOf(&e.value)
		if _, known := t.spans[key]; !is || known || len(t.spans) >= maxSpans {
			continue
		}
		if st, err := t.view.Standing(span, nil); err == nil {
			t.spans[key] = st
		}
	}
}

// of are the tries over the candles of a result; nil: none are known.
func (t *tries) of(e *Entry) *Tries {
	key, _, is := spanOf(e)
	st, known := t.spans[key]
	if !is || !known || st.Series == 0 {
		return nil
	}
	return &Tries{st.Tries, st.Series, backtest.Figure(research.LuckOf(int(st.Series), int(e.Days)).Bar)}
}

// spanOf is the range of a result as the ledger has it. Made-up candles have none.
func spanOf(e *Entry) (key string, span trials.Span, is bool) {
	if e.Synthetic || e.Error != "" {
		return "", span, false
	}
	span = trials.Span{Markets: e.Markets, From: market.Time(e.From).Millis(), To: market.Time(e.To).Millis()}
	return fmt.Sprintf("%s|%d|%d", strings.Join(span.Markets, ","), span.From, span.To), span, true
}
