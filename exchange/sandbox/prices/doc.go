// Package prices makes the prices of a simulated exchange: fixed, made up, or replayed from
// candles, as movements in order of time. It never places an order and knows no account; package
// sandbox brings the movements to its venue and its clock. Read Source next, then Synthetic and
// Replay.
//
// # Decisions
//
//   - A function of seed and time. A source gives its movements from any moment as if it had run
//     since its beginning, so a killed exchange goes on with the same prices. Replay.Path walks a
//     backtest's path. Price: a replay reads its candles from the first again.
package prices
