package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/market"
)

const (
	// requestTimeout is long: only the bot's own user asks, and a machine may stand still.
	requestTimeout  = time.Minute
	shutdownTimeout = 2 * time.Second // for answers that are being written when the bot ends
)

// control serves the operator: HTTP over a unix socket that only the bot's own user may open.
// Queries are answered as of the last commit or by the loop. Commands run in the loop, one at a
// time, and are answered once the exchange has confirmed; they go on when the client has hung up.
type control struct {
	r       *runner
	socket  *operator.Socket
	server  *http.Server
	serving sync.WaitGroup
	ctx     context.Context // ends with the bot's loop
	end     context.CancelFunc
	acting  sync.Mutex
}

// openControl listens on the socket of a state folder, whose state file this process holds: an
// existing socket was left by a bot that died.
func openControl(ctx context.Context, r *runner) (*control, error) {
	socket, err := operator.SocketIn(r.plan.Config.Bot.State)
	if err != nil {
		return nil, fmt.Errorf("socket for bot status and its like: %w", err)
	}
	listener, err := operator.Listen(socket.Path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("socket for bot status and its like: %w", err), socket.Close())
	}
	c := &control{r: r, socket: socket}
	c.ctx, c.end = context.WithCancel(context.WithoutCancel(ctx))
	c.server = &http.Server{Handler: c.routes(), ReadHeaderTimeout: requestTimeout, ReadTimeout: requestTimeout,
		BaseContext: func(net.Listener) context.Context { return c.ctx }}
	c.serving.Go(func() { _ = c.server.Serve(listener) }) // it ends by close alone
	return c, nil
}

// close ends running commands, answers them, and removes the socket.
func (c *control) close() error {
	c.end()
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	err := c.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = c.server.Close()
	}
	c.serving.Wait()
	if gone := os.Remove(c.socket.Path); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return errors.Join(err, c.socket.Close())
}

func (c *control) routes() http.Handler {
	mux := http.NewServeMux()
	for path, look := range map[string]func(context.Context, *operator.Request) (any, error){
		operator.PathStatus: c.status, operator.PathOrders: c.orders, operator.PathPositions: c.positions,
		operator.PathExplain: c.explain, operator.PathBackup: c.backup, operator.PathCanary: c.canary,
		operator.PathVerify: c.verify, operator.PathSeal: c.seal, operator.PathTrades: c.trades,
		operator.PathProfit: c.profit, operator.PathEquity: c.equity, operator.PathReload: c.reload,
		operator.PathRisk: c.risk, operator.PathJournal: c.entries, operator.PathMarket: c.market,
		operator.PathSystem: c.system, operator.PathGlance: c.glance,
	} {
		mux.HandleFunc("POST "+path, answer(look))
	}
	for path, act := range map[string]func(context.Context, *operator.Request) (*operator.ActResult, error){
		operator.PathHalt: c.halt, operator.PathResume: c.resume, operator.PathCancel: c.cancel,
		operator.PathCancelAll: c.cancelAll, operator.PathFlatten: c.flatten, operator.PathResolve: c.resolve,
	} {
		verb := strings.TrimPrefix(path, "/")
		mux.HandleFunc("POST "+path,
			answer(func(_ context.Context, ask *operator.Request) (any, error) { return c.act(verb, ask, act) }))
	}
	return mux
}

// answer decodes a request and encodes serve's answer.
func answer(serve func(context.Context, *operator.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, request *http.Request) {
		var ask operator.Request
		status := http.StatusOK
		var value any
		err := operator.CheckRequest(request.Header)
		if err == nil {
			if err = json.NewDecoder(http.MaxBytesReader(w, request.Body, operator.MaxRequestBytes)).
				Decode(&ask); err != nil {
				err = config.Usagef("request: %w", err)
			} else {
				value, err = serve(request.Context(), &ask)
			}
		}
		if doc, is := value.(interface{ ByBot() }); is && err == nil {
			doc.ByBot()
		}
		if err != nil {
			value, status = operator.Failure{Error: err.Error()}, statusOf(err)
		}
		operator.WriteAnswer(w, status, value)
	}
}

func statusOf(err error) int {
	var key *config.KeyError
	switch {
	case errors.As(err, new(config.UsageError)), errors.As(err, new(config.Error)), errors.As(err, &key),
		errors.As(err, new(profit.WrongError)):
		return http.StatusBadRequest
	case errors.Is(err, live.ErrStopping), errors.Is(err, errNotTrading), errors.As(err, new(blockedError)):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// errNotTrading is the answer while the loop does not answer.
var errNotTrading = errors.New("the bot's loop does not answer: it is reconciling with the exchange, or ending")

// query calls f in the loop's goroutine, after the last turn was committed.
func (c *control) query(ctx context.Context, f func(at market.Time)) error {
	return c.awaitLoop(ctx, func(ctx context.Context) error { return c.r.loop.Inspect(ctx, f) })
}

// awaitLoop waits for the loop's answer; where a strategy blocks the loop, it returns at once.
func (c *control) awaitLoop(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, operator.AnswerTimeout)
	defer cancel()
	defer c.r.dog.cancelOnBlock(cancel)()
	err := loopError(ask(ctx))
	if b := c.r.dog.blockage(); err == errNotTrading && b != nil {
		return blockedError{b.text(c.r.dog.now())}
	}
	return err
}

// do calls f in the loop's goroutine and sends its commands.
func (c *control) do(ctx context.Context, f func(at market.Time) []market.Command) error {
	return c.awaitLoop(ctx, func(ctx context.Context) error {
		return c.r.loop.Do(ctx, func(at market.Time) []market.Command {
			c.r.journal.operate()
			return f(at)
		})
	})
}

func loopError(err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return errNotTrading
	}
	return err
}
