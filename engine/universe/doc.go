// Package universe keeps the markets in which a strategy may buy, as they change over time. Start
// at Set.Members.
//
// # Decisions
//
//   - A universe is ranked by the plan, kept by the engine. A Set has a list of members by time
//     (engine.StrategyConfig.Universe) and knows no volumes. All markets that are ever members are
//     fed from the start; only buys are held to the members. Live, the next ranked markets are fed
//     as well (standby), and at midnight only the list changes. Price: a universe of 20 may read a
//     hundred markets; a market from below the standby waits for a restart.
package universe
