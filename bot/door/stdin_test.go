package door

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/state/signals"
)

func TestTheStandardInputTellsSignals(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"market":"BTC-EUR","action":"buy"}` + "\n\n" + `{"action":"sell"}`, "BTC-EUR buy, sell"},
		{"market,action\r\nBTC-EUR,buy\r\n,sell\r\n", "BTC-EUR buy, sell"},
		{"time,market,value\n2024-03-01T12:00:00Z,BTC-EUR,1\n" + strings.Repeat("x", 100_000) + "\n" +
			"2024-03-01T12:00:01Z,BTC-EUR,2", "BTC-EUR 1, BTC-EUR 2"},
		{"market,action\nBTC-EUR,bye\nBTC-EUR,buy\n",
			`wrong: column "action": "bye" is none of buy, sell, exit, BTC-EUR buy`},
	} {
		e, log := &ear{}, &lockedBuffer{}
		p := &Pipe{Lines: Lines{Source: "model", Sender: signals.NewSender("model", signals.Options{}), Ear: e,
			Proof: signals.ProofStdin, Log: zerolog.New(log)}, From: strings.NewReader(c.text)}
		require.NoError(t, p.Run(t.Context()))
		require.Equal(t, c.want, strings.Join(e.all(), ", "))
		require.Contains(t, log.String(), "the standard input has ended")
	}
}

func TestAPipeWaitsUntilTheBotHears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &ear{err: io.ErrNoProgress}
		from, to := io.Pipe()
		p := &Pipe{Lines: Lines{Source: "model", Sender: signals.NewSender("model", signals.Options{}), Ear: e,
			Log: zerolog.Nop()}, From: from}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- p.Run(ctx) }()
		_, err := to.Write([]byte(`{"action":"buy"}` + "\n"))
		require.NoError(t, err)
		synctest.Wait()
		require.Empty(t, e.all())
		e.set(nil)
		for len(e.all()) == 0 {
			time.Sleep(againTime)
		}
		cancel()
		require.NoError(t, <-ended, "though a read is under way")
		require.NoError(t, to.Close())
	})
}
