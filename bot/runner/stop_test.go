package runner

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// A strategy that places orders with every ticker must not keep a bot from stopping, nor must an
// order whose update is unresolved.
func TestABotThatIsAskedToStopPlacesNothingMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 3, func(c *sandbox.Config) {
			c.Faults = []fault.Fault{{Kind: fault.DropAnswer, Endpoints: []string{"PUT /order"},
				Key: bottest.BotKey}, {Kind: fault.Error, Code: 101, Endpoints: []string{"GET /order"},
				Probability: 0.9, Key: bottest.BotKey, After: time.Minute}}
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
		s.onlyExits(p)
		s.agree(p)
	})
}

func TestAStopIsInTheLogAlsoWhenTheLoopEndsFirst(t *testing.T) {
	ended, stop := context.WithCancel(t.Context())
	stop()
	for name, ctx := range map[string]context.Context{"the loop ends first": tardy{ended},
		"AfterFunc comes first": ended} {
		var log bottest.Log
		r := &runner{books: books{plan: &plan.Live{Access: plan.Access{Config: &config.Run{}}}, log: zerolog.New(&log)}}
		announced := r.announceStop(ctx)
		announced()
		r.log.Info().Msg("trading has ended")
		require.Regexp(t, `^[^\n]*stopping: [^\n]*\n[^\n]*trading has ended[^\n]*\n$`, log.String(), name)
	}
	var log bottest.Log
	(&runner{books: books{plan: &plan.Live{Access: plan.Access{Config: &config.Run{}}}, log: zerolog.New(&log)}}).
		announceStop(t.Context())()
	require.Empty(t, log.String(), "a loop that failed was not asked to stop")
}

// ladderKind rests four bids far below the market.
var ladderKind = scripted("ladder", always(func(d *strategy.Desk, t market.Ticker) {
	if open := len(d.In(t.Market).OpenOrders()); open < 4 {
		_, _ = d.In(t.Market).Buy(strategy.Amount(1_000_000), strategy.At(t.Last/100*98-market.Price(open)*100))
	}
}))

// meter reads from answers what is left of the key's points.
type meter struct {
	http.RoundTripper
	left int
}

func (m *meter) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := m.RoundTripper.RoundTrip(r)
	if err == nil {
		m.left, err = strconv.Atoi(answer.Header.Get("Service-Ratelimit-Remaining"))
	}
	return answer, err
}

// Another program has spent the key's minute down to what is left to cancels. The answers that
// confirm them are part of it.
func TestAStopIsNotHeldUpByAWeightBudgetThatIsSpent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 1, nil)
		s.config, s.kinds = strings.ReplaceAll(s.config, `kind = "restless"`, `kind = "ladder"`), append(s.kinds,
			ladderKind)
		// nothing else spends meanwhile
		s.config = strings.NewReplacer("params.seed = 1\n", "", `orders = "20s"`, `orders = "1h"`, `balances = "10s"`,
			`balances = "1h"`).Replace(s.config)
		p := s.start()
		time.Sleep(3*time.Minute + 5*time.Second) // the bubble's time begins with a full minute
		open := len(s.OpenAtTheExchange())
		require.Equal(t, 4, open)
		m := &meter{RoundTripper: &wire{traffic: s.traffic, quiet: true}, left: 1000}
		other, err := rest.New(rest.Config{BaseURL: "https://exchange.test/v2", Key: rest.NewSecret(bottest.BotKey),
			Secret: rest.NewSecret(bottest.BotSecret), Transport: m})
		require.NoError(t, err)
		for m.left > 2*open+3 {
			_, err = other.Account(t.Context())
			require.NoError(t, err)
		}
		began, left := time.Now(), -1
		time.AfterFunc(5*time.Second, func() { left = len(s.OpenAtTheExchange()) })
		require.NoError(t, p.end())
		require.Zero(t, left, "all are cancelled at once")
		require.Less(t, time.Since(began), time.Minute, "the list that proves it waits for the next minute")
		require.Less(t, began.Sub(began.Truncate(time.Minute)), 50*time.Second, "the minute is not over")
		s.onlyExits(p)
		s.agree(p)
	})
}
