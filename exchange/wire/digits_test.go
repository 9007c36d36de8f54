package wire

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

func TestFastAndSlowNumbersAgree(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	plain := func(longest int) (text []byte) {
		for range random.IntN(longest + 1) {
			text = append(text, byte('0'+random.IntN(10)))
		}
		return text
	}
	quick := 0
	for range 200_000 {
		text := append([]byte{'"'}, plain(9)...)
		if random.IntN(4) > 0 {
			text = append(append(text, '.'), plain(10)...)
		}
		if random.IntN(50) == 0 {
			text[random.IntN(len(text))] = byte(random.IntN(256))
		}
		digits, behind := uint8(random.IntN(14)), append([]byte(`",`), plain(20)...)
		text = append(text, behind...)
		have, next := quoted(text, 0, digits)
		again, _ := quotedSlow(text, 0, digits)
		if next == 0 {
			continue
		}
		quick++
		end := 1 + bytes.IndexByte(text[1:], '"')
		want, err := market.ParseFixed(text[1:end], digits)
		require.NoError(t, err, "%q %d", text, digits)
		require.Equal(t, want, have, "%q %d", text, digits)
		require.Equal(t, end+1, next)
		require.Equal(t, want, again, "%q %d", text, digits)
	}
	require.Greater(t, quick, 100_000)
}
