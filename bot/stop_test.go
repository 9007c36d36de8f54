package bot

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/sandbox"
)

// A strategy that places orders with every ticker must not keep a bot from stopping, nor must an order whose update is in doubt.
func TestABotThatIsAskedToStopPlacesNothingMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 3, func(c *sandbox.Config) {
			c.Faults = []sandbox.Fault{{Kind: sandbox.FaultDropAnswer, Endpoints: []string{"PUT /order"}, Key: stageKey}, {Kind: sandbox.FaultError, Code: 101, Endpoints: []string{"GET /order"}, Probability: 0.9, Key: stageKey, After: time.Minute}}
		})
		p := s.start()
		time.Sleep(90 * time.Second)
		p.stop()
		time.Sleep(time.Second)
		orders := s.traffic.orders()
		failed := <-p.done
		require.NoError(t, failed)
		require.Equal(t, orders, s.traffic.orders())
		p.leaveAndClose(failed)
		require.Empty(t, s.openAtTheExchange())
		s.agree(p)
	})
}
