package rules

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// params are the fields of Params.
func (x *ejecting) params() {
	names := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(x.own.Numbers)) {
		names[name] = true
	}
	add := func(field, kind, name, value, bounds, doc string) {
		x.Params = append(x.Params, fieldOf(field, kind, name, value, bounds, doc))
		x.settings = append(x.settings, strategy.Setting{Name: name, Text: value})
	}
	for _, name := range slices.Sorted(maps.Keys(x.own.Numbers)) {
		value := x.own.Numbers[name]
		kind, bounds := "float64", ""
		if x.Code.Lengths[name] {
			kind, bounds = "int", fmt.Sprintf(`min:"%d" max:"5000" `, min(1, int(value)))
		}
		add(x.Code.Params[name], kind, name, strconv.FormatFloat(value, 'f', -1, 64), bounds,
			"number of the rules: "+x.readers(name))
	}
	own := func(name string) string {
		for names[name] {
			name = "rule_" + name
		}
		return name
	}
	p := &x.compiled.Params
	rate := func(field, name, doc string, r market.Rate, most string) {
		if r != 0 {
			add(field, "market.Rate", own(name), r.String(), `min:"0.0001%" max:"`+most+`" `, doc)
		}
	}
	number := func(field, name, doc string, n int) {
		if n != 0 {
			add(field, "int", own(name), strconv.Itoa(n), `min:"0" max:"1000000" `, doc)
		}
	}
	add("Size", "strategy.Size", own("size"), p.Size.String(), "", "how much to buy")
	rate("StopRate", "stop", "how far the stop is below the entry", x.stop.rate, "99.9999%")
	rate("TargetRate", "target", "how far the target is above the entry", x.target.rate, "10000%")
	rate("TrailRate", "trail", "how far the stop follows below the highest close", x.trail.rate, "99.9999%")
	rate("BreakEven", "break_even", "gain after which the stop pays both fees", p.BreakEven, "10000%")
	number("ExitAfter", "exit_after", "candles after which to sell; 0: none", p.ExitAfter)
	number("Cooldown", "cooldown", "closes after the end of a position at which nothing is bought", p.Cooldown)
	number("Add", "add", "buys that are allowed while a position is held", p.Add)
}

func fieldOf(name, kind, toml, value, bounds, doc string) field {
	return field{name, kind, fmt.Sprintf(`toml:%q default:%q %sdoc:%q`, toml, value, bounds, doc)}
}

// readers are the rules that read a number.
func (x *ejecting) readers(name string) string {
	reads := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
	texts := x.ruleTexts()
	var all []string
	for _, key := range []string{"entry", "exit", "at", "stop", "target", "trail", "raise", "plot"} {
		if reads.MatchString(texts[key]) {
			all = append(all, key)
		}
	}
	for _, l := range x.own.Let {
		if reads.MatchString(l.Text) {
			all = append(all, l.Name)
		}
	}
	return strings.Join(all, ", ")
}
