package plan

import (
	"strings"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/market"
)

// Change has the differences between the config of a running bot and the one that it is asked to
// take over.
type Change struct {
	Settings []config.Difference // that a running bot takes over
	Restart  []string            // keys of those that it does not: with one of them, it takes over nothing
}

// Trading reports whether limits or parameters change.
func (c *Change) Trading() bool {
	for i := range c.Settings {
		if top := c.Settings[i].Path[0]; top == "risk" || top == "strategies" {
			return true
		}
	}
	return false
}

// Lines are the settings for a person, without secrets.
func (c *Change) Lines() []string {
	lines := []string{}
	for i := range c.Settings {
		lines = append(lines, c.Settings[i].String())
	}
	return lines
}

// ChangeFrom compares a plan, not finished yet, with that of a running bot.
func (p *Live) ChangeFrom(was *Live) *Change {
	c := &Change{Restart: []string{}}
	for _, d := range config.Differences(was.Config, p.Config) {
		if reloadable(d.Path) {
			c.Settings = append(c.Settings, d)
		} else {
			c.Restart = append(c.Restart, d.Key())
		}
	}
	if len(c.Restart) == 0 && (p.Key != was.Key || p.secret != was.secret) {
		c.Restart = append(c.Restart, "exchange.key or exchange.secret (what they name has changed)")
	}
	return c
}

// reloadable reports whether a running bot takes a setting over.
func reloadable(path []string) bool {
	switch path[0] {
	case "risk", "alerts":
		return true
	case "bot":
		return len(path) == 2 && path[1] == "log"
	case "strategies":
		return len(path) == 4 && path[2] == "risk" || len(path) >= 3 && (path[2] == "params" || path[2] == "rules")
	}
	return false
}

// Succeed completes a plan with the markets and universes of the running bot that takes it over.
// Both have the same strategies. A parameter that needs other data than the bot receives is an
// error.
func (p *Live) Succeed(was *Live, catalog *market.Catalog) error {
	p.Held, p.Ranked, p.Rankings, p.Known, p.Gone = was.Held, was.Ranked, was.Rankings, was.Known, was.Gone
	if err := p.setCatalog(catalog); err != nil {
		return err
	}
	for i := range p.Strategies {
		s := &p.Strategies[i]
		if what := s.Changes(&was.Strategies[i]); what != "" {
			return p.Config.Source.Place(config.Keyf([]string{"strategies", s.Name, "params"},
				"%s would change, which needs a restart", strings.TrimPrefix(what, "its ")))
		}
	}
	return nil
}
