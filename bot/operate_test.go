package bot

import (
	"bytes"
	"testing"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
)

func TestOrdersAreCountedAsAPersonWouldSayIt(t *testing.T) {
	require.Equal(t, "0 orders", ordersText(0))
	require.Equal(t, "1 order", ordersText(1))
	require.Equal(t, "12 orders", ordersText(12))
}

func TestTheLogForAPersonIsInUTCAndSaysWhatAnOrderIsBeforeItsName(t *testing.T) {
	var out bytes.Buffer
	log := zerolog.New(console(&out, true, widestLog))
	log.Info().Str(zerolog.TimestampFieldName, "2026-01-02T03:04:05-05:00").Str("client_order_id", "c0ffee").Int("order", 7).Str("strategy", "trend").Msg("order sent")
	require.Equal(t, "08:04:05Z INF order sent strategy=trend order=7 client_order_id=c0ffee\n", out.String())
}
