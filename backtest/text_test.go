package backtest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// An amount is a decimal, however small: 1e-08 reads as the number of something.
func TestAnAmountIsWrittenAsADecimalHoweverSmallItIs(t *testing.T) {
	for want, a := range map[string]Amount{
		"0": {0, 8}, "0.00000001": {1, 8}, "-0.00000001": {-1, 8}, "0.0001235": {1_234_567, 10}, "0.05": {5, 2},
		"1.00": {100, 2}, "1,234,567.89": {123456789, 2}, "1": {99_999, 5}, "0.000000000000000001": {1, 18},
	} {
		if want == "0" {
			want = "0.00"
		}
		require.Equal(t, want, a.Short())
	}
}
