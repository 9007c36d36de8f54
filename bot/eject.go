package bot

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/version"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/rules"
)

const ejectHelp = `Write the Go module that trades as the rules of a strategy do: the same orders to the last unit, with
the same tags. The module is one of bot init: yours to change. Numbers of [params], and sizes and rates of the rules,
become parameters of the Go.

Its config.toml is the config with the strategy in Go, its test compares a backtest with that of the rules. In results
the kind of the strategy, its list of parameters, notes about near misses and what follows from the config's text (ids,
hashes) differ.

The command never overwrites a file.`

// ejectFlags are those of bot rules eject.
type ejectFlags struct {
	config, strategy, to, module, replace string
}

func ejectCommand(a *app) *cobra.Command {
	var f ejectFlags
	c := &cobra.Command{
		Use: "eject", Short: "Write rules as a Go module", Long: ejectHelp, Args: cobra.NoArgs,
		Example: "  bot rules eject -c configs/rules.toml --strategy turtle --to ../turtle\n" +
			"  cd ../turtle && go test ./... && go run . backtest -c config.toml",
		RunE: a.enter(func(ctx context.Context, _ []string) error { return a.eject(ctx, &f) }),
	}
	c.Flags().StringVarP(&f.config, "config", "c", "", "config `FILE` with the rules")
	c.Flags().StringVar(&f.strategy, "strategy", "", "`NAME` of the strategy, where the config has several")
	c.Flags().StringVar(&f.to, "to", "", "`DIR` of the new module")
	c.Flags().StringVar(&f.module, "module", "", "`NAME` of the module; without it that of DIR")
	c.Flags().StringVar(&f.replace, "replace", "", "checkout of Tidemark at `PATH` to build with")
	return c
}

//go:embed eject/strategy_test.go.tmpl
var ejectedTest string

// ejection is what the files of a module are made of.
type ejection struct {
	*project
	plan     *backtest.StrategyPlan
	code     *rules.Ejected
	config   *config.Backtest
	Interval string
	From, To string // of the backtest of the module's test
	Signals  []string
}

// eject writes the module.
func (a *app) eject(ctx context.Context, f *ejectFlags) error {
	switch {
	case f.config == "":
		return config.Usagef("no config; name the one with the rules: -c configs/rules.toml")
	case f.to == "":
		return config.Usagef("no folder for the module; name a new one: --to ../mybot")
	}
	c, err := a.load(&backtestFlags{config: f.config})
	if err != nil {
		return err
	}
	all, err := plan.NewBacktest(c, a.Definitions)
	if err != nil {
		return err
	}
	e := &ejection{config: c}
	if e.plan, err = chosenRules(all, f); err != nil {
		return err
	}
	if e.project, err = newProject(f.to, f.module, f.replace); err != nil {
		return err
	}
	if rules.Taken(e.Package) {
		e.Package = "my" + e.Package
	}
	e.Interval = e.plan.Interval.String()
	e.code, err = rules.Eject(rules.Ejection{Package: e.Package, Strategy: e.plan.Name, From: filepath.Base(f.config),
		Tidemark: version.Module, Interval: e.plan.Interval, Values: e.plan.Values})
	if err != nil {
		return config.Errorf("%s: strategy %s: %w", f.config, e.plan.Name, err)
	}
	files, err := e.files(ctx)
	if err != nil {
		return err
	}
	if err := writeNew(e.dir, files); err != nil {
		return err
	}
	return a.printNext(f.to, files, e.project, "  go run . backtest -c config.toml\n")
}

// chosenRules is the strategy that the flags name.
func chosenRules(p *plan.Backtest, f *ejectFlags) (*backtest.StrategyPlan, error) {
	var written []string
	var chosen *backtest.StrategyPlan
	for i := range p.Strategies {
		s := &p.Strategies[i]
		if s.Kind.Name == rules.Definition.Name {
			written = append(written, s.Name)
			if f.strategy == s.Name || f.strategy == "" {
				chosen = s
			}
		}
	}
	list := strings.Join(written, ", ")
	switch {
	case written == nil:
		return nil, config.Errorf("%s: no strategy stands in it as rules; bot init starts one in Go", f.config)
	case chosen == nil:
		return nil, config.Usagef("--strategy %s: %s has no rules of that name; it has %s", config.Clip(f.strategy),
			f.config, list)
	case f.strategy == "" && len(written) > 1:
		return nil, config.Usagef("%s has the rules of several strategies: add --strategy and one of %s", f.config,
			list)
	}
	return chosen, nil
}

