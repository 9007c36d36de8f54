package bot

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
)

func TestACompanionThatFailsOrPanicsStartsAgainAndEndsWithTheBot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var log bytes.Buffer
		tries := 0
		wait := accompany(ctx, zerolog.New(&log), []companion{{"dashboard", func(ctx context.Context) error {
			tries++
			switch tries {
			case 1:
				return errors.New("address in use")
			case 2:
				panic("of the companion")
			}
			cancel()
			<-ctx.Done()
			return ctx.Err()
		}}})
		wait()
		require.Equal(t, 3, tries)
		require.Contains(t, log.String(), "address in use")
		require.Contains(t, log.String(), "panic: of the companion")
	})
}
