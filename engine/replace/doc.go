// Package replace lets an order wait in the engine for the end of the order that it replaces.
// Engine.Step calls Set. Start at Set.Begin and Set.Follow.
//
// # Decisions
//
//   - Replacing: the new order waits in the engine, its money in the account. The exchange would
//     answer 216 before the old order's end is confirmed. The new order is no order of the account
//     yet, so no query, count or cancel can mistake it; a claim (Account.Claim) holds its money. At
//     the call the gate checks it with the old one taken out (Account.Without). A restart drops it.
//     Price: for a moment there is no order.
package replace
