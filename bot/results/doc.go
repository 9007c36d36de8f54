// Package results reads the folder of results: backtests, searches, and gaps between a bot and its
// backtest. It runs nothing, writes nothing, takes no lock, and opens no file outside the folder,
// whatever names and links it finds there.
//
// Start at Folder. Each question answers with a document, which is also the answer for programs; a
// document that cannot be read says so in its field error, beside the others.
//
// # Decisions
//
//   - Files are read, never asked for. A look walks the folder, bounded, through os.Root; only
//     listed names can be fetched, and pages of searches have a sandbox without cookies. Price:
//     what a file does not hold is missing.
package results
