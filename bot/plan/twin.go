package plan

import (
	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
)

// checkShadow refuses a [backtest] section that a twin could not use.
func (p *Live) checkShadow() error {
	for name := range p.Config.Strategies {
		if p.Shadows(name) {
			return p.TwinVenue(&backtest.Plan{})
		}
	}
	return nil
}

// Shadows reports whether a strategy has a twin.
func (p *Live) Shadows(name string) bool { return p.Config.Strategies[name].Shadow }

// TwinVenue sets the model of the exchange in the plan of the twins: the [backtest] section of the
// bot's own file, where it has one, over the defaults of a backtest.
func (p *Live) TwinVenue(into *backtest.Plan) error {
	source := *p.Config.Source
	source.Overrides = nil // they are about keys of a live bot
	c, err := config.LoadBacktest(&source)
	if err != nil {
		return err
	}
	b := &Backtest{Config: c, Run: into}
	return source.Place(b.addVenue())
}
