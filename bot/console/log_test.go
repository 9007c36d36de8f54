package console

import (
	"bytes"
	"testing"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
)

func TestTheNextLineOfALogEntryStandsUnderItsMessage(t *testing.T) {
	var out bytes.Buffer
	log := zerolog.New(Writer(&out, true, narrowestLog))
	log.Info().Str(zerolog.TimestampFieldName, "2026-01-02T03:04:05Z").Str("strategy", "trend").Int("order", 7).
		Str("market", "BTC-EUR").Str("side", "buy").Str("type", "limit").
		Str("client_order_id", "5d357e68-36a2-576e-a59e-d5868a5526a7").Str("amount", "0.01").Str("price", "31276").
		Msg("order sent")
	require.Equal(t, "03:04:05Z INF order sent strategy=trend order=7 market=BTC-EUR side=buy\n"+
		"              type=limit amount=0.01 price=31276 client_order_id=5d357e68\n", out.String())
}

func TestTheLogForAPersonIsInUTCAndSaysWhatAnOrderIsBeforeItsName(t *testing.T) {
	var out bytes.Buffer
	log := zerolog.New(Writer(&out, true, widestLog))
	log.Info().Str(zerolog.TimestampFieldName, "2026-01-02T03:04:05-05:00").Str("client_order_id", "c0ffee").
		Int("order", 7).Str("strategy", "trend").Msg("order sent")
	require.Equal(t, "08:04:05Z INF order sent strategy=trend order=7 client_order_id=c0ffee\n", out.String())
}
