package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// ErrNoBot is wrapped where no bot listens on a socket.
var ErrNoBot = errors.New("no bot is running")

// ErrNotReady is wrapped where a bot runs that does not take requests yet, or no more.
var ErrNotReady = errors.New("ask again")

// Call sends a request to the running bot of a folder and decodes its answer into value. It waits
// at most within. It returns
// the answer too, under the names of today.
func Call(ctx context.Context, folder, path string, ask *Request, within time.Duration, value any) (answer []byte,
	err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	body, err := json.Marshal(ask)
	if err != nil {
		return nil, err
	}
	socket, err := SocketIn(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w with its state in %s", ErrNoBot, folder)
	} else if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, socket.Close()) }()
	status, answer, err := post(ctx, socket.Path, path, body)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return nil, fmt.Errorf("%w with its state in %s", ErrNoBot, folder)
	case err != nil:
		return nil, fmt.Errorf("ask the bot in %s: %w", folder, err)
	case status != http.StatusOK:
		return nil, refusalOf(status, answer)
	}
	if err := json.Unmarshal(answer, value); err != nil {
		return nil, fmt.Errorf("answer of the bot in %s: %w", folder, err)
	}
	return answer, nil
}

// post sends a body to a path of the HTTP server behind a unix socket and reads the whole answer.
func post(ctx context.Context, socket, path string, body []byte) (status int, answer []byte, err error) {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://bot"+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	nameProtocol(request.Header)
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	if err := checkAnswer(response.Header); err != nil {
		return 0, nil, err
	}
	if answer, err = io.ReadAll(response.Body); err != nil {
		return 0, nil, fmt.Errorf("its answer: %w", err)
	}
	return response.StatusCode, answer, nil
}

// refusalOf returns the error in a bot's answer.
func refusalOf(status int, answer []byte) error {
	var failure Failure
	if err := json.Unmarshal(answer, &failure); err != nil || failure.Error == "" {
		return fmt.Errorf("the bot answered %d", status)
	}
	if status == http.StatusBadRequest {
		return config.Usagef("%s", failure.Error)
	}
	return errors.New(failure.Error)
}

// heldError is the error about a bot that runs and does not answer.
func heldError(file string) error {
	return fmt.Errorf("%s is held by a bot that has not begun to trade, as while the exchange cannot be reached, or "+
		"that is ending: its log says which; %w", file, ErrNotReady)
}

// Target names the bot, or the copy of a state file, that answers a request.
type Target struct {
	Folder string // the bot's state folder
	Copy   string // the copy of a state file, which is read instead; empty: none
	// Beside says that the bot and the program that asks are one process. The state file is not
	// read then: a bot that starts could not open it meanwhile.
	Beside bool
}

// notYet is the error about a bot in this process that does not answer.
func (of Target) notYet() error {
	return fmt.Errorf("%w yet: it begins to trade once it has reached the exchange; or it is ending", ErrNoBot)
}

// Answer is an answer from a running bot, or from a state file.
type Answer[T any] struct {
	Value *T
	Raw   []byte // as it came over the socket; nil: from the file
}

// noFile says which folder is asked for, where it has no state file.
func (of Target) noFile(err error) error {
	if _, failed := os.Stat(filepath.Join(of.Folder, "result.json")); failed == nil {
		return fmt.Errorf("%s has the result of a backtest, and no bot: its trades.csv, days.csv and equity.csv have "+
			"round trips, days and the curve", of.Folder)
	}
	return fmt.Errorf("%w; -c CONFIG or --state FOLDER says which bot is meant", err)
}

// Question is a question to a bot. Of asks it.
type Question[T any] struct {
	path  string
	ask   Request
	read  func(*journal.Store) (*T, error) // the answer of a state file
	wrong error                            // a mistake in the question
}

// Mistaken is a question that is a mistake.
func Mistaken[T any](wrong error) Question[T] { return Question[T]{wrong: wrong} }

// Of asks the running bot. If none runs, its state file answers.
func (q Question[T]) Of(ctx context.Context, of Target) (answer Answer[T], err error) {
	if q.wrong != nil {
		return answer, q.wrong
	}
	answer.Value = new(T)
	file := of.Copy
	if file == "" {
		answer.Raw, err = Call(ctx, of.Folder, q.path, &q.ask, 2*AnswerTimeout, answer.Value)
		if !errors.Is(err, ErrNoBot) {
			return answer, err
		}
		if of.Beside {
			return answer, of.notYet()
		}
		file = filepath.Join(of.Folder, statedir.StateFile)
	}
	store, err := journal.ReadUntil(ctx, file)
	if errors.Is(err, bolt.ErrLocked) {
		return answer, heldError(file)
	}
	if errors.Is(err, bolt.ErrNotFound) {
		return answer, of.noFile(err)
	}
	if err != nil {
		return answer, statedir.Error{Err: err}
	}
	answer.Value, err = q.read(store)
	if err := errors.Join(err, store.Close()); err != nil {
		return answer, statedir.Error{Err: err}
	}
	return answer, nil
}

// explainNoBot returns cause if no bot runs, and an error that says so if a bot runs and is not
// ready.
func explainNoBot(ctx context.Context, dir string, cause error) error {
	file := filepath.Join(dir, statedir.StateFile)
	store, err := journal.ReadUntil(ctx, file)
	switch {
	case errors.Is(err, bolt.ErrLocked):
		return heldError(file)
	case err == nil:
		return errors.Join(cause, store.Close())
	}
	return cause
}
