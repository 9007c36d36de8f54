package bolt

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The walk that had no end: a damaged tree answered Seek with a smaller key, and the next one went
// back with it.
func TestAWalkThatGoesBackIsDamage(t *testing.T) {
	c := &Cursor{}
	c.at([]byte("b"))
	require.Panics(t, func() { c.step([]byte("a"), 1) })
	require.Panics(t, func() { c.step([]byte("b"), 1) })
	require.Panics(t, func() { c.step([]byte("c"), -1) })
	require.NotPanics(t, func() { c.step([]byte("c"), 1) })
}
