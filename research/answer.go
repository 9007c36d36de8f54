package research

import (
	"fmt"
	"math"
	"strings"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/research/stats"
)

// Answer is one sentence about luck. Its p-value decides which.
type Answer struct {
	Kind AnswerKind `json:"kind"`
	Test string     `json:"test,omitempty"` // the test of P, one of the tests below
	// P is the share of results of luck that look at least as good.
	P    backtest.Figure `json:"p"`
	Says string          `json:"says"`
}

// AnswerKind is an Answer in a few words.
type AnswerKind string

// The kinds. NoAnswer is that of a search without a winner.
const (
	NoAnswer     AnswerKind = "no answer"
	ProbablyLuck AnswerKind = "probably luck"
	CannotTell   AnswerKind = "cannot be told"
	HardByLuck   AnswerKind = "hard to explain by luck"
)

// The tests of an Answer, the one with most power first.
const (
	TestPlacebo = "placebo"
	TestSPA     = "spa"
	TestBar     = "bar" // of independent sets: where SPA is missing
	TestPSR     = "psr" // of a record without a choice
)

// usual is the p-value above which an answer is ProbablyLuck: one in four results of luck is as
// good.
const usual = 0.25

// NewAnswer is the answer of a test. luck names what luck makes, as in "searches on worthless
// data"; unseen is the annual Sharpe ratio below which an edge mostly stays unseen on so many days,
// 0 or NaN: unknown.
func NewAnswer(test string, p float64, luck string, days int, unseen float64) Answer {
	a := Answer{Test: test, P: backtest.Figure(p)}
	switch {
	case math.IsNaN(p):
		return Unanswered("the test has no value")
	case p <= level:
		a.Kind, a.Says = HardByLuck, fmt.Sprintf("Hard to explain by luck: 1 in %s %s does as well.",
			number(int(math.Floor(1/p+1e-9))), luck)
	case p <= usual:
		a.Kind, a.Says = CannotTell, fmt.Sprintf("Cannot be told with %s days: %s.", number(days), asWell(p, luck))
		if unseen > 0 {
			a.Says = fmt.Sprintf("%s, and an edge below Sharpe %.2f would mostly go unseen.",
				strings.TrimSuffix(a.Says, "."), unseen)
		}
	default:
		a.Kind, a.Says = ProbablyLuck, fmt.Sprintf("Probably luck: %s.", asWell(p, luck))
	}
	return a
}

// Unanswered is the answer where there is nothing to judge.
func Unanswered(why string) Answer {
	return Answer{Kind: NoAnswer, P: backtest.Figure(math.NaN()), Says: "There is no winner to judge: " + why + "."}
}

func asWell(p float64, luck string) string {
	return fmt.Sprintf("%.0f in 100 %s do as well", 100*p, luck)
}

// number writes a whole number.
func number(n int) string { return backtest.Figure(n).Text(0) }

// ofFamily is the answer where other searches over the same days have brought series of returns
// before: p is raised as if they had been more blocks of sets like these. Formula: 1 − (1−p)^(all ÷
// own).
func (a Answer) ofFamily(own, all, days int, unseen float64) Answer {
	if a.Kind == NoAnswer || all <= own || own == 0 {
		return a
	}
	p := -math.Expm1(math.Log1p(-float64(a.P)) * float64(all) / float64(own))
	return NewAnswer(a.Test, p, "searches on worthless data, the earlier ones included,", days, unseen)
}

// worthless is what luck makes of a search.
const worthless = "searches on worthless data"

// answer judges the winner's returns in excess of a hold by SPA; superior is nil where SPA is
// missing: then by the bar of independent sets.
func (v *Verdict) answer(superior *stats.Superior, winner []float64) Answer {
	if !v.Excess.Defined() {
		return Unanswered(v.PSR.Missing)
	}
	if superior == nil {
		p := stats.ShareAbove(float64(v.Excess), v.Luck.Sets, v.Luck.Years)
		v.Unseen = backtest.Figure(v.Luck.unseen())
		return NewAnswer(TestBar, p, worthless, len(winner), float64(v.Unseen))
	}
	v.Unseen = backtest.Figure(stats.Annual(superior.Detectable(level, Power)))
	return NewAnswer(TestSPA, superior.PValueOf(winner), worthless, len(winner), float64(v.Unseen))
}

// unseen is the annual Sharpe ratio below which an edge of one of independent sets mostly goes
// unseen.
func (l *Luck) unseen() float64 { return stats.DetectableBest(l.Sets, level, Power, l.Years) }
