package runner

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/exchange/stream"
)

// A count names a metric of the table, with a label for each of its names.
func TestEachCountIsOfTheTable(t *testing.T) {
	labels := map[string]int{}
	for _, c := range counted {
		labels[c.name] = len(c.labels)
	}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	called := map[string]int{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is || len(call.Args) < 3 {
				return true
			}
			of, is := call.Fun.(*ast.SelectorExpr)
			first, text := call.Args[0].(*ast.BasicLit)
			if is && of.Sel.Name == "count" && text && first.Kind == token.STRING {
				called[strings.Trim(first.Value, `"`)] = len(call.Args) - 2
			}
			return true
		})
	}
	require.Equal(t, labels, called)
}

func TestThePageOnMetricsNamesEveryMetricAndNoOther(t *testing.T) {
	c := config.DefaultRun()
	c.Strategies = map[string]config.StrategySection{"trend": {}}
	p := &plan.Live{Access: plan.Access{Config: c}}
	p.Strategies = []backtest.StrategyPlan{{Name: "trend"}}
	on, err := stream.New(stream.Config{BaseURL: "https://exchange.test"})
	require.NoError(t, err)
	on.Subscribe(&stream.Channel{Name: "book"})
	w := &watch{now: time.Now, r: &runner{books: books{plan: p,
		listening: &listening{sources: map[string]*source{"model": {}}}}, streams: &streams{on: on},
		orders: &streamedOrders{}}}
	m := newMetrics(w)
	m.attach(w.r)
	described := make(chan *prometheus.Desc, 1000)
	m.registry.Describe(described)
	close(described)
	names := map[string]bool{}
	for desc := range described {
		if name := regexp.MustCompile(`fqName: "(tidemark_[a-z_]+)"`).FindStringSubmatch(desc.String()); name != nil {
			names[name[1]] = true
		}
	}
	page, err := os.ReadFile("../../docs/metrics.md")
	require.NoError(t, err)
	told := map[string]bool{}
	for _, name := range regexp.MustCompile("(?m)^\\| `(tidemark_[a-z_]+)`").FindAllStringSubmatch(string(page), -1) {
		if strings.HasPrefix(name[1], "tidemark_gap_") {
			continue // bot/rerun/gap/rounds has these
		}
		told[name[1]] = true
	}
	require.Greater(t, len(names), 15)
	require.Equal(t, names, told)
}
