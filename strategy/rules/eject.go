package rules

import (
	"bytes"
	"embed"
	"fmt"
	"go/format"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/rules/lang"
)

//go:embed template
var templates embed.FS

// Ejection is what Eject writes.
type Ejection struct {
	Package  string // of the Go code, and name of its kind of strategy
	Strategy string // as the config has it
	From     string // the config
	Tidemark string // module of this program
	Interval market.Interval
	Values   map[string]any // as strategy.Definition takes them
}

// Ejected is a package of Go code that trades as rules did.
type Ejected struct {
	Files  map[string][]byte  // by name
	Params []strategy.Setting // the values of its parameters that are those of the rules
}

// Taken reports whether a package of Go code cannot have a name, because the code says something
// else by it.
func Taken(name string) bool {
	text, err := templates.ReadFile("template/known.go.tmpl")
	if err != nil {
		panic(err)
	}
	names := strings.Fields("trade counts figures moment needs bits errors fmt indicator math slices strconv strings " +
		"time newFigures zone zz")
	for _, found := range declared().FindAllStringSubmatch(string(text), -1) {
		names = append(names, found[2])
	}
	return slices.Contains(names, name)
}

// Eject writes rules as a package of Go code. It trades the same to the last unit, for the same
// reasons in the same words. Its parameters are the numbers of the rules, and its sizes and rates.
func Eject(e Ejection) (*Ejected, error) {
	for _, key := range slices.Sorted(maps.Keys(e.Values)) {
		name, of := strings.CutPrefix(key, "rules.")
		if of && !strings.HasPrefix(name, "let.") && !slices.Contains(strings.Fields(writtenKeys), name) {
			return nil, mistake(name, "it is not written in Go yet: take it out of the rules, eject them, and add it "+
				"in Go")
		}
	}
	x := &ejecting{Ejection: e}
	catch := strategy.DefineWritten(Definition.Name, Definition.Doc, example, words,
		func(p Params, own strategy.Own) (*compiled, error) {
			c, err := compile(p, own, e.Interval)
			x.compiled = c
			return c, err
		}, needs, build)
	if _, err := catch.Needs(e.Values); err != nil {
		return nil, err
	}
	n, err := Definition.Needs(e.Values)
	if err != nil {
		return nil, err
	}
	if _, named := n.Intervals[e.Interval]; named {
		x.needs = &n
	}
	if err := x.read(); err != nil {
		return nil, err
	}
	return x.written()
}

// writtenKeys are the keys of rules that Eject writes in Go.
const writtenKeys = "entry exit size at stop target trail raise break_even exit_after cooldown add on signals zone " +
	"plot tag"

// ejecting has what the templates read.
type ejecting struct {
	Ejection
	*compiled
	Code *lang.Code

	Params       []field // of the struct
	settings     []strategy.Setting
	needs        *strategy.Needs         // where the rules name the main interval, which counts by itself then
	methods      map[string]*lang.Method // by key of the rule
	Rules, Lets  []method
	Plots        []method
	Whys         []whyMethod
	Longer       []string
	MomentFields []lang.Field
	MomentCode   string
}

type field struct{ Field, Type, Tags string }

type method struct {
	*lang.Method
	Doc  string
	Text string // of what is drawn
}

type whyMethod struct {
	Name, Of string
	Moment   bool
	Lines    []string
}

// ruleTexts are the rules by key.
func (x *ejecting) ruleTexts() map[string]string {
	p := &x.compiled.Params
	return map[string]string{"entry": p.Entry, "exit": p.Exit, "at": p.At, "stop": p.Stop, "target": p.Target,
		"trail": p.Trail, "raise": p.Raise, "plot": p.Plot}
}

// read makes the code of the rules, and the names that the templates use.
func (x *ejecting) read() error {
	texts := x.ruleTexts()
	code, err := x.program.Go(append(slices.Collect(maps.Keys(texts)), strings.Fields(takenNames)...)...)
	if err != nil {
		return placed(err)
	}
	x.Code, x.methods = code, map[string]*lang.Method{}
	for i := range code.Rules {
		m := &code.Rules[i]
		m.Body = wrapped(m.Body)
		if at := slices.IndexFunc(x.plots, func(p plot) bool { return p.rule == i }); at >= 0 {
			x.Plots = append(x.Plots, method{m, ": " + comment(x.plots[at].name), x.plots[at].name})
			continue
		}
		x.methods[m.Name] = m
		x.Rules = append(x.Rules, method{m, ": " + comment(texts[m.Name]), ""})
	}
	for i := range code.Lets {
		m := &code.Lets[i]
		m.Body = wrapped(m.Body)
		of := slices.IndexFunc(x.own.Let, func(l strategy.Setting) bool { return l.Name == m.Doc })
		x.Lets = append(x.Lets, method{m, comment(x.own.Let[of].Text), ""})
	}
	for _, key := range []string{"entry", "exit"} {
		if m := x.methods[key]; m != nil {
			x.Whys = append(x.Whys, whyMethod{"why" + strings.ToUpper(key[:1]) + key[1:], key, m.WhyMoment, m.Why})
		}
	}
	for _, push := range code.Pushes[1:] {
		x.Longer = append(x.Longer, push.Interval.String())
	}
	x.params()
	x.moment()
	return nil
}

