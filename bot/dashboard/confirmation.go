package dashboard

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/host"
	"github.com/tidemark-trading/tidemark/bot/operator"
)

const (
	formTime         = 10 * time.Minute // how long a confirmation may be sent
	maxConfirmations = 200              // forms and results that are kept; the oldest is forgotten
	actTime          = 30 * time.Second // that the exchange has to confirm
)

// confirmation is an action that a viewer is asked to confirm. It is carried out once at most,
// however often its form is sent.
type confirmation struct {
	id, session string
	made        time.Time
	do          *action
	on          *subject

	mu     sync.Mutex // held while it is carried out
	begun  bool
	report *operator.ActResult
	err    error
}

// confirmations are the latest of a bot.
type confirmations struct {
	mu   sync.Mutex
	list []*confirmation
}

// add makes an action with a name that nothing but its form has.
func (all *confirmations) add(session string, now time.Time, do *action, on *subject) *confirmation {
	one := &confirmation{id: secret(), session: session, made: now, do: do, on: on}
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.list = append(all.list, one); len(all.list) > maxConfirmations {
		all.list = all.list[1:]
	}
	return one
}

// find returns an action of a session. A program has no session, and no action.
func (all *confirmations) find(id, session string) (*confirmation, error) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, one := range all.list {
		if session != "" && host.Same(one.id, id) && host.Same(one.session, session) {
			return one, nil
		}
	}
	return nil, config.Usagef("this form is not valid any more; open the action again")
}

// outcome is the result of an action. It waits while the action is carried out.
func (one *confirmation) outcome() (begun bool, report *operator.ActResult, err error) {
	one.mu.Lock()
	defer one.mu.Unlock()
	return one.begun, one.report, one.err
}

// sendAction sends the action to the bot, unless that has been done. It goes on when the viewer has
// gone: a second click ends the first request. An error says that the form was sent too late.
func (one *confirmation) sendAction(ctx context.Context, of operator.Target, now time.Time, v *caller,
	reason string) error {
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.begun {
		return nil
	}
	if now.Sub(one.made) >= formTime {
		return config.Usagef("this form is older than %s; open the action again", formTime)
	}
	one.begun = true
	one.report, one.err = act(context.WithoutCancel(ctx), of, one.do, one.on, v, reason, actTime)
	return nil
}

// act asks a bot to carry out an action.
func act(ctx context.Context, of operator.Target, do *action, on *subject, v *caller, reason string,
	wait time.Duration) (*operator.ActResult, error) {
	answer, err := operator.Act(ctx, of, do.path, &operator.Request{Strategy: on.strategy, Order: on.order,
		Reason: strings.TrimSpace(reason), By: v.by, From: v.from, WaitMS: wait.Milliseconds()})
	return answer.Value, err
}

// untaken reports whether an error of an action says that the bot has not begun with it.
func untaken(err error) bool {
	return errors.As(err, new(config.UsageError)) || errors.Is(err, operator.ErrNoBot) ||
		errors.Is(err, operator.ErrNotReady)
}
