package bot

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/exchange/rest"
)

// deaf is the socket of a bot whose loop has not begun to turn.
func deaf(t *testing.T) *control {
	client, err := rest.New(rest.Config{BaseURL: "http://127.0.0.1:1/v2", Prefix: "Service"})
	require.NoError(t, err)
	plan := &runPlan{runConfig: defaultRunConfig(), strategies: []backtest.StrategyPlan{{Name: "maker"}}}
	plan.Bot.State = t.TempDir()
	c, err := openControl(t.Context(), &runner{plan: plan, client: client, trading: client, loop: live.New(live.Config{})})
	require.NoError(t, err)
	return c
}

func TestABotThatReconcilesSaysThatItDoesNotAnswer(t *testing.T) {
	t.Parallel()
	c := deaf(t)
	_, err := call(t.Context(), c.r.plan.Bot.State, pathPositions, &operatorAsk{}, time.Minute, &positionsInfo{})
	require.EqualError(t, err, errNotTrading.Error())
	require.NoError(t, c.close())
	require.NoFileExists(t, filepath.Join(c.r.plan.Bot.State, socketFile))
}

func TestCommandsAreCarriedOutOneAtATimeAndEndWithTheBot(t *testing.T) {
	t.Parallel()
	c := deaf(t)
	halt := func(answered chan<- error) {
		_, err := call(context.Background(), c.r.plan.Bot.State, pathHalt, &operatorAsk{WaitMS: 60_000}, time.Minute, &actReport{})
		answered <- err
	}
	first, second := make(chan error, 1), make(chan error, 1)
	go halt(first)
	require.Eventually(t, func() bool {
		if c.acting.TryLock() {
			c.acting.Unlock()
			return false
		}
		return true
	}, 2*time.Second, time.Millisecond)
	halt(second)
	require.EqualError(t, <-second, "another command is under way: ask again when it is done")
	began := time.Now()
	require.NoError(t, c.close())
	require.Less(t, time.Since(began), answerWithin, "what is under way does not hold up the end")
	require.EqualError(t, <-first, errNotTrading.Error())
}
