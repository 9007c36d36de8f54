package operator

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/tidemark-trading/tidemark/bot/seal"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// AskStatus asks for the status of a bot.
func AskStatus() Question[Status] {
	return Question[Status]{path: PathStatus, read: func(store *journal.Store) (*Status, error) {
		return StoppedStatus(store, filepath.Dir(store.Path()))
	}}
}

// AskOrders asks for the open orders of a bot, or for all.
func AskOrders(all bool) Question[Orders] {
	return Question[Orders]{path: PathOrders, ask: Request{All: all},
		read: func(store *journal.Store) (*Orders, error) { return stoppedOrders(store, all) }}
}

// AskPositions asks for the positions of a bot.
func AskPositions() Question[Positions] {
	return Question[Positions]{path: PathPositions, read: StoppedPositions}
}

// AskStory asks for the story of an order. order is a name as in journal.Store.FindOrder.
func AskStory(order string) Question[Story] {
	return Question[Story]{path: PathExplain, ask: Request{Order: order},
		read: func(store *journal.Store) (*Story, error) { return StoryOf(store, order) }}
}

// AskRefused asks for the refusals of the time since, of one strategy or, if the name is empty, of
// all.
func AskRefused(strategy string, since time.Duration) Question[Refused] {
	return Question[Refused]{path: PathExplain, ask: Request{Strategy: strategy, SinceMS: since.Milliseconds()},
		read: func(store *journal.Store) (*Refused, error) { return storedRefusals(store, strategy, since) }}
}

// AskVerify asks how a bot stands to its seal.
func AskVerify() Question[seal.SealStatus] {
	return Question[seal.SealStatus]{path: PathVerify, read: seal.StatusOf}
}

// Seal lets the running bot of a folder journal the document of a seal. The error wraps ErrNoBot if
// none runs.
func Seal(ctx context.Context, folder string, document []byte, by string) (*seal.SealStatus, error) {
	answer := &seal.SealStatus{}
	_, err := Call(ctx, folder, PathSeal, &Request{Document: document, By: by}, 2*AnswerTimeout, answer)
	return answer, err
}

// Act sends a command to a running bot. It waits for Request.WaitMS and the time that the bot may
// take to answer. If no bot answers, the error says whether one runs that does not trade yet.
func Act(ctx context.Context, of Target, path string, ask *Request) (answer Answer[ActResult], err error) {
	answer.Value = new(ActResult)
	wait := time.Duration(ask.WaitMS) * time.Millisecond
	answer.Raw, err = Call(ctx, of.Folder, path, ask, wait+2*AnswerTimeout, answer.Value)
	switch {
	case errors.Is(err, ErrNoBot) && of.Beside:
		err = of.notYet()
	case errors.Is(err, ErrNoBot):
		err = explainNoBot(ctx, of.Folder, err)
	}
	return answer, err
}

// Backup lets the running bot of a folder write a copy of its state file to an absolute path. One
// that is passing, because the caller removes it, is not noted as the latest backup. The error
// wraps ErrNoBot if none runs.
func Backup(ctx context.Context, folder, file string, passing bool) error {
	_, err := Call(ctx, folder, PathBackup, &Request{File: file, Passing: passing}, MaxWait, &struct{}{})
	return err
}
