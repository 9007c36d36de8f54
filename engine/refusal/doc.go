// Package refusal tells of asks that were refused: the observer of all, a strategy's log of those
// that are news. It refuses nothing itself that the gate could refuse. Start at Log.Tell.
package refusal
