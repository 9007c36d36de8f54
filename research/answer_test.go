package research_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/research"
)

func TestAnAnswerIsOneSentence(t *testing.T) {
	for _, row := range []struct {
		p, unseen float64
		kind      research.AnswerKind
		says      string
	}{
		{0.001, 1.4, research.HardByLuck, "Hard to explain by luck: 1 in 1,000 searches does as well."},
		{0.025, 1.4, research.HardByLuck, "Hard to explain by luck: 1 in 40 searches does as well."},
		{0.05, 1.4, research.HardByLuck, "Hard to explain by luck: 1 in 20 searches does as well."},
		{0.051, 1.45, research.CannotTell, "Cannot be told with 1,073 days: 5 in 100 searches do as well, and " +
			"an edge below Sharpe 1.45 would mostly go unseen."},
		{0.25, math.NaN(), research.CannotTell, "Cannot be told with 1,073 days: 25 in 100 searches do as well."},
		{0.26, 1.4, research.ProbablyLuck, "Probably luck: 26 in 100 searches do as well."},
		{1, 1.4, research.ProbablyLuck, "Probably luck: 100 in 100 searches do as well."},
		{math.NaN(), 1.4, research.NoAnswer, "There is no winner to judge: the test has no value."},
	} {
		a := research.NewAnswer(research.TestSPA, row.p, "searches", 1073, row.unseen)
		require.Equal(t, row.kind, a.Kind)
		require.Equal(t, row.says, a.Says)
	}
}
