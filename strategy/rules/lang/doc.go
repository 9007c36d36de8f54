// Package lang is the language in which rules are written: expressions over prices, indicators,
// the position, the clock and signals. It compiles rules once to flat code over numbered cells.
// It never trades. Start at Compile; Words lists the words.
//
//	rsi(14) < bottom and close > sma(200, "1d")
//	close crosses above highest(high, n)[1] and volume > 1.2 * sma(volume, n)
//
// Compile reads a text in three steps: parse makes nodes of it, checker makes expressions of
// them, whose words and dimensions are known, and generator makes code. A Program is the result;
// it never changes. A State is its values in one market: Push takes candles, Eval decides.
//
// Each series that a function reads is computed once for each candle of its interval, and has a
// cell; equal ones share it. What a rule computes of cells, it computes at Eval.
//
// # Meaning
//
//   - A figure that is not known (an indicator that is not ready, 0 ÷ 0, entry_price without a
//     position) makes the rule that reads it undefined as a whole: a condition counts as false,
//     also under a not. "and" and "or" do not read their right side where the left one decides.
//     nz and na are the way out.
//   - A text as last argument is an interval or a market, and holds for all words in the
//     brackets: sma(close, 200, "1d"). The figure is that of the last closed candle, and x[1] the
//     one before it. A crossing is true on one candle of the main interval, whatever its sides
//     read.
//   - A function over a series takes its values that are known, and leaves the others out.
//   - A number takes the units of what stands beside it: close > 20000 is in quote.
//
// # Decisions
//
//   - Own parser and own code. Libraries for expressions box each number and take 120 to 700 ns a
//     rule (govaluate, cel-go, expr); they know no units, and no 2%. Price: a parser to maintain.
//   - Code of plain values, and no closure: a fork of a run (--check-lookahead) copies it.
//   - One set of indicators. A function over any series, such as sma(rsi(14), 5), cuts the series
//     to a fixed point and gives it to the indicator of package indicator, which takes whole
//     numbers: its sums stay exact, and a field of the candle goes in as it is. Price: 2^-32 of
//     an RSI; where a value leaves the fixed point (a ratio of many millions), the function is
//     undefined.
//   - Prices are whole price units in float64, exact up to 2^53. Two simple averages compare as
//     the exact indicator.Cross does while a price is below 2^52 ÷ (n·m) units.
//   - Functions that are formulas are texts of the language (functions.go). Their arguments are
//     computed once, so that no nesting multiplies work.
package lang
