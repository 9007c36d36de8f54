package config

import (
	"strings"

	"github.com/tidemark-trading/tidemark/strategy"
)

// The tables of a strategy with values for its kind.
const (
	paramsTable = "params"
	rulesTable  = "rules"
	letTable    = "let"
)

// Values are the parameters and rules as a strategy.Definition takes them.
func (s *StrategySection) Values() map[string]any {
	if len(s.Rules) == 0 {
		return s.Params
	}
	values := make(map[string]any, len(s.Params)+len(s.Rules))
	for name, value := range s.Params {
		values[name] = value
	}
	for name, value := range s.Rules {
		let, is := value.(map[string]any)
		if name != letTable || !is {
			values[strategy.RulePrefix+name] = value
			continue
		}
		for name, value := range let {
			values[strategy.LetPrefix+name] = value
		}
	}
	return values
}

// ValuePath is the key of a value of a strategy.
func ValuePath(section, name string) []string {
	path := []string{"strategies", section}
	if let, is := strings.CutPrefix(name, strategy.LetPrefix); is {
		return append(path, rulesTable, letTable, let)
	}
	if rule, is := strings.CutPrefix(name, strategy.RulePrefix); is {
		return append(path, rulesTable, rule)
	}
	return append(path, paramsTable, name)
}

// ValueAt is the name of the value of a strategy that a key holds; empty: it holds none.
func ValueAt(path []string) string {
	if len(path) < 4 || path[0] != "strategies" {
		return ""
	}
	switch {
	case len(path) == 4 && path[2] == paramsTable:
		return path[3]
	case len(path) == 5 && path[2] == rulesTable && path[3] == letTable:
		return strategy.LetPrefix + path[4]
	case len(path) == 4 && path[2] == rulesTable && path[3] != letTable:
		return strategy.RulePrefix + path[3]
	}
	return ""
}
