// Package report makes the documents of the laboratory: what a search found and what that is worth.
// Each is a view.Doc: a verdict, cards of figures, then sections with pictures, tables and the
// sentences that say what a figure does not say.
//
// It never runs anything, prints nothing and knows no config. The same input gives the same bytes.
//
// Start at Walk; sweep.go is the longest example.
package report
