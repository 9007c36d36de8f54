package runner

import (
	"context"

	"github.com/tidemark-trading/tidemark/bot/operator"
)

// system answers the question for the bot's files. The loop takes no part in it.
func (c *control) system(context.Context, *operator.Request) (any, error) {
	s, err := operator.SystemOf(c.r.store)
	if err != nil {
		return nil, err
	}
	s.Running = true
	s.AddLog(c.r.config().Bot.LogFile)
	return s, nil
}
