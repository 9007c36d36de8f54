// Package parquet writes candles and result tables as Parquet, for notebooks, and reads tables of
// it as CSV: a column has one type, times are timestamps, and numbers with decimals are doubles. It
// never replaces CSV, which keeps every decimal exactly. Start at Candles, Table and CSV.
//
// # Decisions
//
//   - A library behind one package. parquet-go makes the program larger; a writer of our own would
//     be smaller, and ours to keep correct.
package parquet
