package sandbox

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// Each market tells its history day by day, from its beginning.
func TestALongHistorySaysHowMuchOfItIsMade(t *testing.T) {
	config := Default()
	config.History = market.Duration(72 * time.Hour)
	var days []int
	config.Progress = func(made market.Duration) {
		require.LessOrEqual(t, made, config.History)
		days = append(days, int(time.Duration(made)/(24*time.Hour)))
	}
	ex, err := New(config)
	require.NoError(t, err)
	require.NoError(t, ex.Close())
	require.Equal(t, []int{0, 1, 2, 0, 1, 2, 0, 1, 2}, days)
}
