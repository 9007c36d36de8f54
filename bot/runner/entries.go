package runner

import (
	"context"

	"github.com/tidemark-trading/tidemark/bot/operator"
)

// entries answers `bot journal`. It is a read transaction of the goroutine that answers: the loop
// takes no part in it.
func (c *control) entries(_ context.Context, ask *operator.Request) (any, error) {
	q := ask.Journal
	if q == nil {
		q = &operator.JournalQuery{}
	}
	if err := q.Check(); err != nil {
		return nil, err
	}
	list, err := operator.JournalOf(c.r.store, q, c.r.trading.Now())
	if err != nil {
		return nil, err
	}
	list.Running = true
	return list, nil
}