// files are those of bot init, with the ejected strategy in place of its own.
func (e *ejection) files(ctx context.Context) ([]newFile, error) {
	all, err := e.project.files()
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(f newFile) bool {
		return strings.HasPrefix(f.path, e.Package+"/") || f.path == "sandbox.toml"
	})
	for i := range all {
		switch all[i].path {
		case "config.toml":
			if all[i].text, err = e.configText(); err != nil {
				return nil, err
			}
		case "main.go":
			all[i].text = e.mainText(all[i].text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.code.Files)) {
		all = append(all, newFile{e.Package + "/" + name, e.code.Files[name]})
	}
	test, err := e.test(ctx)
	return append(all, test...), err
}

// mainText lets the module's program have the other strategies of the config.
func (e *ejection) mainText(text []byte) []byte {
	if len(e.config.Strategies) == 1 {
		return text
	}
	text = bytes.Replace(text, []byte(`/bot"`), []byte("/bot\"\n\t\""+version.Module+`/strategy/shipped"`), 1)
	return bytes.Replace(text, []byte("bot.Main("+e.Package+".Definition)"),
		[]byte("bot.Main(append(shipped.Definitions(), "+e.Package+".Definition)...)"), 1)
}

// ends are those of the backtest of the module's test; the first one with so few fills that a
// person can read them is taken.
var ends = []string{"2024-01-01", "2022-01-01", "2021-05-01", "2021-03-01"}

const readableFills = 200

// test is the module's own test: what the rules did on the built-in market, and signals for it.
func (e *ejection) test(ctx context.Context) (files []newFile, err error) {
	needs, err := e.plan.Kind.Needs(e.plan.Values)
	if err != nil {
		return nil, err
	}
	e.Signals, e.From = needs.Signals, "2021-01-01"
	with := []Option{Interval(e.plan.Interval)}
	if len(e.Signals) > 0 {
		dir, err := os.MkdirTemp("", "")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		if err := os.WriteFile(filepath.Join(dir, signalsName), signalsOfTest(), 0o600); err != nil {
			return nil, err
		}
		for _, name := range e.Signals {
			with = append(with, Set("signals."+name+".file", filepath.Join(dir, signalsName)))
		}
		files = append(files, newFile{e.Package + "/testdata/" + signalsName, signalsOfTest()})
	}
	var result *backtest.Result
	for _, e.To = range ends {
		if len(e.plan.Interval.String()) == 2 && strings.HasSuffix(e.Interval, "m") && e.To > "2021-05-01" {
			continue // three years of minutes take long
		}
		result, err = Backtest(ctx, e.plan.Kind, e.plan.Values, append(with, Between(e.From, e.To))...)
		if err != nil {
			return nil, fmt.Errorf("the rules on the built-in market, for the module's test: %w", err)
		}
		if len(result.Fills) <= readableFills {
			break
		}
	}
	golden := strings.Replace(result.Transcript(), e.plan.Kind.Name, e.Package, 1)
	text, err := filledWith(ejectedTest, e)
	return append(files, newFile{e.Package + "/strategy_test.go", text},
		newFile{e.Package + "/testdata/rules.golden", []byte(golden)}), err
}

// configText is the config with the strategy in Go. Its text stays where that is possible.
func (e *ejection) configText() ([]byte, error) {
	source, name := e.config.Source.Text, e.plan.Name
	want, err := e.tree(source)
	if err != nil {
		return nil, err
	}
	text := e.rewritten(source)
	have := map[string]any{}
	if _, err := toml.Decode(text, &have); err != nil || !reflect.DeepEqual(have, want) {
		var out bytes.Buffer
		if err := toml.NewEncoder(&out).Encode(want); err != nil {
			return nil, err
		}
		text = out.String()
	}
	head := fmt.Sprintf("# %s of %s in Go; its code is %s/. Run with: go run . backtest -c config.toml\n\n", name,
		filepath.Base(e.config.Source.File), e.Package)
	return []byte(head + text), nil
}

