// Package report writes the pages of the laboratory: what a search found and what that is worth.
// Each page is one HTML file that loads nothing: a verdict first, cards of figures, then sections
// with pictures, tables and the sentences that say what a figure does not say.
//
// It never runs anything, prints nothing and knows no config. The same input gives the same bytes.
//
// Start at Page; sweep.go is the longest example.
//
// # Decisions
//
//   - A page is a list of parts. Warnings and verdict first, then cards, then sections; a part
//     knows its template. Maps, lines and dots are bounded, and each says what it leaves out.
//     Price: two pictures of each, wide and narrow.
package report
