// Package rulestest writes random rules for tests. It knows the words of the language, and never
// what they mean. Start at Author.
package rulestest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Author writes random rules that are well formed.
type Author struct{ *rand.Rand }

func (a Author) one(texts ...string) string { return texts[a.IntN(len(texts))] }
func (a Author) n() int                     { return 1 + a.IntN(12) }

// over is one of the functions of a length over a series.
func (a Author) over(words string, series string) string {
	interval := a.one("", "", "", `, "4h"`)
	return fmt.Sprintf("%s(%s, %d%s)", a.one(strings.Fields(words)...), series, a.n(), interval)
}

// Price is a random price.
func (a Author) Price(depth int) string {
	if depth <= 0 {
		return a.one("open", "high", "low", "close", "hl2", `close("4h")`)
	}
	p := func() string { return a.Price(depth - 1) }
	switch a.IntN(9) {
	case 0, 1, 2:
		return a.over("sma ema wma rma highest lowest median", p())
	case 3:
		return fmt.Sprintf("(%s)[%d]", p(), a.IntN(5))
	case 4:
		return fmt.Sprintf("(%s + %s)", p(), a.Distance(depth-1))
	case 5:
		return fmt.Sprintf("%s(%s, %s)", a.one("min", "max"), p(), p())
	case 6:
		return fmt.Sprintf("(%s ? %s : %s)", a.Condition(depth-1), p(), p())
	case 7:
		return fmt.Sprintf("valuewhen(%s, %s, %d)", a.Condition(depth-1), p(), a.IntN(3))
	}
	return p()
}

// Distance is a random distance between prices.
func (a Author) Distance(depth int) string {
	if depth <= 0 {
		return a.one("(high - low)", "tr", fmt.Sprintf("atr(%d)", a.n()))
	}
	switch a.IntN(5) {
	case 0:
		return fmt.Sprintf("(%s - %s)", a.Price(depth-1), a.Price(depth-1))
	case 1:
		return fmt.Sprintf("abs(%s)", a.Distance(depth-1))
	case 2:
		return a.over("stdev mom", a.Price(depth-1))
	case 3:
		return fmt.Sprintf("%.2f * %s", a.Float64()*3, a.Distance(depth-1))
	}
	return fmt.Sprintf("sma(%s, %d)", a.Distance(depth-1), a.n())
}

// Scale is a random figure from 0 to 100.
func (a Author) Scale(depth int) string {
	if depth <= 0 {
		return fmt.Sprintf("rsi(%d)", a.n())
	}
	switch a.IntN(3) {
	case 0:
		return a.over("sma highest lowest", a.Scale(depth-1))
	case 1:
		return fmt.Sprintf("(%s)[%d]", a.Scale(depth-1), a.IntN(4))
	}
	return a.over("rsi", a.Price(depth-1))
}

// Condition is a random condition.
func (a Author) Condition(depth int) string {
	d := depth - 1
	sign := a.one("<", ">", "<=", ">=", "crosses above", "crosses below")
	switch n := a.IntN(13); {
	case depth <= 0 || n < 3:
		return fmt.Sprintf("%s %s %s", a.Price(d), sign, a.Price(d))
	case n == 3:
		return fmt.Sprintf("%s %s %d", a.Scale(d), sign, 20+a.IntN(60))
	case n == 4:
		return fmt.Sprintf("%s %s %s", a.Distance(d), sign, a.Distance(d))
	case n == 5:
		return fmt.Sprintf("not (%s)", a.Condition(d))
	case n == 6:
		return fmt.Sprintf("count(%s, %d) >= %d", a.Condition(d), a.n(), a.IntN(5))
	case n == 7:
		return fmt.Sprintf("barssince(%s) < %d", a.Condition(d), a.n())
	case n == 8:
		return fmt.Sprintf("any(%s, %d)", a.Condition(d), a.n())
	case n == 10:
		return fmt.Sprintf("barssince(%s) %% %d >= %d", a.Condition(d), a.n(), a.IntN(4))
	case n == 9:
		return fmt.Sprintf("%s(%s, %d)", a.one("rising", "falling"), a.Price(d), 1+a.IntN(3))
	}
	return fmt.Sprintf("(%s) %s (%s)", a.Condition(d), a.one("and", "or"), a.Condition(d))
}
