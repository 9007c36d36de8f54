package runner

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// deaf is the socket of a bot whose loop has not begun to turn.
func deaf(t *testing.T) *control {
	client, err := rest.New(rest.Config{BaseURL: "http://127.0.0.1:1/v2", Prefix: "Service"})
	require.NoError(t, err)
	plan := &plan.Live{Access: plan.Access{Config: config.DefaultRun()},
		Plan: plan.Plan{Strategies: []backtest.StrategyPlan{{Name: "maker"}}}}
	plan.Config.Bot.State = t.TempDir()
	c, err := openControl(t.Context(),
		&runner{books: books{plan: plan, trading: client}, client: client, loop: live.New(live.Config{})})
	require.NoError(t, err)
	return c
}

func TestABotThatReconcilesSaysThatItDoesNotAnswer(t *testing.T) {
	t.Parallel()
	c := deaf(t)
	_, err := operator.Call(t.Context(), c.r.plan.Config.Bot.State, operator.PathPositions, &operator.Request{},
		bottest.Patience, &operator.Positions{})
	require.EqualError(t, err, errNotTrading.Error())
	require.NoError(t, c.close())
	require.NoFileExists(t, filepath.Join(c.r.plan.Config.Bot.State, statedir.SocketFile))
}

func TestCommandsAreCarriedOutOneAtATime(t *testing.T) {
	t.Parallel()
	c := deaf(t)
	c.acting.Lock()
	require.EqualError(t, halt(c), "another command is under way: ask again when it is done")
	c.acting.Unlock()
	require.NoError(t, c.close())
}

func halt(c *control) error {
	_, err := operator.Call(context.Background(), c.r.plan.Config.Bot.State, operator.PathHalt,
		&operator.Request{WaitMS: operator.MaxWait.Milliseconds()}, 2*operator.MaxWait, &operator.ActResult{})
	return err
}

func TestACommandThatIsUnderWayDoesNotHoldUpTheEnd(t *testing.T) {
	t.Parallel()
	bottest.Await(t, func() bool { // a machine may stand still for as long as a command without a loop goes on
		c, answered := deaf(t), make(chan error, 1)
		go func() { answered <- halt(c) }()
		bottest.Await(t, func() bool {
			free := c.acting.TryLock()
			if free {
				c.acting.Unlock()
			}
			return !free || len(answered) > 0
		})
		began := time.Now()
		require.NoError(t, c.close())
		took := time.Since(began)
		require.EqualError(t, <-answered, errNotTrading.Error())
		return took < operator.AnswerTimeout
	})
}

func TestAQuestionOfANewerProtocolIsRefused(t *testing.T) {
	const header = "Tidemark-Socket"
	serve := answer(nil)
	request := httptest.NewRequest(http.MethodPost, "/status", strings.NewReader("{}"))
	request.Header.Set(header, "2")
	heard := httptest.NewRecorder()
	serve(heard, request)
	require.Equal(t, http.StatusBadRequest, heard.Code)
	require.Contains(t, heard.Body.String(), `the command speaks protocol \"2\", this program 1`)
	require.Equal(t, "1", heard.Header().Get(header))
}
