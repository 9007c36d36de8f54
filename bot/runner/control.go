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
	"sync"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/market"
)

const (
	// that a request may take to come: only the bot's own user asks, and a machine may stand still
	longestRead   = time.Minute
	socketGoodbye = 2 * time.Second // for answers that are being written when the bot ends
)

// control is the operator's side of a running bot: HTTP over a unix socket that only the bot's own
// user may open. Questions are answered as of the last commit or by the loop; what acts goes
// through the loop, one command at a time, and is answered once the exchange has confirmed it. A
// command goes on when the one who asked has gone.
type control struct {
	r       *runner
	socket  *operator.Socket
	server  *http.Server
	serving sync.WaitGroup
	ctx     context.Context // ends with the bot's loop
	end     context.CancelFunc
	acting  sync.Mutex
}

// openControl listens on the socket of a state folder, whose state file this process holds: a
// socket that is there was left by a bot that died.
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
	c.server = &http.Server{Handler: c.routes(), ReadHeaderTimeout: longestRead, ReadTimeout: longestRead,
		BaseContext: func(net.Listener) context.Context { return c.ctx }}
	c.serving.Go(func() { _ = c.server.Serve(listener) }) // it ends by close alone
	return c, nil
}

// close ends what is under way, answers it, and removes the socket.
func (c *control) close() error {
	c.end()
	ctx, cancel := context.WithTimeout(context.Background(), socketGoodbye)
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
		operator.PathExplain: c.explain, operator.PathBackup: c.backup,
	} {
		mux.HandleFunc("POST "+path, answer(look))
	}
	for path, act := range map[string]func(context.Context, *operator.Request) (*operator.Report, error){
		operator.PathHalt: c.halt, operator.PathResume: c.resume, operator.PathCancelAll: c.cancelAll,
		operator.PathFlatten: c.flatten, operator.PathResolve: c.resolve,
	} {
		mux.HandleFunc("POST "+path,
			answer(func(_ context.Context, ask *operator.Request) (any, error) { return c.act(ask, act) }))
	}
	return mux
}

// answer reads a request and writes what serve makes of it.
func answer(serve func(context.Context, *operator.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, request *http.Request) {
		var ask operator.Request
		status := http.StatusOK
		var value any
		err := operator.CheckProtocol(request.Header, "the command")
		if err == nil {
			if err = json.NewDecoder(http.MaxBytesReader(w, request.Body, operator.MaxRequestBytes)).
				Decode(&ask); err != nil {
				err = config.Usagef("request: %w", err)
			} else {
				value, err = serve(request.Context(), &ask)
			}
		}
		if err != nil {
			value, status = operator.Failure{Error: err.Error()}, statusOf(err)
		}
		w.Header().Set("Content-Type", "application/json")
		operator.NameProtocol(w.Header())
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(value) // who has hung up hears nothing
	}
}

func statusOf(err error) int {
	switch {
	case errors.As(err, new(config.UsageError)):
		return http.StatusBadRequest
	case errors.Is(err, live.ErrStopping), errors.Is(err, errNotTrading), errors.As(err, new(blockedError)):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// errNotTrading is the answer while the loop cannot be asked.
var errNotTrading = errors.New("the bot's loop does not answer: it is reconciling with the exchange, or ending")

// look asks the loop.
func (c *control) look(ctx context.Context, f func(at market.Time)) error {
	return c.hear(ctx, func(ctx context.Context) error { return c.r.loop.Inspect(ctx, f) })
}

// hear waits for the loop's answer, but not where a strategy blocks it.
func (c *control) hear(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, operator.AnswerTimeout)
	defer cancel()
	defer c.r.dog.waits(cancel)()
	err := unheard(ask(ctx))
	if b := c.r.dog.blockage(); err == errNotTrading && b != nil {
		return blockedError{b.text(c.r.dog.now())}
	}
	return err
}

// do lets the loop do something.
func (c *control) do(ctx context.Context, f func(at market.Time) []market.Command) error {
	return c.hear(ctx, func(ctx context.Context) error {
		return c.r.loop.Do(ctx, func(at market.Time) []market.Command {
			c.r.journal.operate()
			return f(at)
		})
	})
}

func unheard(err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return errNotTrading
	}
	return err
}
