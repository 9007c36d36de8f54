// Package timer keeps the timers that strategies set, until they ring. The engine calls Set where
// Engine.Step shows it. Start at Set.Add.
package timer
