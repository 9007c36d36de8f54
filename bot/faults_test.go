package bot

import (
	"flag"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

const hour = time.Hour

var liveSeeds = flag.Int("live-seeds", 1, "how many seeds the tests of the live bot play of each case")

func TestABotAtAQuietExchangeAgreesWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1, nil)
		p := s.start()
		time.Sleep(5 * time.Minute)
		require.NoError(t, p.end())
		a := s.agree(p)
		fmt.Println(a, s.traffic.count)
		require.Empty(t, s.openAtTheExchange())
		require.Greater(t, a.orders, 50)
		require.Greater(t, a.fills, 20)
	})
}
