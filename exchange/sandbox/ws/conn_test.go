package ws

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestASocketTakesSoManyMessagesASecond(t *testing.T) {
	var p pace
	now := time.Unix(1_790_000_000, 0)
	for i := range messagesASecond {
		require.True(t, p.allows(now.Add(time.Duration(i)*time.Microsecond)))
	}
	require.False(t, p.allows(now.Add(time.Second-1)))
	require.True(t, p.allows(now.Add(time.Second)))
}
