package rules

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
	"github.com/tidemark-trading/tidemark/strategy/rules/lang"
)

// none is the number of a rule that is not written.
const none = -1

// compiled are rules that are ready to be used.
type compiled struct {
	Params
	program     *lang.Program
	entry, exit int // numbers of rules; none: not written

	at, stop, target, trail, raise level
	tag                            string
	position, account              bool // the rules read words of the position, or equity or cash
	exitPosition                   bool
	place                          *time.Location // of the clock; nil: UTC
	plots                          []plot
	signals                        []string // that the rules read
	on                             []string // sources whose signals are decided on; none: closes are
	own                            strategy.Own
}

// level is a price or a distance: a rate of the price, a rule, or nothing.
type level struct {
	rate market.Rate // 0: none
	rule int
}

// set reports whether the level is written.
func (l level) set() bool { return l.rate != 0 || l.rule != none }

// compile reads the rules. Its errors are *strategy.ValueError.
func compile(p Params, own strategy.Own, main market.Interval) (*compiled, error) {
	c := &compiled{Params: p, own: own, entry: none, exit: none, tag: cmp.Or(p.Tag, TagEntry)}
	var list []lang.Rule
	add := func(key, text string, want lang.Want) int {
		if strings.TrimSpace(text) == "" {
			return none
		}
		list = append(list, lang.Rule{Key: key, Text: text, Want: want})
		return len(list) - 1
	}
	c.entry, c.exit = add("entry", p.Entry, lang.Condition), add("exit", p.Exit, lang.Condition)
	c.at, c.raise = level{rule: add("at", p.At, lang.Price)}, level{rule: add("raise", p.Raise, lang.Price)}
	for _, l := range []struct {
		into      *level
		key, text string
		want      lang.Want
	}{{&c.stop, "stop", p.Stop, lang.Price}, {&c.target, "target", p.Target, lang.Price},
		{&c.trail, "trail", p.Trail, lang.Distance}} {
		rate, is, err := rateOf(l.text)
		if err != nil {
			return nil, mistake(l.key, "%w", err)
		}
		if *l.into = (level{rate, none}); !is {
			l.into.rule = add(l.key, l.text, l.want)
		}
	}
	for _, text := range plotted(p.Plot) {
		c.plots = append(c.plots, plot{text, len(list)})
		list = append(list, lang.Rule{Key: "plot", Text: text, Want: lang.Drawn})
	}
	if p.Zone != "" {
		place, err := time.LoadLocation(p.Zone)
		if err != nil || p.Zone == "Local" {
			return nil, mistake("zone", "%q is no zone, such as Europe/Amsterdam", p.Zone)
		}
		c.place = place
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	lets := make([]lang.Let, len(own.Let))
	for i, l := range own.Let {
		lets[i] = lang.Let{Name: l.Name, Text: l.Text}
	}
	var err error
	named := namesOf(p.Signals)
	c.on = namesOf(p.On)
	if c.program, err = lang.Compile(list, own.Numbers, lets, main, append(named, c.on...)...); err != nil {
		return nil, placed(err)
	}
	c.signals = c.program.Signals()
	for _, name := range named {
		if !slices.Contains(c.hears(), name) {
			return nil, mistake("signals", "no rule reads %s, as in %s.value", name, name)
		}
	}
	c.readsOf(own)
	return c, c.unread(own)
}

// hears are the sources whose signals are read or decided on.
func (c *compiled) hears() []string {
	all := c.signals
	for _, name := range c.on {
		if !slices.Contains(all, name) {
			all = append(slices.Clip(all), name)
		}
	}
	return all
}

// with returns the rules with a main interval.
func (c *compiled) with(main market.Interval) (*compiled, error) {
	if p := c.program.On(main); p != nil {
		same := *c
		same.program = p
		return &same, nil
	}
	return compile(c.Params, c.own, main)
}

// namesOf are the names of a text with commas.
func namesOf(text string) (names []string) {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// rateOf reads a rate with its unit, such as 4%; is: the text is one.
func rateOf(text string) (rate market.Rate, is bool, err error) {
	text = strings.TrimSpace(text)
	if n, err := strconv.Atoi(text); err == nil && 0 < n && n < 100 {
		return 0, true, fmt.Errorf("%q has no unit: write %s%% for a rate, or %s.0 for a price", text, text, text)
	}
	if !strings.HasSuffix(text, "%") && !strings.HasSuffix(text, "bps") {
		return 0, false, nil
	}
	rate, notOne := market.ParseRate(text)
	switch {
	case notOne != nil: // a rule, such as close < 2%
		return 0, false, nil
	case rate <= 0 || rate > 100*market.Whole:
		return 0, true, fmt.Errorf("%q: a rate is above 0%% and at most 10000%%", text)
	}
	return rate, true, nil
}

// check refuses rules that do not go together.
func (c *compiled) check() error {
	stops := c.stop.set() || c.trail.set() || c.raise.set()
	exits := stops || c.target.set()
	switch {
	case c.entry == none:
		return mistake("entry", "is missing; write a condition, such as 'rsi(14) < 30'")
	case c.stop.rate >= market.Whole:
		return mistake("stop", "%s below the price is no price", c.stop.rate)
	case c.trail.rate >= market.Whole:
		return mistake("trail", "%s below the price is no price", c.trail.rate)
	case strings.HasSuffix(c.Size.String(), " risk") && !stops:
		return mistake("size", "%s needs a stop, a trail or a raise: it is what the stop may lose", c.Size)
	case c.BreakEven != 0 && !exits:
		return mistake("break_even", "needs a stop, a target, a trail or a raise")
	case c.raise.set() && c.Add > 0:
		return mistake("raise", "moves one stop, and add lets several stand; use trail")
	case !exits && c.exit == none && c.ExitAfter == 0 && c.Add == 0:
		return mistake("exit", "is missing, and there is no stop, target, trail, raise or exit_after: what is bought "+
			"is never sold; write exit = 'false' if you mean that")
	}
	return nil
}

// mistake is an error in a rule.
func mistake(rule, format string, args ...any) error {
	return &strategy.ValueError{Name: strategy.RulePrefix + rule, Err: fmt.Errorf(format, args...)}
}

// placed is an error of package lang with the name of its value.
func placed(err error) error {
	var in *lang.Error
	if !errors.As(err, &in) {
		return err
	}
	name, text := strategy.RulePrefix+in.Key, strings.TrimPrefix(in.Error(), in.Key+": ")
	if param, is := strings.CutPrefix(in.Key, "params."); is {
		name = param
	}
	return &strategy.ValueError{Name: name, Err: errors.New(text)}
}

// positionWords and accountWords are the words that must be filled in at each close.
var (
	positionWords = []string{"in_position", "entry_price", "cost", "profit", "_since_entry", "_since_exit"}
	accountWords  = []string{"equity", "cash"}
)

// readsOf notes which words of position and account may be read.
func (c *compiled) readsOf(own strategy.Own) {
	texts := []string{c.Entry, c.Exit, c.At, c.Stop, c.Target, c.Trail, c.Raise, c.Plot}
	lets := ""
	for _, l := range own.Let {
		lets += l.Text + "\n"
	}
	has := func(text string, words []string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
	}
	all := strings.Join(texts, "\n") + lets
	c.position, c.account = has(all, positionWords), has(all, accountWords)
	for i := range c.program.Rules() {
		c.position = c.position || slices.Contains(c.program.Inputs(i), "position")
	}
	c.exitPosition = has(c.Exit+lets, positionWords)
}

// unread refuses a number or a text that no rule reads: a search over it would find nothing.
func (c *compiled) unread(own strategy.Own) error {
	names := c.program.Names()
	for _, l := range own.Let {
		if !slices.Contains(names, l.Name) {
			return mistake("let."+l.Name, "no rule reads it; write it into a rule, or leave it out")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(own.Numbers)) {
		if slices.Contains(names, name) {
			continue
		}
		if len(names) == 0 {
			return &strategy.ValueError{Name: name, Err: errors.New("no rule reads it")}
		}
		return &strategy.ValueError{Name: name, Err: fmt.Errorf("no rule reads it; the nearest name that one "+
			"reads is %q",
			strategy.Nearest(name, names))}
	}
	return nil
}
