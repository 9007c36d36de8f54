package live

import (
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// stepEngine steps the engine and tells Config.Stepped how long that took.
func (l *Loop) stepEngine(ev *market.Event) []market.Command {
	if l.Stepped == nil {
		return l.Engine.Step(ev)
	}
	began := time.Now()
	commands := l.Engine.Step(ev)
	l.Stepped(ev.Kind, time.Since(began))
	return commands
}
