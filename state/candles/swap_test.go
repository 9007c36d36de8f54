package candles

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

func TestSwappedMarketsGoOnInTheirNewUnits(t *testing.T) {
	store, o := openTestStore(t), hourly("AAVE-EUR")
	o.Swap = &Swap{Market: "LEND-EUR", Old: 100, New: 1, Until: 1704074400_000000000}
	report := importText(t, store, o, "1704067200,0.5,0.52,0.5,0.51,1234.5\n1704070800,0.51,0.51,0.51,0.51,7\n"+
		"1704074400,9,9,9,9,9\n")
	require.EqualValues(t, 1, report.After)
	require.Equal(t, "timestamp_ms,open,high,low,close,volume\n1704067200000,50,52,50,51,12.345\n"+
		"1704070800000,51,51,51,51,0.07\n", exportText(t, store, "AAVE-EUR", market.Interval1h))

	o = hourly("SKY-EUR")
	o.Swap = &Swap{Market: "MKR-EUR", Old: 1, New: 24000}
	importText(t, store, o, "1704067200,1500.25,1500.25,1500.25,1500.25,0.5\n")
	require.Equal(t, "timestamp_ms,open,high,low,close,volume\n"+
		"1704067200000,0.0625104,0.0625104,0.0625104,0.0625104,12000\n",
		exportText(t, store, "SKY-EUR", market.Interval1h))
	o.Swap = &Swap{}
	_, err := store.ImportCSV(nil, o)
	require.ErrorContains(t, err, "0:0 is no ratio")
}

// TestSwapsRoundAsBigNumbersDo holds multiply against math/big.
func TestSwapsRoundAsBigNumbersDo(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 20_000 {
		value, digits := r.Int64()>>r.IntN(63), uint8(r.IntN(19))
		by, over := 1+r.Int64N(1e9)>>r.IntN(30), 1+r.Int64N(1e9)>>r.IntN(30)
		have, decimals, err := multiply(value, digits, by, over)
		want := new(big.Int).Mul(big.NewInt(value), big.NewInt(by))
		if err == nil {
			want.Mul(want, big.NewInt(market.Pow10(decimals-digits)))
		} else {
			want.Mul(want, big.NewInt(market.Pow10(min(9, market.MaxDigits-digits)))) // at most so much finer
		}
		want.Mul(want, big.NewInt(2)).Add(want, big.NewInt(over)).Div(want, big.NewInt(2*over)) // half up
		if err != nil {
			require.False(t, want.IsInt64() && want.BitLen() < 30, "%d·%d÷%d", value, by, over)
			continue
		}
		require.Equal(t, want.Int64(), have, "%d·%d÷%d", value, by, over)
	}
}
