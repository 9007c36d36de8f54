package live

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/engine/bracket"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// Every exported method of the engine is in one of these lists. A new method that changes anything
// is an input: give it a kind in package market and a case in Engine.Enter.
var (
	// entered are carried out by Enter.
	entered = []string{"Step", "Start", "Stop"}
	// read changes nothing that a later command depends on.
	read = []string{"Began", "Brackets", "Callback", "Err", "Halted", "HaltedOpen", "Halts", "Lacking", "LastOrder",
		"LatestSignal", "Members", "Names", "NextTimer", "Notes", "Now", "Refused", "Save", "SaveAll", "SignalsOf",
		"Stack", "TimerDue", "Trades", "Universe", "Unloaded", "Unsaved", "Warming", "Watches"}
	// viewed are what Engine.Brackets shows.
	viewed = []string{"Bare", "Covered", "EntryOf", "Guarding", "Held", "IsExit", "Unprotected", "UnprotectedBy",
		"Watched", "Withdrawn"}
	// desked are what a Desk calls, within a callback, beside what is the desk's alone.
	desked = []string{"Catalog", "EndTactics"}
	// reloaded are of a reload, which the recording has as a record of its own kind.
	reloaded = []string{"Prepare", "CatchUp", "TakeOver"}
	// driven are of backtests alone.
	driven = []string{"Await", "CancelEntries", "CloseAll", "SeeFrom", "StartRest", "StepQuiet", "StepTickers"}
	// opened are called before anything else enters: Enter itself, and the start of a bot.
	opened = []string{"Enter", "Hold", "Restore", "See", "Watch"}
	// accountRead are the methods of the account that loop and runner may call.
	accountRead = []string{"Balance", "BestPrice", "CanReopen", "Catalog", "Check", "CountPending", "Ended", "Equity",
		"Expects", "Exposure", "Known", "Last", "Left", "Open", "OpenBy", "Own", "Pending", "Position", "Profit",
		"PresumedAbsent",
		"PriceArrived", "Released", "SaveOrder", "Strategies", "TakeChanges", "Total", "Track",
		"Unreliable", "Unsettled", "UnsettledBy"}
)

func TestEveryMethodOfTheEngineIsAnInputOrReads(t *testing.T) {
	of := reflect.TypeFor[*engine.Engine]()
	known := slices.Concat(entered, read, desked, reloaded, driven, opened)
	for i := range of.NumMethod() {
		count := 0
		for _, name := range known {
			if name == of.Method(i).Name {
				count++
			}
		}
		require.Equal(t, 1, count, "Engine.%s is in %d of the lists", of.Method(i).Name, count)
	}
	require.Len(t, known, of.NumMethod(), "a list has a method that is gone")
	view := reflect.TypeFor[bracket.View]()
	for i := range view.NumMethod() {
		require.Contains(t, viewed, view.Method(i).Name, "a method of bracket.View may only read")
	}
	account := reflect.TypeFor[*state.Account]()
	for _, name := range accountRead {
		_, there := account.MethodByName(name)
		require.True(t, there, "Account.%s is gone", name)
	}
}

// The file of Inputs may change the engine.
func TestOnlyInputsLeadIntoTheEngine(t *testing.T) {
	allowed := map[string][]string{"Engine": read, "engine": read, "Account": accountRead, "account": accountRead}
	calls := 0
	for _, dir := range []string{".", "../../bot/runner"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		require.NoError(t, err)
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") || filepath.Base(path) == "inputs.go" {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			require.NoError(t, err)
			ast.Inspect(file, func(n ast.Node) bool {
				use, is := n.(*ast.SelectorExpr)
				if !is {
					return true
				}
				of, is := use.X.(*ast.SelectorExpr)
				if !is || allowed[of.Sel.Name] == nil || !isMethod(use.Sel.Name) {
					return true
				}
				calls++
				if !slices.Contains(allowed[of.Sel.Name], use.Sel.Name) {
					t.Errorf("%s: %s.%s changes what a replay must know; enter a market.Input by Inputs, or "+
						"list it as a method that only reads", path, of.Sel.Name, use.Sel.Name)
				}
				return true
			})
		}
	}
	require.Greater(t, calls, 100)
}

// isMethod reports whether engine or account has such a method: a config has an Account too.
func isMethod(name string) bool {
	_, ofEngine := reflect.TypeFor[*engine.Engine]().MethodByName(name)
	_, ofAccount := reflect.TypeFor[*state.Account]().MethodByName(name)
	return ofEngine || ofAccount
}

// An input of a kind that Enter does not know would be dropped in silence.
func TestEveryKindOfInputHasANameAndACase(t *testing.T) {
	source, err := os.ReadFile("../input.go")
	require.NoError(t, err)
	kinds, err := os.ReadFile("../../market/input.go")
	require.NoError(t, err)
	count := 0
	for _, kind := range regexp.MustCompile(`(?m)^\t(Input[A-Z]\w+)`).FindAllStringSubmatch(string(kinds), -1) {
		require.Contains(t, string(source), "market."+kind[1], "Engine.Enter does not know it")
		count++
	}
	require.Equal(t, int(market.LastInput), count)
	for kind := market.InputEvent; kind <= market.LastInput; kind++ {
		require.NotContains(t, kind.String(), "input(")
	}
}
