package rest

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// page reads the table of the package comment: the methods of each endpoint, "none" being those
// that send nothing.
func page(t *testing.T) map[string][]string {
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	require.NoError(t, err)
	table := map[string][]string{}
	for line := range strings.SplitSeq(file.Doc.Text(), "\n") {
		row, ok := strings.CutPrefix(line, "\t")
		if !ok {
			continue
		}
		endpoint, methods, ok := strings.Cut(row, "  ")
		require.True(t, ok, line)
		methods, _, _ = strings.Cut(methods, "(")
		require.NotContains(t, table, endpoint)
		table[endpoint] = strings.Split(strings.TrimSpace(methods), ", ")
	}
	return table
}

// visits are the methods of the client that the stops of the tour call, by the name of the stop.
func visits(t *testing.T) map[string]string {
	file, err := parser.ParseFile(token.NewFileSet(), "tour_test.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	client, found := reflect.TypeFor[*Client](), map[string]string{}
	ast.Inspect(file, func(node ast.Node) bool {
		stop, ok := node.(*ast.CompositeLit)
		if !ok || stop.Type != nil || len(stop.Elts) != 2 {
			return true
		}
		name, named := stop.Elts[0].(*ast.BasicLit)
		do, called := stop.Elts[1].(*ast.FuncLit)
		if !named || !called {
			return true
		}
		ast.Inspect(do, func(node ast.Node) bool {
			if call, ok := node.(*ast.CallExpr); ok {
				if method, ok := call.Fun.(*ast.SelectorExpr); ok {
					if _, ok := client.MethodByName(method.Sel.Name); ok {
						found[strings.Trim(name.Value, `"`)] = method.Sel.Name
					}
				}
			}
			return true
		})
		return false
	})
	return found
}

// notedBudget is a Budget that notes endpoints.
type notedBudget struct{ asked map[string]bool }

func (b *notedBudget) Begin(_ context.Context, _ Lane, endpoint string, _ int, _ Payer) (func(http.Header, int, []byte),
	error) {
	b.asked[endpoint] = true
	return func(http.Header, int, []byte) {}, nil
}

// TestThePageListsEveryMethodWithItsEndpoint holds the table of the package comment against the
// client's methods and against the tour: a method is listed with the endpoints that it asks of the
// sandbox, and with no other.
func TestThePageListsEveryMethodWithItsEndpoint(t *testing.T) {
	table, methods := page(t), map[string]bool{}
	for _, names := range table {
		for _, name := range names {
			methods[name] = true
		}
	}
	client := reflect.TypeFor[*Client]()
	for i := range client.NumMethod() {
		require.True(t, methods[client.Method(i).Name], "doc.go does not list %s", client.Method(i).Name)
		delete(methods, client.Method(i).Name)
	}
	require.Empty(t, methods, "doc.go lists methods that the client does not have")
	for i := range endpoints {
		require.NotEmpty(t, table[endpoints[i].name], "doc.go does not list %s", endpoints[i].name)
	}
	require.Len(t, table, len(endpoints)+1)

	r, visited := newRig(t, nil), visits(t)
	have := map[string][]string{"none": table["none"]}
	for _, call := range tour(r) {
		method := visited[call.name]
		require.NotEmpty(t, method, "stop %q calls no method of the client", call.name)
		b := &notedBudget{asked: map[string]bool{}}
		r.config.Budget = b
		require.NoError(t, call.do(), call.name)
		for endpoint := range b.asked {
			if !slices.Contains(have[endpoint], method) {
				have[endpoint] = append(have[endpoint], method)
			}
		}
	}
	for endpoint, methods := range table {
		require.ElementsMatch(t, methods, have[endpoint], "%s: doc.go against the tour", endpoint)
	}
}

// TestTheClientAsksForNoWithdrawal holds that no method names an amount of money that is to leave.
func TestTheClientAsksForNoWithdrawal(t *testing.T) {
	r := newRig(t, nil)
	for _, call := range tour(r) {
		require.NoError(t, call.do(), call.name)
	}
	asked := 0
	for i, sent := range r.wire.sent {
		if sent.Method == http.MethodPost && sent.URL.Path == version+"/withdrawal" {
			asked++
			require.Equal(t, "{}", r.wire.bodies[i])
		}
	}
	require.Equal(t, 1, asked)
}
