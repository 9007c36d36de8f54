package report

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/view/page"
)

// decimal writes a number with its decimals, as all pages do.
func decimal(x float64, digits int) string {
	return page.Number(strconv.FormatFloat(x, 'f', max(digits, 0), 64))
}

func whole(n int) string { return decimal(float64(n), 0) }

// count writes a number, and nothing for zero.
func count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// sign is the class of a gain or a loss.
func sign(x float64) string {
	switch {
	case x > 0:
		return "up"
	case x < 0:
		return "down"
	}
	return ""
}

// moment writes a time to the minute; seconds only where there are any.
func moment(t market.Time) string {
	layout := "2006-01-02 15:04"
	if t%market.Time(time.Minute) != 0 {
		layout += ":05"
	}
	return t.Std().Format(layout)
}

func date(t market.Time) string { return t.Std().Format(time.DateOnly) }

// span writes seconds in their two largest units.
func span(seconds int64) string {
	switch {
	case seconds >= 2*86400:
		return pair(seconds/86400, "d", seconds%86400/3600, "h")
	case seconds >= 3600:
		return pair(seconds/3600, "h", seconds%3600/60, "min")
	case seconds >= 60:
		return fmt.Sprintf("%d min", seconds/60)
	}
	return fmt.Sprintf("%d s", seconds)
}

// pair writes a number of a unit, and one of a smaller unit unless it is zero.
func pair(a int64, unit string, b int64, small string) string {
	if b == 0 {
		return fmt.Sprintf("%d %s", a, unit)
	}
	return fmt.Sprintf("%d %s %d %s", a, unit, b, small)
}

// percent writes a part as a percentage; "–" where it is undefined.
func percent(x float64, digits int) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "–"
	}
	return decimal(100*x, digits) + " %"
}
