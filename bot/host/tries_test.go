package host

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWrongSecretsAreCountedByAddressAndInAll(t *testing.T) {
	var tries Tries
	now := time.Unix(1_700_000_000, 0)
	wrong := func(from string) (closed bool) {
		closed, ok := tries.Take(now, netip.MustParseAddr(from), func() bool { return false })
		require.False(t, ok)
		return closed
	}
	for i := range MaxTries {
		require.False(t, wrong(fmt.Sprintf("2001:db8::%x", i))) // one network
	}
	require.True(t, wrong("2001:db8::ffff"))
	for i := range MaxTriesAll - MaxTries {
		require.False(t, wrong(fmt.Sprintf("192.0.2.%d", i)))
	}
	require.True(t, wrong("198.51.100.1"))
	now = now.Add(TriesFor)
	require.False(t, wrong("::ffff:192.0.2.1"))
	require.Len(t, tries.list, 1)
}
