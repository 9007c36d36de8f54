// Package bracket keeps the exits of positions: which of a bracket's two exits rests at the venue,
// when they are swapped, how large they are, and how long a position had none. It sends nothing
// itself: it calls the engine through Orders. Start at Set: follow.go handles reports, attempt.go
// places exits, price.go handles prices, levels.go changes levels. Set stands on four parts: the
// list of brackets, the follower of price and time (trail.go, part.go), the closer (close.go,
// sale.go) and the departer, which leaves positions for a person.
//
// # Decisions
//
//   - Exits live in the engine. The exchange is spot: a sell holds its base, so stop and target
//     cannot both rest. A Set keeps one at the venue and watches the other's price
//     (Engine.Watches): a backtest's venue reads it along the path, a live engine with each ticker.
//     Swapping is cancel, wait, place. Price: a moment without an exit at each swap, which the
//     report counts.
//   - An event costs the brackets that it changes. An index leads from exits to entries, watched
//     prices are kept sorted, a callback copies only what it changes. Set.Check compares all of it
//     with the brackets. Price: closing, joining and saving still walk the list.
//   - They last until their base is sold. Levels are checked with the entry. When the exchange ends
//     an exit, the other stands in, and attempts follow at growing distances, each moment without
//     an exit with its cause. A bracket never gives up by itself; only dust counts as nothing, by
//     the lowest minimums of its life. A stop freezes brackets (Set.Stop) and lets them place what
//     is missing (Set.Guard). Price: a stop at an exchange that refuses exits takes seven seconds
//     longer.
//   - Close is a state of the bracket. Exits hold the base that a Close sells, so the bracket does
//     it: it cancels or reduces, waits for the end and its fills, then sells one market order,
//     never more than no other sell holds. A failed sale needs no memory: the mark goes, the
//     bracket protects as before. Flatten is a Close of everything with a saved Departure per
//     market. Price: a strategy decides itself about a second try, and an unknown outcome holds the
//     market.
//   - The stop is computed, not stepped. A bracket keeps its terms (strategy.Follow), its highest
//     price and its cost; the stop follows from these (strategy.StopRule), so no move is lost to a
//     restart or a wait. A third watch, Peak, tells new highs alone. Price: while such brackets
//     exist, each event looks at all of them.
//   - A part is a Close of a part. A limit order for a part would leave its base without a stop. So
//     the exit stays over everything, the part's level is one more watched price, and what it sells
//     is computed from the shares of all parts that were reached. One Close at a time holds a
//     market; another follows it. Price: a part pays the taker fee.
package bracket
