// Package lang is the language in which rules are written: expressions over prices, indicators, the
// position and the clock. It compiles rules once to flat code over numbered cells. It never trades.
// Start at Compile; Words lists the words.
package lang
