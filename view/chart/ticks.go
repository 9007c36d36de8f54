package chart

import (
	"math"
	"strconv"
	"time"
)

// A tick is a labelled place on an axis.
type tick struct {
	value float64
	label string
}

// numberTicks returns at most n+1 multiples of 1, 2 or 5 times a power of ten, and more where these
// would be fewer than two.
func numberTicks(low, high float64, n int) []tick {
	step := niceStep((high - low) / float64(n))
	unit, suffix := units(max(math.Abs(low), math.Abs(high)), step)
	const noise = 1e-9 // of a step: a tick on an end of the axis is drawn
	var ticks []tick
	for i := math.Ceil(low/step - noise); i*step <= high+noise*step; i++ {
		ticks = append(ticks, tick{i * step, plain(i*step, step, unit) + suffix})
	}
	if len(ticks) < 2 && n < 5 && low < high {
		return numberTicks(low, high, n+1)
	}
	return ticks
}

// ratios are the leading digits of ticks on an axis of ratios, the fewest first.
var ratios = [...][]float64{{1}, {1, 3}, {1, 2, 5}, {1, 1.5, 2, 3, 5, 7}}

// ratioTicks returns at most n+1 round numbers between two that are above zero, at about equal
// ratios; those of numberTicks where they are fewer than three.
func ratioTicks(low, high float64, n int) (ticks []tick) {
	first, last := math.Floor(math.Log10(low)), math.Floor(math.Log10(high))
	for _, digits := range ratios {
		var some []tick
		every := math.Ceil((last - first + 1) / float64(n+1)) // decades
		if every > 1 && len(digits) > 1 {
			break
		}
		for decade := math.Ceil(first/every) * every; decade <= last; decade += every {
			for _, digit := range digits {
				step := math.Pow(10, decade)
				value := digit * step
				if value < low || value > high {
					continue
				}
				if digit != math.Trunc(digit) {
					step /= 10
				}
				unit, suffix := units(value, step)
				some = append(some, tick{value, plain(value, step, unit) + suffix})
			}
		}
		if len(some) > n+1 {
			break
		}
		ticks = some
	}
	if len(ticks) < 3 {
		return numberTicks(low, high, n)
	}
	return ticks
}

// niceStep returns the least multiple of 1, 2 or 5 times a power of ten that is not less than raw.
func niceStep(raw float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range [...]float64{1, 2, 5} {
		if m*power >= raw {
			return m * power
		}
	}
	return 10 * power
}

// units returns the thousands that labels count in: 9.995 k would be read as a larger number.
func units(size, step float64) (unit float64, suffix string) {
	switch {
	case size >= 1e15:
		return 1, ""
	case size >= 1e12:
		return 1e12, " T"
	case size >= 1e9:
		return 1e9, " G"
	case size >= 1e6:
		return 1e6, " M"
	case size >= 1e4 && step >= 100:
		return 1e3, " k"
	}
	return 1, ""
}

// plain writes a multiple of step with the digits that step needs.
func plain(value, step, unit float64) string {
	size := math.Abs(value)
	if math.Abs(value) < step/2 {
		return "0"
	}
	if size >= 1e15 || step < 0.999e-12 { // cheap coins have steps of 1e-9: their labels are as their prices
		digits := int(math.Floor(math.Log10(size))) - int(math.Floor(math.Log10(step*1.000001)))
		return strconv.FormatFloat(value, 'e', max(digits, 0), 64)
	}
	digits := -math.Floor(math.Log10(step / unit * 1.000001))
	return strconv.FormatFloat(value/unit, 'f', int(max(digits, 0)), 64)
}

// nameTicks labels the places 0, 1, 2 …, or every second, third … where fewer than all fit.
func nameTicks(names []string, fit int) []tick {
	every := 1
	if fit < len(names) {
		every = (len(names) + max(fit, 1) - 1) / max(fit, 1)
	}
	var ticks []tick
	for i := 0; i < len(names); i += every {
		ticks = append(ticks, tick{float64(i), shorten(names[i])})
	}
	return ticks
}

const (
	minute = 60
	hour   = 60 * minute
	day    = 24 * hour
)

// clockSteps are the distances of ticks below a month, in seconds.
var clockSteps = [...]int64{
	1, 2, 5, 10, 15, 30, minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute,
	hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, day, 2 * day, 4 * day, 7 * day, 14 * day,
}

// monthSteps are the distances of ticks above, in months.
var monthSteps = [...]int{1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12000, 24000, 60000}

// timeTicks returns ticks at round times of a zone, about n of them. Low and high are Unix seconds.
func timeTicks(low, high float64, n int, zone *time.Location) []tick {
	for _, step := range clockSteps {
		if (high-low)/float64(step) <= float64(n) {
			return clockTicks(int64(math.Ceil(low)), int64(high), step, zone)
		}
	}
	for _, months := range monthSteps[:len(monthSteps)-1] {
		if (high-low)/(31*day) <= float64(n*months) {
			return monthTicks(low, high, months, zone)
		}
	}
	return monthTicks(low, high, monthSteps[len(monthSteps)-1], zone)
}

// clockTicks steps in seconds. The first label of each day is its date, the first date has its
// year. Steps are those of the zone's clocks: an hour that they leave out has no tick.
func clockTicks(low, high, step int64, zone *time.Location) []tick {
	const monday = 4 * day // the week of the Unix epoch began on a Thursday
	offset := int64(0)
	if step >= 7*day {
		offset = monday
	}
	ahead := clockAhead(low, zone)
	clock := offset + ceilDivide(low+ahead-offset, step)*step
	var ticks []tick
	for dated := false; ; clock += step {
		at := time.Date(1970, 1, 1, 0, 0, int(clock), 0, zone).Unix()
		switch {
		case at > high:
			return ticks
		case at < low || at+clockAhead(at, zone) != clock:
			continue
		}
		when := time.Unix(clock, 0).UTC()
		label := when.Format("15:04")
		switch {
		case clock%day == 0 && !dated:
			label, dated = when.Format("2 Jan 2006"), true
		case clock%day == 0:
			label = when.Format("2 Jan")
		case step < minute:
			label = when.Format("15:04:05")
		}
		ticks = append(ticks, tick{float64(at), label})
	}
}

// clockAhead is how many seconds the clocks of a zone are ahead of UTC at a time.
func clockAhead(at int64, zone *time.Location) int64 {
	_, ahead := time.Unix(at, 0).In(zone).Zone()
	return int64(ahead)
}

func ceilDivide(a, b int64) int64 {
	quotient := a / b
	if a%b > 0 {
		quotient++
	}
	return quotient
}

// monthTicks steps in months from a January that the step divides.
func monthTicks(low, high float64, step int, zone *time.Location) []tick {
	format := "Jan 2006"
	if step >= 12 {
		format = "2006"
	}
	years := max(step/12, 1)
	first := time.Unix(int64(low), 0).In(zone).Year() / years * years
	var ticks []tick
	for i := 0; ; i++ {
		at := time.Date(first, time.Month(1+i*step), 1, 0, 0, 0, 0, zone)
		seconds := float64(at.Unix())
		if seconds > high {
			return ticks
		}
		if seconds >= low {
			ticks = append(ticks, tick{seconds, at.Format(format)})
		}
	}
}
