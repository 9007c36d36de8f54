// Package stress asks what breaks a backtest: it resamples the run's own record, and runs the plan
// again at higher costs, later, from other days, without its best entries, with missed fills and
// over candles with noise. It reads no config, prints nothing, chooses nothing and counts no try.
// Start at Run; change.go has the table of changes, record.go the resampled record.
//
// # Decisions
//
//   - A changed plan runs again. Nothing is subtracted from a result. Left-out entries are refused
//     by the gate (risk.Absence), so cash goes where the strategy sends it; noise is a source of
//     candles with one draw a moment. The first level changes nothing and must end as the plain run
//     to the bit. Price: the grades of unlike changes are a judgement.
package stress
