package backtest

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// grouped puts a comma between every three digits of the whole part of a decimal.
func grouped(decimal string) string {
	sign := ""
	if strings.HasPrefix(decimal, "-") {
		sign, decimal = "-", decimal[1:]
	}
	whole, fraction, found := strings.Cut(decimal, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if found {
		whole += "." + fraction
	}
	return sign + whole
}

// numbered is a number of things, with a comma between thousands.
func numbered(n int64) string { return grouped(strconv.FormatInt(n, 10)) }

// numeral formats a figure with some decimals; from a thousand million on in powers of ten.
func numeral(x float64, decimals int) string {
	if math.Abs(x) >= 1e9 {
		return strconv.FormatFloat(x, 'e', 2, 64)
	}
	return grouped(strconv.FormatFloat(x, 'f', decimals, 64))
}

// Short writes the amount with two decimals, for people; money below one with four significant
// digits.
func (a Amount) Short() string {
	x := a.Float()
	if x != 0 && math.Abs(x) < 1 {
		return significant(x)
	}
	return grouped(strconv.FormatFloat(x, 'f', 2, 64))
}

// significant writes a number with four significant digits, as a decimal however small it is.
func significant(x float64) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64) // its own output
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// Points formats a return in per cent without the sign %, short enough for a table of months.
func (f Figure) Points() string {
	decimals := 1
	if math.Abs(float64(f)) >= 10 {
		decimals = 0
	}
	return strings.TrimSuffix(f.Percent(decimals), " %")
}

// pad fills text with spaces on its right.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

// left fills text with spaces on its left.
func left(text string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text))) + text
}

// wrap breaks text between words into lines of at most width columns; a longer word is cut.
func wrap(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		for utf8.RuneCountInString(word) > width {
			if line != "" {
				lines, line = append(lines, line), ""
			}
			runes := []rune(word)
			lines, word = append(lines, string(runes[:width])), string(runes[width:])
		}
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	return append(lines, line)
}
