// Package history says which of the candles before trading each strategy sees: as much as its own
// warm-up needs, whatever other strategies need. The engine asks a View before each call. Start at
// Set.See.
package history
