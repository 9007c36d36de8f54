package research

import (
	"math"

	"github.com/tidemark-trading/tidemark/research/stats"
)

// Luck has the figures of a search in which no set has an edge. Sharpe ratios are annual.
// The bars are those of independent sets; sets that are alike show less.
type Luck struct {
	Sets  int     `json:"sets"`
	Years float64 `json:"years"`
	// Bar is exceeded by the best of 5 in 100 such searches.
	Bar float64 `json:"bar"`
	// Expected is the mean of the best. It is no bar: 43 of 100 searches exceed it.
	Expected float64 `json:"expected"`
	// Detectable is the true Sharpe ratio that a set fixed in advance needs to be found in 4 of 5
	// cases on this length; 0: the length is too short for any.
	Detectable float64 `json:"detectable"`
}

// level is that of false alarms.
const level = 0.05

// Power is the share of searches that find an edge, where a text says that they mostly do.
const Power = 0.8

// LuckOf is the luck of a search of so many sets over so many daily returns.
func LuckOf(sets, days int) Luck {
	years := float64(days) / stats.DaysPerYear
	l := Luck{Sets: sets, Years: years}
	if days == 0 {
		return l
	}
	l.Bar, l.Expected = stats.Bar(sets, level, years), stats.ExpectedBest(sets, years)
	if daily, err := stats.Detectable(days, level, Power); err == nil && !math.IsNaN(daily) {
		l.Detectable = stats.Annual(daily)
	}
	return l
}
