package prices

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// The open stands for the first third, then every tick of the way is shown, then the close stands.
func TestAReplayOnThePathShowsEveryTickOfIt(t *testing.T) {
	m := newMarkets(t).Market(1)
	shown := func(c market.Candle) (said []string) {
		c.Interval = market.Interval1m
		for _, move := range collect(t, Replay{Candles: played(c), Path: true},
			Start{Market: m, Beginning: noon, From: noon}, never) {
			said = append(said, fmt.Sprintf("%s %s x %s %s", move.At.Sub(noon), m.FormatPrice(move.Price),
				m.FormatQty(move.Amount), move.Side))
		}
		return said
	}
	require.Equal(t, []string{"0s 100 x 1 buy", "25s 99.5 x 1 sell", "30s 100 x 1 buy", "35s 100.5 x 1 buy",
		"40s 101 x 1 buy", "45s 101.5 x 1 buy", "50s 101 x 1.00000003 sell"},
		shown(market.Candle{Open: 100_00, High: 101_50, Low: 99_50, Close: 101_00, Volume: 7_00000003}),
		"the nearer extreme comes first")
	require.Equal(t, []string{"0s 100 x 1 buy", "50s 100 x 1 buy"},
		shown(market.Candle{Open: 100_00, High: 100_00, Low: 100_00, Close: 100_00, Volume: 2_00000000}),
		"it is traded twice")
	require.Equal(t, []string{"0s 100 x 0.00000001 buy", "27.5s 100.5 x 0 buy", "35s 101 x 0 buy",
		"42.5s 101.5 x 0 buy", "50s 102 x 0.00000003 buy"},
		shown(market.Candle{Open: 100_00, High: 102_00, Low: 100_00, Close: 102_00, Volume: 4}),
		"little volume goes to the corners")
}
