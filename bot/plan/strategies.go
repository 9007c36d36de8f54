package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/risk"
	"github.com/tidemark-trading/tidemark/strategy"
)

// maxStrategies is the number of values of a StrategyID.
const maxStrategies = 255

// reservedNames are no names of strategies: `bot halt all`, typed in a hurry, means all of them, as
// does `bot halt ""`; account and total stand beside strategies in reports.
var reservedNames = []string{"", "all", "account", "total"}

// addStrategies adds the strategies with their parameters and limits. Their markets are added
// later, with the data.
func (p *Plan) addStrategies() error {
	if n := len(p.sections.Strategies); n == 0 || n > maxStrategies {
		return config.Keyf([]string{"strategies"}, "%d strategies; want 1 to %d sections like [strategies.trend]", n,
			maxStrategies)
	}
	for _, name := range p.sections.Names() {
		path, section := []string{"strategies", name}, p.sections.Strategies[name]
		if slices.Contains(reservedNames, strings.ToLower(name)) || strings.HasPrefix(name, "-") {
			return config.Keyf(path, "%q is no name for a strategy: commands take it for another word; choose another "+
				"name", config.Clip(name))
		}
		kind, err := p.kind(path, section.Kind)
		if err != nil {
			return err
		}
		if err := p.checkStrategy(path, kind, &section); err != nil {
			return err
		}
		limits, err := limitsOf(path, &section)
		if err != nil {
			return err
		}
		p.Strategies = append(p.Strategies, backtest.StrategyPlan{Name: name, Kind: kind, Values: section.Values(),
			Interval: section.Interval, Limits: limits})
	}
	return nil
}

// kind finds a strategy's kind by name.
func (p *Plan) kind(path []string, name string) (strategy.Definition, error) {
	for _, k := range p.kinds {
		if k.Name == name {
			return k, nil
		}
	}
	if name == "" {
		return strategy.Definition{}, p.missingKind(path)
	}
	return strategy.Definition{}, config.Keyf(config.Join(path, "kind"), "%w; `bot strategies` lists what there is",
		UnknownStrategy(name, p.kinds))
}

// missingKind explains a strategy without a kind, which a mistyped --set makes.
func (p *Plan) missingKind(path []string) error {
	others := slices.DeleteFunc(p.sections.Names(),
		func(name string) bool { return p.sections.Strategies[name].Kind == "" })
	if len(others) == 0 {
		return config.Keyf(config.Join(path, "kind"), "is missing; `bot strategies` lists what there is")
	}
	return config.Keyf(path, "has no kind; did you mean %q?",
		strings.Join(append(path[:1:1], strategy.Nearest(path[1], others)), "."))
}

// checkStrategy checks parameters, interval and markets.
func (p *Plan) checkStrategy(path []string, kind strategy.Definition, s *config.StrategySection) error {
	values := s.Values()
	if kind.Written() && len(values) == 0 {
		return config.Keyf(config.Join(path, "rules"), "is missing; write [%s.rules] with at least an entry; `bot "+
			"strategies %s` lists the words", strings.Join(path, "."), kind.Name)
	}
	if _, err := kind.Resolve(values); err != nil {
		return valueError(path[1], err, values)
	}
	if err := p.checkSources(path, kind, values); err != nil {
		return err
	}
	if err := p.checkReads(path, kind, values); err != nil {
		return err
	}
	if s.Interval == 0 {
		return config.Keyf(config.Join(path, "interval"), "is missing; want the candles to trade on, like \"1h\"")
	}
	if err := checkWritten(path, kind, values, s.Interval); err != nil {
		return err
	}
	if s.Universe != nil {
		return p.checkUniverse(path, s)
	}
	if len(s.Markets) == 0 {
		return config.Keyf(config.Join(path, "markets"), "is missing; want at least one, like [\"BTC-EUR\"]")
	}
	for i, name := range s.Markets {
		_, quote, err := market.SplitName(name)
		switch {
		case err != nil:
			return config.At(config.Join(path, "markets"), err)
		case quote != p.sections.Currency && strings.EqualFold(quote, p.sections.Currency):
			return config.Keyf(config.Join(path, "markets"), "%s is written %s", name, strings.ToUpper(name))
		case quote != p.sections.Currency:
			return config.Keyf(config.Join(path, "markets"), "%s is not quoted in %s, the account's currency", name,
				p.sections.Currency)
		case slices.Contains(s.Markets[:i], name):
			return config.Keyf(config.Join(path, "markets"), "%s is there twice", name)
		}
	}
	return nil
}

