// Package simulate runs other strategies over recorded hours: the recorded markets, candles and
// prices in a backtest session of other settings. Holes of the recording are warnings of the
// result. It asks no exchange and changes no recording. Start at ReadHours, then at Hours.Run.
package simulate
