// Package engine turns events into commands: it folds each event into the account, calls the
// strategies, and passes their asks through the gate. It reads no clock, starts no goroutine and
// draws no random number, so that backtest, paper and live run the same engine on different events.
// Start at Engine.Step.
//
// # Decisions
//
//   - The desk works on one goroutine, in its own callbacks. asks.Admit compares the goroutine,
//     and the desk's strategy with the one being called. A use from elsewhere is refused and halts
//     the strategy when its callback returns. Live, each callback has a goroutine of its own, for
//     runtime.Goexit. Known limit: a goroutine that only computes is not seen, and one that panics
//     ends the process. Price: a comparison an ask, a goroutine a live callback.
//   - Four sides, four adapters. A desk sees asks, brackets see exits, the other features see
//     core, a person's acts come in by Engine.Enter. Each is a struct of the engine's pointer
//     alone, which an interface holds without a copy. Engine itself keeps the step, the way of an
//     order to its command, and what is saved. Price: a method may stand in one of five files.
//   - The callback cell. Callback holds the strategy and the callback under way, stored plainly,
//     without a clock; a watchdog with a clock compares it with its value a second ago.
//   - Strategies get values. Candles, tickers, fills, orders and rules are copies, a book is a view
//     that closes when OnBook returns. A kept pointer into the driver's buffer once showed the
//     future. Price: 64 bytes copied twice a candle. Skip reads the candles where they are.
//   - Quiet candles go in rows. Nearly all candles change nothing. The venue says between which
//     prices that is so, watched prices of brackets end it, and StepQuiet steps the candles inside
//     in one loop, exactly as Step would one by one; tests hold both equal. Off while series are
//     merged, tickers are made, a bracket follows prices or lacks its exit, or a limit follows the
//     equity. Price: two ways through the engine.
//   - Skip looks at a block. A strategy may have one method more for speed (strategy.Skipper). The
//     engine calls it once for the quiet candles that are left and OnCandle where it stops, and
//     knows no indicator. Price: code of a strategy sees candles before their time;
//     --check-lookahead and strategytest.CheckSkip make both runs and name the candle that differs.
//   - Reload grafts strategies into the running engine. A new engine would have to take over
//     account, orders, brackets and all that points at them. Successors are warmed up beside the
//     loop, from parts that a commit saved, then take over (TakeOver). A test holds a reload equal
//     to a walk-forward's border. Price: the old strategy hears no OnStop, and a new one needs the
//     same candles, tickers and books.
//   - Adoption rewrites saved parts. A strategy hands over between two runs: saved parts and rows
//     change in one transaction, and the start restores the result as any other. The position goes
//     as a sum, so an adoption waits for fees. Price: the bot stops for it, and what was earned
//     stays behind.
package engine
