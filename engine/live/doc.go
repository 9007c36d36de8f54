// Package live is the loop around the engine: it takes market events and the exchange's answers one
// by one, steps the engine, makes the intents of its commands durable, and only then sends them. It
// decides nothing about orders and never sends a write twice: a missing answer is resolved by
// queries. Start at Loop.Run, and at transitions (resolution.go) for what answers lead to. Parts of
// the loop stand on base: auditor, channel, openList, holdings, newer, disconnect.
//
// Ordering invariant: one goroutine, that of Run, owns engine, account and journal. Other
// goroutines only talk to the exchange and hand back its answers.
//
// # Decisions
//
//   - A package of its own. The engine has no clock, goroutine or chance. Here one goroutine owns
//     engine, account and journal; workers only talk to the exchange. The loop can be played in
//     virtual time. Price: Save, Restore, HaltAll and CancelAll of the engine are exported.
//   - One door. Once begun, engine and account change by Door.Enter alone: it records an Input and
//     hands it to Engine.Enter. Two tests fail where a call goes another way. Price: a struct a
//     call, and an ended order is reopened from its saved form, live too.
//   - A turn is one transaction. Up to 64 events, one commit, then sends. So a fill is never in the
//     journal without its position, and a busy bot pays one sync. Price: an order waits for the
//     disk; a crash loses up to a minute of prices and of the weight budget, which the bot asks for
//     again.
//   - Unknown outcomes are queried, never resent. Funds and slot stay reserved. "Not found" needs
//     two 240s apart after the request's window, and both lists. Start, reconnect and a lost answer
//     are this one path. The window of a write that was under way when a process died is read from
//     the journal. Price: a lost request stays unresolved as long as its window, 10 s by default.
//   - One table of transitions. outcome × answer × moment → next outcome, effect, next query
//     (resolution.go). Every answer passes Loop.receive. Tests hold each cell to rules written from
//     the contract and play it. Price: an answer of a new kind is a column.
//   - Listed open after its end: query, then reopen. Two lists after the end begin a query; the
//     account takes the order back with the record that it brings (Account.Reopen), or it is
//     cancelled; the fifth list halts everything. Price: the books miss the order for some five
//     seconds.
//   - Fills in pages. One turn books at most 256 fills of an order, which counts as incomplete
//     until the last page. Price: strategies hear of one answer's fills in several turns.
//   - One way to stop. A stop before reconciliation skips the rest of it: orders are queried,
//     cancels sent, unsent commands given up. Price: two endings of a start.
//   - The outbox has ranks. Cancels, exits and other orders wait apart, four of each under way;
//     within a rank the strategy whose turn is longest ago goes next. A halt, stop or cancel takes
//     back what has not left. Price: one strategy's commands no longer leave in one row.
//   - Cancels keep a reserve of weight. Two points for each open order and 50, one of each two for
//     cancels alone, since an accepted cancel still needs a query. Price: placing stops earlier by
//     a point for each open order.
//   - Fills are found by queries too. An order is queried when its price was reached, when the list
//     shows a change, and at growing distances; with the account channel at a tenth of the pace,
//     for a lost event leaves no gap. Price: a second or two.
//   - An account event is a reason to ask. Events race REST in no promised order. A fill, or an end
//     that the bot did not ask for, is only asked for; REST books it. So no event moves money.
//     Price: a round trip and a point a fill. Answers over a socket prove neither fills nor ends
//     nor refusals (unproven.go).
//   - A shortfall is explained before it halts. holdings.go keeps, by asset, when balance and books
//     last agreed, and asks for movements since. Own trades are no explanation, or a fill that was
//     booked twice would explain itself. Price: a withdrawal takes from shared money first.
//   - Prices older than ten seconds are dropped. The gate's max_data_age looks at arrival, and
//     would take the first of a queue of old prices for fresh. Price: a loop that always stands
//     still for longer hears no prices.
package live
