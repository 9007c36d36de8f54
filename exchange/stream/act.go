package stream

import (
	"context"

	"github.com/tidemark-trading/tidemark/exchange/rest"
)

// A Connection may carry the orders of a rest.Client.
var _ rest.Socket = (*Connection)(nil)

// Act is Ask for a private action without a Budget: the caller has asked it.
func (c *Connection) Act(ctx context.Context, action string, parameters []byte) ([]byte, error) {
	return c.Ask(ctx, &Message{Action: action, Members: parameters, Private: true})
}
