// Package sim is the simulated exchange: the life of an order (states, holds, fees, refusals,
// triggers, self-trade prevention) over one of two sources of liquidity, the path of candles,
// tickers or trades, or a book between accounts. It reads no clock, starts no goroutine and draws
// no random number: the same commands and movements give the same events. Start at Venue;
// docs/venue.md names every rule and where it comes from; the scenarios in testdata show them.
//
// Venue walks the paths of markets; what it embeds, matching, trades orders where a price stands.
// matching has accounts, a register of open orders, an inbox of commands on their way and a teller
// of events; a book has its path, quote, watcher, ladders, misses and house.
//
// A command waits in arrive.go until it is due; match.go admits it (by the rules of package
// exchange) and trades it, past own orders (selftrade.go); the rest stays in a ladder of prices
// (ladder.go). A candle becomes a path (path.go), and the venue walks the path from one entry to
// the next (walk.go); auction.go handles a market's status, trade.go moves the money, quiet.go says
// which candles need no walk at all. With Config.Book, commands come through perform.go and meet
// each other in depth.go and cross.go; liquidity.go is the house, the exchange's own offers.
//
// Ordering invariant: the effect of a command depends on its time of arrival, never on the time of
// the call. A command decided on a candle arrives at the next candle's open or later; only commands
// of a bracket or a tactic (Command.Attached) act inside a path.
//
// Known limitation: fills are settled at once; of the exchange's price protections only that at
// placement acts on a path, all of them in a book.
//
// # Decisions
//
//   - One venue, two kinds. Matching against a candle's path, or in a book between accounts. Life,
//     checks, holds, fees and triggers are the same code. Price: the venue keeps accounts by id
//     although a backtest has one.
//   - A sink, no returned slice. A bracket's exit acts inside the path in which its entry filled,
//     so the engine hears of the fill while the path stands still. Price: the sink must not call
//     the venue except Do.
//   - Orders that wait stand in sorted blocks. Limits and triggers apart, below and above the
//     price, in blocks of at most 64. Price: blocks that lose orders stay short until they are
//     empty.
//   - Both sides agree before a trade is booked. deal.compute computes a side and changes nothing,
//     applyDeal carries it out; an order that a trade would carry beyond 64 bits expires by itself.
//     Price: the result is carried from one function to the next.
//   - Missed touches. With fill_probability a touch fills by a hash of seed, order and candle:
//     neither cores nor order of events matter. A missed order takes the next price's level until
//     the movement ends. Price: one comparison an entry reached.
//   - A recorded book. With limit_fill = "queue" an order notes the amount displayed at its price;
//     trades and smaller snapshots reduce it, each amount once. A probability by place was
//     rejected: no record confirms such a model. Price: cancels from the front never count, so
//     fills come late.
//   - Short ways. Most orders of a backtest are at market, meet an open where nothing else waits
//     (openalone.go) and trade whole with the house (fillwhole.go). Price: these functions must do
//     as the others do; a test plays each case again beside a resting order, where they do not
//     apply. A fill without its report, straight to account and recorder, was built and left out:
//     3.5 % of an order with records, for a second way through four packages.
//   - Rare cases have functions of their own. An order's life runs about as much code as the
//     processor's first cache of code holds (valgrind --tool=callgrind on a benchmark counts it):
//     size counts as much as steps. Texts of errors, growing slices and rules that a run does not
//     use are functions, noinline where needed. Price: more functions.
package sim
