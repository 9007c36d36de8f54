package candles

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// Prices that need too many units are refused with the decimals that fit, and fit with these.
func TestPricesThatDoNotFitAreRefusedWithTheDecimalsThatDo(t *testing.T) {
	const head = "time,open,high,low,close,volume\n"
	row := func(day int, price string) string {
		return fmt.Sprintf("2024-03-%02d,%[2]s,%[2]s,%[2]s,%[2]s,1\n", day, price)
	}
	for _, c := range []struct {
		name, rows string
		fit        uint8
	}{
		{"longer than 64 bits", row(1, "95381.90223441853494") + row(2, "95000.1") + row(3, "9"), 10},
		{"whole prices beside long ones", row(1, "8.123456789012345678") + row(2, "1234") + row(3, "9"), 11},
		{"long ones beside whole prices", row(1, "1234") + row(2, "8.123456789012345678") + row(3, "9"), 11},
		{"more decimals than any number", row(1, "0.12345678901234567890123") + row(2, "9") + row(3, "8"), 14},
	} {
		o := ImportOptions{WriteOptions: WriteOptions{Market: "A-EUR", Interval: market.Interval1d}}
		_, _, err := ParseCSV(strings.NewReader(head+c.rows), o)
		require.Error(t, err, c.name)
		for digits := c.fit; digits > 6; digits-- {
			o.RoundPrices, o.PriceDigits = true, digits
			list, report, err := ParseCSV(strings.NewReader(head+c.rows), o)
			require.NoError(t, err, c.name)
			require.EqualValues(t, 1, report.RoundedPrices, c.name)
			require.False(t, report.Fine, c.name)
			for i, text := range strings.Split(strings.TrimSpace(c.rows), "\n") {
				price := []byte(strings.Split(text, ",")[1])
				want, ok := roundVolume(price, digits)
				require.True(t, ok)
				own, err := market.Rescale(int64(list[i].Close), report.PriceDigits, digits)
				require.NoError(t, err)
				require.Equal(t, want, own, "%s: %s with %d decimals", c.name, price, digits)
			}
		}
		require.Contains(t, err.Error(), fmt.Sprintf("do not fit in 64 bits with so many decimals. Round them: "+
			"--price-digits %d", c.fit), c.name)
	}
}

// Prices of more than 2^53 units are stored as they are, and warned of with the decimals that leave
// room for sums.
func TestPricesOfVeryManyUnitsAreStoredAndSaid(t *testing.T) {
	for text, want := range map[string]struct {
		fine   bool
		digits uint8
	}{
		"90.07199254740992": {false, 0}, "90.07199254740993": {true, 13}, "123.45678900999999": {true, 12},
		"9007199254740993": {true, 0}, "99093.760957904431": {true, 10}, "99093.76": {false, 0},
	} {
		o := ImportOptions{WriteOptions: WriteOptions{Market: "A-EUR", Interval: market.Interval1d}}
		list, report, err := ParseCSV(strings.NewReader(fmt.Sprintf("2024-03-01,%[1]s,%[1]s,%[1]s,%[1]s,1\n", text)), o)
		require.NoError(t, err)
		require.Equal(t, text, market.FormatFixed(int64(list[0].Close), report.PriceDigits))
		require.Equal(t, want.fine, report.Fine, text)
		require.Equal(t, want.digits, report.FineDigits, text)
	}
}
