package stream

import (
	"context"
	"errors"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/market"
)

// The clock of the machine is a minute off. The exchange refuses the time of the message, and its
// clock is measured once before the message is sent again at once.
func TestAfterCode304TheClockIsMeasuredAndTheConnectionSignsInAtOnce(t *testing.T) {
	config := sandbox.Default()
	config.Clock, config.History = sandbox.ManualClock(market.Time(1772452801*time.Second)), 0
	ex, err := sandbox.New(config)
	require.NoError(t, err)
	server := httptest.NewServer(ex)
	t.Cleanup(func() {
		require.NoError(t, ex.Close())
		server.Close()
	})
	var off, syncs atomic.Int64
	var broken atomic.Bool
	key := config.Accounts[0].Keys[0]
	on, err := New(Config{BaseURL: server.URL, Key: rest.NewSecret(key.Key), Secret: rest.NewSecret(key.Secret),
		Log: zerolog.Nop(), Now: func() market.Time { return config.Clock.Now().Add(market.Duration(off.Load())) },
		Sync: func(context.Context) error {
			syncs.Add(1)
			if broken.Load() {
				return errors.New("no answer")
			}
			off.Store(0)
			return nil
		}})
	require.NoError(t, err)
	require.NoError(t, on.Check(t.Context()))
	require.Zero(t, syncs.Load(), "it was right")

	off.Store(int64(time.Minute))
	require.NoError(t, on.Check(t.Context()))
	require.EqualValues(t, 1, syncs.Load())

	off.Store(int64(time.Minute))
	broken.Store(true)
	var refused *exchange.Error
	require.ErrorAs(t, on.Check(t.Context()), &refused)
	require.EqualValues(t, exchange.CodeOutOfWindow, refused.Code)
	require.EqualValues(t, 2, syncs.Load(), "once for each try")

	broken.Store(false)
	open := make(chan struct{})
	on.Subscribe(&Channel{Name: "account", Private: true, Topics: []Topic{{}}, Opened: func() { close(open) }})
	(&rig{t: t, on: on}).run()
	<-open
	require.EqualValues(t, 3, syncs.Load())
}
