// Package report writes report.html, the page of a finished backtest. It gets numbers and texts of
// the run, computes what only the page shows (sums over round trips, rolling figures, pictures),
// and packs all round trips and candles for the page's script.
//
// It never runs anything, knows no engine and no strategy, and imports market, chart and page
// alone. The same Run gives the same bytes.
//
// Start at Run and its method Write.
//
// # Decisions
//
//   - One file that loads nothing. Style, script and numbers stand inside, under a content security
//     policy with the script's hash. A chart library from an address kept the page blank behind a
//     firewall. Without the script the page is complete. Price: a script of our own, and the
//     candles are decoded twice.
package report
