package bot_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// comingFrom is a program that runs the examples of docs/coming-from.md, one at each candle.
const comingFrom = `package main

import (
	"context"
	"fmt"
	"time"

	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

type examples struct {
	strategy.Base
	setup   strategy.Setup
	means   strategy.PerMarket[indicator.SMA]
	channel indicator.Donchian
	at, ran int
	size    strategy.Size
}

func (s *examples) OnCandle(d *strategy.Desk, c market.Candle) {
	setup, channel, m, mean, size := s.setup, &s.channel, d.In(c.Market), s.means.In(c.Market), s.size
	channel.Push(c)
	mean.Push(c.Close)
	stop, target := c.Close.Below(5*market.Percent), c.Close.Above(5*market.Percent)
	m.CancelAll()
	id, err := m.Buy(size, strategy.Exits(stop, target))
	if err != nil {
		id = 1
	}
	switch s.at++; s.at {
%s	}
	_, _, _, _, _, _, _ = setup, channel, mean, size, stop, target, id
}

func main() {
	var s *examples
	definition := strategy.Define("examples", "each at a candle",
		func(struct{}) strategy.Needs { return strategy.Needs{} },
		func(_ struct{}, setup strategy.Setup) (strategy.Strategy, error) {
			s = &examples{setup: setup, channel: indicator.NewDonchian(20), size: strategy.EquityShare(market.Percent)}
			s.means = strategy.Each(setup, func(market.Market) indicator.SMA { return indicator.NewSMA(20) })
			setup.Size("0.25 base")
			setup.Size("100 quote")
			return s, nil
		})
	result, err := bot.Backtest(context.Background(), definition, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(s.ran, "examples,", result.Warnings)
}
`

func TestTheExamplesForThoseWhoComeFromElsewhereRun(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector, and this builds a program without it")
	}
	t.Parallel()
	configs := ""
	files, err := filepath.Glob("../configs/*.toml")
	require.NoError(t, err)
	for _, file := range files {
		configs += read(t, file)
	}
	var cases strings.Builder
	examples := 0
	rows := regexp.MustCompile(`(?m)^\|.*\|.*\| (.*) \|$`).FindAllStringSubmatch(read(t, "../docs/coming-from.md"), -1)
	for _, row := range rows {
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			example := m[1]
			if setting := regexp.MustCompile(`^(\w+)( = .*)?$`).FindStringSubmatch(example); setting != nil {
				require.Regexp(t, `(?m)^(# )?`+setting[1]+` = `, configs, "no config has the setting %s", example)
				continue
			}
			if strings.HasPrefix(example, "bot ") {
				continue // played with the commands of all documents
			}
			examples++
			fmt.Fprintf(&cases, "\tcase %d:\n\t\ts.ran++\n\t\t%s\n", examples, statement(example))
		}
	}
	require.Greater(t, examples, 30, "the search found too few examples to be right")
	dir := filepath.Join(t.TempDir(), "mine")
	code, _, failed := call(t.Context(), "init", dir)
	require.Zero(t, code, failed)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "coming"), 0o755))
	program := fmt.Sprintf(comingFrom, &cases)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "coming", "main.go"), []byte(program), 0o644))
	said := joinModule(t, dir, "mine").command(t, "run", "mine/coming")
	require.Equal(t, fmt.Sprintf("%d examples, []\n", examples), said)
}

// statement is an example as a statement of Go: a value is left unused.
func statement(example string) string {
	if e, err := parser.ParseExpr(example); err == nil {
		if _, call := e.(*ast.CallExpr); !call {
			return "_ = " + example
		}
	}
	return example
}
