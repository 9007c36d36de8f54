package bot

import (
	"context"
	"fmt"
	"strings"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/strategy"
)

// builtinKind is the strategy of the built-in config.
const builtinKind = "smacross"

// builtinFor is the built-in config for a program's strategies. If builtinKind is missing, it names
// the first strategy, with defaults.
func builtinFor(kinds []strategy.Definition) string {
	for _, k := range kinds {
		if k.Name == builtinKind {
			return builtin
		}
	}
	if len(kinds) == 0 {
		return builtin
	}
	head, _, _ := strings.Cut(builtin, "[strategies.trend.params]")
	head = strings.Replace(head, `"`+builtinKind+`"`, fmt.Sprintf("%q", kinds[0].Name), 1)
	return head + fmt.Sprintf("\n[report]\nout = %q\n", "out/"+kinds[0].Name+"-synthetic")
}

// Backtest runs a strategy on the built-in synthetic market, three years of BTC-EUR at 1h from
// 10,000 EUR, and writes no files: for tests of an own strategy. values are its parameters as in a
// config; a missing one has its default. The result depends on nothing else.
func Backtest(ctx context.Context, kind strategy.Definition, values map[string]any) (*backtest.Result, error) {
	c, err := config.LoadBacktest(&config.Source{Text: builtinFor([]strategy.Definition{kind})})
	if err != nil {
		return nil, err
	}
	for name, section := range c.Strategies {
		section.Params = values
		c.Strategies[name] = section
	}
	p, err := plan.NewBacktest(c, []strategy.Definition{kind})
	if err != nil {
		return nil, err
	}
	candles, err := plan.OpenLibrary(c)
	if err != nil {
		return nil, err
	}
	defer candles.Close()
	if err := p.Finish(candles); err != nil {
		return nil, err
	}
	return backtest.Run(ctx, p.Run, p.Options)
}
