// Package core makes the engine of a live bot, writes down what it was made of (Manifest), and
// gives it other parameters and limits while it runs (Reload). The bot, its replay and bot gap make
// their engines here, so that they are alike. It never asks an exchange and opens no file. Start at
// New, then at Manifest.
//
// # Decisions
//
//   - No stage above it that plays any record. Replay and the survey of bot gap have the reader and
//     Open, Enter and Reload of the engine in common, and the runs of a gap not even these: they
//     take of each record what is a fact of theirs. One loop with hooks for all was longer than the
//     loops. Price: three switches over the kinds of records.
package core
