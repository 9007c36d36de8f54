package bot

import (
	"github.com/tidemark-trading/tidemark/strategy"
)

var fickleKind = strategy.Define("fickle", "for now", func(struct{}) strategy.Needs { return strategy.Needs{} },
	func(struct{}, strategy.Setup) (strategy.Strategy, error) { return &keeper{}, nil })