// checkReads refuses markets that are read and have another currency: their prices would mean
// something else.
func (p *Plan) checkReads(path []string, kind strategy.Definition, values map[string]any) error {
	needs, err := kind.Needs(values)
	if err != nil {
		return config.At(path, err)
	}
	for _, name := range needs.Reads {
		if _, quote, err := market.SplitName(name); err != nil {
			return config.At(path, err)
		} else if quote != p.sections.Currency {
			return config.Keyf(path, "it reads %s, which is not quoted in %s, the account's currency",
				config.Clip(name), p.sections.Currency)
		}
	}
	return nil
}

// checkWritten refuses a strategy that stands in the config and reads shorter candles than those on
// which it trades.
func checkWritten(path []string, kind strategy.Definition, values map[string]any, main market.Interval) error {
	if !kind.Written() {
		return nil
	}
	needs, err := kind.Needs(values)
	for _, c := range needs.Of(0)[1:] {
		if interval := c.Interval; interval < main {
			return config.Keyf(config.Join(path, "interval"), "%s is longer than the %s that a rule reads; trade on "+
				"the shortest interval: interval = %q", main, interval, interval)
		}
	}
	return err
}

// valueError is an error of a strategy's values with the key of the one that it is about, else that
// of the table.
func valueError(section string, err error, values map[string]any) error {
	var within *strategy.ValueError
	if errors.As(err, &within) {
		return config.At(config.ValuePath(section, within.Name), within.Err)
	}
	path, text := []string{"strategies", section, "params"}, err.Error()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if strings.Contains(text, "parameter "+name+":") || strings.Contains(text, fmt.Sprintf("parameter %q:", name)) {
			path = config.ValuePath(section, name)
			break
		}
	}
	return config.At(path, config.HideSecret(path, err))
}

// limitsOf converts the limits of a strategy, without the amounts of money.
func limitsOf(path []string, s *config.StrategySection) (limits risk.Limits, err error) {
	r := &s.Risk
	limits = risk.Limits{OperatorID: s.OperatorID, CodGroupID: uint16(s.CodGroupID)}
	if s.CodGroupID > 1000 {
		return limits, config.Keyf(config.Join(path, "cod_group_id"), "%d is not in 1 to 1000", s.CodGroupID)
	}
	if (r.CoolDownLosses == 0) != (r.CoolDown == 0) {
		return limits, config.Keyf(config.Join(path, "risk", "cool_down"),
			"cool_down and cool_down_losses go together: set both, or neither")
	}
	return limits, takeLimits(config.Join(path, "risk"), &limits, r, nil)
}

// ofTidemark are the names of the shipped strategies. The program of an author has its own in their
// place.
var ofTidemark = []string{"accumulate", "bandrevert", "breakout", "dca", "follow", "grid", "maker", "rotation",
	"rsirevert", "rules", "smacross", "trendfilter"}

// UnknownStrategy says that the program has no strategy of this name, and what may be done about
// it: the name of the nearest one, or how a shipped one gets into a program of one's own.
func UnknownStrategy(name string, kinds []strategy.Definition) error {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.Name
	}
	if !slices.Contains(ofTidemark, name) {
		return fmt.Errorf("unknown strategy %q; the nearest is %q", config.Clip(name), strategy.Nearest(name, names))
	}
	return fmt.Errorf("the strategy %s comes with Tidemark, and this program does not have it: in main.go import "+
		"\"github.com/tidemark-trading/tidemark/strategy/shipped\" and pass shipped.Definitions() to bot.Main too",
		name)
}
