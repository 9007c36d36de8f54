package backtest

import (
	"errors"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
)

// TakeOver lets the strategies of changed, and all limits, of an engine that was prepared with the
// state of this session take over: see engine.Engine.TakeOver.
func (s *Session) TakeOver(at market.Time, next *engine.Engine, changed []market.StrategyID) error {
	at = max(at, s.d.engine.Now())
	s.markUntil(at)
	if err := s.pass(at - 1); err != nil {
		return err
	}
	commands, err := s.d.engine.TakeOver(at, next, changed)
	if err != nil {
		return err
	}
	s.d.send(commands)
	return errors.Join(s.d.engine.Err(), s.pass(at))
}