// takenNames are those of the struct around the figures, and of package functions.
const takenNames = "count counts recall live waits decided whyEntry whyExit priceDigits volumeDigits inPrice named " +
	"plain clipped trade needs adopt extend remember resting forget step draw"

// comment is a rule in comment lines.
func comment(text string) string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		for len(line) > longestLine {
			at := strings.LastIndexByte(line[:longestLine], ' ')
			if at <= 0 {
				break
			}
			lines, line = append(lines, line[:at]), line[at+1:]
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n// ")
}

// longestLine is the length from which a rule fills several lines.
const longestLine = 88

// wrapped is a condition with a line for each part, where it is long.
func wrapped(body string) string {
	if len(body) < longestLine || strings.Contains(body, "\n") {
		return body
	}
	depth := 0
	var out strings.Builder
	for i := 0; i < len(body); i++ {
		switch {
		case body[i] == '(':
			depth++
		case body[i] == ')':
			depth--
		case depth == 0 && (strings.HasPrefix(body[i:], "&& ") || strings.HasPrefix(body[i:], "|| ")):
			out.WriteString(body[i:i+2] + "\n")
			i += 2
			continue
		}
		out.WriteByte(body[i])
	}
	return out.String()
}

// written fills the templates.
func (x *ejecting) written() (*Ejected, error) {
	out := &Ejected{Files: map[string][]byte{}, Params: x.settings}
	all := ""
	names := []string{"strategy.go", "trade.go", "figures.go", "report.go"}
	if x.On() {
		names = append(names, "signal.go")
	}
	for _, name := range names {
		text, err := x.filled(name)
		if err != nil {
			return nil, err
		}
		all += code(text)
		out.Files[name] = []byte(text)
	}
	known, err := x.filled("known.go")
	if err != nil {
		return nil, err
	}
	out.Files["known.go"] = []byte(usedOf(known, all))
	for name, text := range out.Files {
		with := strings.Replace(string(text), "IMPORTS\n", x.imports(string(text)), 1)
		if out.Files[name], err = format.Source([]byte(with)); err != nil {
			return nil, fmt.Errorf("rules: the code of %s is no Go: %w\n%s", name, err, with)
		}
	}
	return out, nil
}

func (x *ejecting) filled(name string) (string, error) {
	text, err := templates.ReadFile("template/" + name + ".tmpl")
	if err != nil {
		return "", err
	}
	t, err := template.New(name).Parse(string(text))
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = t.Execute(&out, x)
	return out.String(), err
}

// declared finds the name of a declaration, behind its receiver.
func declared() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:func (?:\(\w+ \*?(\w+)(?:\[[^]]*\])?\) )?|type )(\w+)`)
}

// usedOf keeps the declarations that other code uses, or that these use.
func usedOf(text, by string) string {
	parts := strings.Split(text, "\n\n")
	keeps := map[int]bool{0: true, 1: true} // package and imports
	for more := true; more; {
		more = false
		for i := range parts {
			if keeps[i] {
				continue
			}
			names := declared().FindStringSubmatch(parts[i])
			word := `\b` + names[2] + `\b`
			if names[1] != "" {
				word = `\.` + names[2] + `\b`
				if exported := names[2][0] <= 'Z'; exported { // a method of an interface
					word = `\b` + names[1] + `\b`
				}
			}
			if regexp.MustCompile(word).MatchString(by) && (names[1] == "" || names[1] == "figures" ||
				regexp.MustCompile(`\b`+names[1]+`\b`).MatchString(by)) {
				keeps[i], more = true, true
				by += "\n" + code(parts[i])
			}
		}
	}
	var kept []string
	for i, part := range parts {
		if keeps[i] {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "\n\n")
}

// code is a text without its comments and literals.
func code(text string) string {
	text = regexp.MustCompile(`(?m)(^|\s)//.*$`).ReplaceAllString(text, "$1")
	return regexp.MustCompile("(?s)`[^`]*`|\"(?:[^\"\\\\\n]|\\\\.)*\"").ReplaceAllString(text, `""`)
}

// imports are the packages that a file uses.
func (x *ejecting) imports(text string) string {
	text = code(text)
	var standard, own []string
	for _, path := range []string{"errors", "fmt", "math", "math/bits", "slices", "strconv", "strings", "time",
		"market", "strategy", "strategy/indicator"} {
		name := path[strings.LastIndex(path, "/")+1:]
		if !regexp.MustCompile(`(^|[^.\w])` + name + `\.\w`).MatchString(text) {
			continue
		}
		if strings.HasPrefix(path, "market") || strings.HasPrefix(path, "strategy") {
			own = append(own, strconv.Quote(x.Tidemark+"/"+path))
		} else {
			standard = append(standard, strconv.Quote(path))
		}
	}
	list := strings.Join(standard, "\n")
	if standard != nil && own != nil {
		list += "\n\n"
	}
	if list += strings.Join(own, "\n"); list == "" {
		return ""
	}
	return "import (\n" + list + "\n)\n"
}