// tree is the config as values: the strategy has another kind, and files are those of the config as
// the module's folder sees them.
func (e *ejection) tree(text string) (map[string]any, error) {
	tree := map[string]any{}
	if _, err := toml.Decode(text, &tree); err != nil {
		return nil, err
	}
	table := func(of map[string]any, name string) map[string]any {
		inner, _ := of[name].(map[string]any)
		return inner
	}
	own := table(table(tree, "strategies"), e.plan.Name)
	delete(own, "rules")
	params := map[string]any{}
	for _, p := range e.code.Params {
		params[p.Name] = numberOr(p.Text)
	}
	own["kind"], own["params"] = e.Package, params
	moved := func(of map[string]any, key string) {
		if path, is := of[key].(string); is && path != "" {
			of[key] = e.moved(path)
		}
	}
	moved(table(tree, "data"), "candles")
	for name := range table(tree, "signals") {
		moved(table(table(tree, "signals"), name), "file")
	}
	return tree, nil
}

// moved is a path as the module's folder sees it.
func (e *ejection) moved(path string) string {
	absolute, err := filepath.Abs(path)
	if err != nil || filepath.IsAbs(path) {
		return path
	}
	if path, err = filepath.Rel(e.dir, absolute); err != nil {
		return absolute
	}
	return filepath.ToSlash(path)
}

// numberOr is a value of a param: a number where it is one, else the text.
func numberOr(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		return x
	}
	return text
}

// rewritten is the text of the config with other lines for the strategy, if its tables are plain.
func (e *ejection) rewritten(text string) string {
	tableLine := regexp.MustCompile(`^\s*\[\s*([^\[\]]+?)\s*\]\s*(#.*)?$`)
	pathLine := regexp.MustCompile(`^(\s*(?:candles|file)\s*=\s*)"([^"\\]*)"`)
	ownLine := regexp.MustCompile(`^\s*(rules|params)\s*[.=]`)
	kindLine := regexp.MustCompile(`^(\s*kind\s*=\s*)("[^"]*"|'[^']*')`)
	text = regexp.MustCompile(`^(#.*\n)+\n`).ReplaceAllString(text, "") // it speaks of rules
	own := "strategies." + e.plan.Name
	at, gone := "", false
	var out []string
	add := func() { out = append(trimmed(out), e.paramLines(own)...) }
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if m := tableLine.FindStringSubmatch(line); m != nil {
			if at == own {
				add()
			}
			at = strings.NewReplacer(" ", "", `"`, "").Replace(m[1])
			gone = at == own+".params" || at == own+".rules" || strings.HasPrefix(at, own+".rules.")
		}
		switch {
		case gone, at == own && ownLine.MatchString(line):
			continue
		case at == own:
			line = kindLine.ReplaceAllString(line, `${1}"`+e.Package+`"`)
		case at == "data" || strings.HasPrefix(at, "signals."):
			if m := pathLine.FindStringSubmatch(line); m != nil && m[2] != "" {
				line = strings.Replace(line, strconv.Quote(m[2]), strconv.Quote(e.moved(m[2])), 1)
			}
		}
		out = append(out, line)
	}
	if at == own {
		add()
	}
	return strings.TrimRight(strings.Join(out, "\n"), "\n") + "\n"
}

// trimmed is lines without the empty ones at the end.
func trimmed(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// paramLines are the table of the parameters of a strategy.
func (e *ejection) paramLines(own string) []string {
	lines := []string{"", "[" + own + ".params]"}
	for _, p := range e.code.Params {
		value := p.Text
		if _, is := numberOr(value).(string); is {
			value = strconv.Quote(value)
		}
		lines = append(lines, p.Name+" = "+value)
	}
	return append(lines, "")
}

// signalsName is the file of made-up signals of the module's test.
const signalsName = "signals.csv"

// signalsOfTest are made-up signals: rows of all kinds, at odd times.
func signalsOfTest() []byte {
	text := "time,action,value,target,position\n"
	start := market.Time(1_609_459_200_000_000_000)
	for i := range 900 {
		at := start + market.Time(i)*(29*3600+7)*1_000_000_000
		action, position := []string{"buy", "", "sell", "", "exit"}[i%5], []string{"", "long", "", "flat", ""}[i%5]
		text += fmt.Sprintf("%s,%s,%.3f,%.2f,%s\n", at.Std().Format("2006-01-02T15:04:05Z"), action,
			float64(i*37%100)/100, float64(i*53%100)/100, position)
	}
	return []byte(text)
}
