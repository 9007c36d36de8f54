package research

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research/stats"
)

// Tried is a group of sets whose rows are kept.
type Tried struct {
	Rows []Row
	From market.Time // each set traded and counted from here
	To   market.Time // end of the part of the range that they ran on; 0: the plans' own
	Kept bool        // by an earlier start
	// Crowded says that results decided which sets were tried: their Sharpe ratios vary less than
	// those of the space.
	Crowded bool
}

// Family has the counts of a ledger: the tries of all searches over candles that overlap those of
// this one. It is apart from the Verdict, which depends on the sweep alone.
type Family struct {
	File    string  `json:"file"`           // the ledger
	Tries   int64   `json:"tries"`          // different backtests, those of this sweep included
	Series  int64   `json:"series"`         // different series of daily returns among them
	Earlier int64   `json:"earlier_series"` // of those, the ones that other searches have brought
	Luck    Luck    `json:"luck"`           // of as many sets as the family has series
	Above   bool    `json:"above_bar"`      // the best set's excess is above this bar
	DSR     Finding `json:"dsr"`            // after this number of series, by the variance over them

	// Spread is that of the family's series over the range of this sweep.
	Spread stats.Spread `json:"-"`
}

// Judged is the verdict that counts: where there is a ledger, bar and DSR are those after the tries
// of the whole family.
func (o *Outcome) Judged() Verdict {
	v := o.Verdict
	if f := o.Family; f != nil {
		own := v.Luck.Sets
		v.Luck, v.Above, v.DSR, v.earlier = f.Luck, f.Above, f.DSR, f.Earlier > 0
		if v.earlier {
			v.Answer = v.Answer.ofFamily(own, v.Luck.Sets, o.Days, v.Luck.unseen())
		}
	}
	return v
}

// text counts the tries.
func (f *Family) text() string {
	return fmt.Sprintf("Tries of this family: %s of %s different series of returns, of which earlier searches over "+
		"candles that overlap these made %s (bot trials lists them).", backtest.Figure(f.Tries).
		Text(0), backtest.Figure(f.Series).Text(0),
		backtest.Figure(f.Earlier).Text(0))
}

// tried tells the ledger of rows that are kept.
func (s *sweep) tried(rows []Row) {
	if s.job.Tried == nil || len(rows) == 0 {
		return
	}
	m, adaptive := s.sampler.(*cmaes)
	s.job.Tried(Tried{Rows: rows, From: s.from, To: s.end(rows[0].Rung), Kept: s.ran == 0,
		Crowded: adaptive && m.search != nil || s.reruns(rows[0].Rung)})
}

// reruns reports whether the sets of a rung are the best of the rung before.
func (s *sweep) reruns(rung uint8) bool { return s.job.Method == Halving && s.tries[0].rung != rung }

// family judges the best set after the tries of the whole family; nil: there is no ledger.
func (s *sweep) family(top []*Try, v *Verdict) (*Family, error) {
	if s.job.Family == nil {
		return nil, nil
	}
	f, err := s.job.Family()
	if f == nil || err != nil {
		return nil, err
	}
	f.Luck, f.DSR = LuckOf(int(f.Series), s.days), missing("no set meets the requirements")
	if len(top) == 0 {
		return f, nil
	}
	f.Above = float64(v.Excess) > f.Luck.Bar
	excess, _, err := s.records(top[0])
	if err != nil || s.job.Method == Halving {
		f.DSR = v.DSR
		return f, nil
	}
	trials, err := f.Spread.Trials(int(f.Series))
	f.DSR = found(excess.P(trials.Benchmark()), err)
	return f, nil
}
