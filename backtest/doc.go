// Package backtest replays stored candles through the engine against the simulated venue, and
// reports the result. It never decides an order and never fills one: engine and venue are those of
// live and paper trading. Start at Run; driver.go is the loop, recorder.go records the results.
//
// Ordering invariant: of a group of candles that close at the same instant, first the venue walks
// all their paths, then the strategies receive them. An order decided on a candle reaches the venue
// at the next candle's open or later.
//
// Known limitation: markets whose driving candles have different intervals move at the closes of
// their own candles, so a strategy learns of a fill in the coarser one only at its close.
//
// # Decisions
//
//   - Only exits, and buys that sells paid for, act inside a candle. Everything else waits for the
//     next open, for a strategy on candles cannot react inside one. Timers ring before the candle
//     that they fall into.
//   - Tickers come while the path is walked. The venue tells each point as it reaches it; decisions
//     still wait for the next open. Price: candles of such markets are walked even if nothing
//     waits.
//   - A change and its fills are one report. As the exchange's answer to PUT /order; otherwise the
//     engine could act between the two in a backtest alone.
//   - A session is the driver without feeds. Stored candles, a recording or a live feed enter one
//     by one; with stored candles it writes the files of Run byte for byte. Facts stand where
//     commands leave and events come in, so a record can replace the model order by order. Price: a
//     session steps each candle by itself, and a hole in tickers is crossed in one jump.
//   - Runs together. Many runs take a block of 1024 candles in turn, so it is decoded once and
//     stays in the second cache. Blocks of any size change no byte. Price: plans must agree in
//     their series, and one slow strategy holds up its group.
//   - Look-ahead: decisions are compared by what they could know. Each command carries the close of
//     the newest candle that had a part in it. A run over another future must make the same
//     commands up to the cut; forks only find, runs from the start accuse. Price: a leak beyond 256
//     candles of every decision near the cuts is missed.
//   - A fork is a copy by reflection. backtest/replica copies driver, engine, gate, account, venue
//     and strategies, or names the field that cannot be copied. Price: package unsafe, and package
//     variables are in no copy; `go test ./backtest -run '^$' -bench Fork` has its time.
//   - Envelope: a path without effect is not run. PathUsed tells whether the order of high and low
//     was ever asked for; if not, the envelope takes the run's end.
//   - Merge of feeds. One feed's batch is a block as it is. Feeds of one interval fill groups of
//     about 2,000 candles, feed by feed, for memory; all others go through a sorted list. Price:
//     two ways, held against each other.
//   - Warm-up comes from before the range. Candles before --from are read while the gate holds
//     trading. A live start does the same, as of one moment. The longest need decides what is read;
//     each strategy sees what it would have alone.
//   - Changes of markets fall between two groups. Recorded rules, fees and delistings enter as the
//     event that a live bot gets. A delisting cancels what rests, halts, and marks down. Price: no
//     rows of quiet candles.
//   - Results stream to files. Rows go to temporary files that are renamed at the end; curves are
//     thinned as they grow. An error leaves no half result.
//   - Buy and hold begins when trading could. Equal parts when the first strategy is warm, with
//     fee, spread and slippage. Price: several markets are looked at once a day.
//   - Plots cost a branch where nothing listens. A plot is no ask: outside of callbacks it is
//     dropped, in every mode alike. Price: a strategy with Skip cannot plot the candles that it
//     uses there.
//   - Tests of authors are a config without a file. Each option becomes a config key, checked by
//     the same code. Price: trades and fills of such a run stay in memory.
//   - Daily returns have a file. equity.csv is thinned; compare needs exact days (days.csv). Price:
//     one more file.
package backtest
