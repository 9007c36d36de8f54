package bot

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
)

func TestAStatusShowsTheUniverse(t *testing.T) {
	s := &operator.Status{State: operator.Trading, Strategies: []operator.StrategyStatus{{Name: "week",
		State: operator.Trading, Universe: &operator.Universe{Date: "2026-01-10", Rule: "top 2 by volume30d",
			Members: []string{"A-EUR", "B-EUR"}, Missing: []string{"C-EUR"}, Hint: "restart"}}}}
	var text strings.Builder
	require.NoError(t, printStatus(&text, s))
	require.Regexp(t, `strategy +week: trading, 0 orders open
 +universe of 2026-01-10, top 2 by volume30d: A-EUR B-EUR
 +restart
`, text.String())
}
