package bot

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/tidemark-trading/tidemark/state"
)

// askStatus asks how a bot stands. Of one that does not run it is what the state file knows.
func askStatus(ctx context.Context, of whereabouts) (found[statusInfo], error) {
	return askOrRead(ctx, of, pathStatus, &operatorAsk{}, func(store *state.BotStore) (*statusInfo, error) {
		return stoppedStatus(store, filepath.Dir(store.Path()))
	})
}

// askOrders asks for the open orders of a bot, or for all.
func askOrders(ctx context.Context, of whereabouts, all bool) (found[ordersInfo], error) {
	return askOrRead(ctx, of, pathOrders, &operatorAsk{All: all}, func(store *state.BotStore) (*ordersInfo, error) { return stoppedOrders(store, all) })
}

// askPositions asks what the strategies of a bot hold.
func askPositions(ctx context.Context, of whereabouts) (found[positionsInfo], error) {
	return askOrRead(ctx, of, pathPositions, &operatorAsk{}, stoppedPositions)
}

// askStory asks for the story of an order, which may be named as state.BotStore.FindOrder takes it.
func askStory(ctx context.Context, of whereabouts, order string) (found[storyInfo], error) {
	return askOrRead(ctx, of, pathExplain, &operatorAsk{Order: order}, func(store *state.BotStore) (*storyInfo, error) { return storyOf(store, order) })
}

// askRefused asks what was refused since so long ago, of one strategy or, where the name is empty, of all.
func askRefused(ctx context.Context, of whereabouts, strategy string, since time.Duration) (found[refusedInfo], error) {
	ask := &operatorAsk{Strategy: strategy, SinceMS: since.Milliseconds()}
	return askOrRead(ctx, of, pathExplain, ask, func(store *state.BotStore) (*refusedInfo, error) {
		return storedRefusals(store, strategy, since)
	})
}

// askAct lets the running bot of a folder act, and waits for as long as the request says and the bot may take to answer. Where no bot
// answers, the error says whether one is there that does not trade yet.
func askAct(ctx context.Context, folder, path string, ask *operatorAsk) (answer found[actReport], err error) {
	answer.value = new(actReport)
	wait := time.Duration(ask.WaitMS) * time.Millisecond
	answer.raw, err = call(ctx, folder, path, ask, wait+2*answerWithin, answer.value)
	if errors.Is(err, errNoBot) {
		err = absent(ctx, folder, err)
	}
	return answer, err
}

// askBackup lets the running bot of a folder write a copy of its state file to an absolute path. The error wraps errNoBot where none runs.
func askBackup(ctx context.Context, folder, file string) error {
	_, err := call(ctx, folder, pathBackup, &operatorAsk{File: file}, longestAct, &struct{}{})
	return err
}
