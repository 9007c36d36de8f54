package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/rules/lang"
)

// has reports whether the rules read one of these words of the position.
func (x *ejecting) has(words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(x.Code.Moment, word) })
}

// Extremes reports whether the highest or lowest price since the entry is read.
func (x *ejecting) Extremes() bool { return x.has("highestSinceEntry", "lowestSinceEntry") }

// Paid reports whether the price of the entry is read.
func (x *ejecting) Paid() bool { return x.has("entryPrice") }

// Left reports whether the end of the last position is read.
func (x *ejecting) Left() bool { return x.Cooldown() || x.has("barsSinceExit") }

// Entered reports whether the begin of the position is kept.
func (x *ejecting) Entered() bool {
	return x.Left() || x.Extremes() || x.Paid() || x.ExitAfter() || x.Add() || x.Raise() || x.has("barsSinceEntry")
}

// Clock is the zone of a clock that the rules read, "" where it is UTC.
func (x *ejecting) Clock() string {
	if !x.has("hour", "minute", "weekday", "day", "month") {
		return ""
	}
	return x.compiled.Zone
}

// PlotMoment reports whether what is drawn reads the moment.
func (x *ejecting) PlotMoment() bool {
	return slices.ContainsFunc(x.Plots, func(m method) bool { return m.Moment })
}

// Fills reports whether fills are heard.
func (x *ejecting) Fills() bool { return x.Entered() }

// Forgets reports whether there is a state of the position.
func (x *ejecting) Forgets() bool { return x.Entered() }

// MayBuys reports whether a buy asks for more than no position.
func (x *ejecting) MayBuys() bool { return x.Forgets() || x.Add() }

// Whole is the condition that the longer candles are in.
func (x *ejecting) Whole() string {
	var all []string
	for _, interval := range x.Longer {
		all = append(all, fmt.Sprintf("x.end%s >= end || !market.Interval%s.Aligned(end)", interval, interval))
	}
	if len(all) > 1 {
		return "(" + strings.Join(all, ") && (") + ")"
	}
	return all[0]
}

// Adopts reports whether a position may need a begin.
func (x *ejecting) Adopts() bool { return x.ExitAfter() || x.Entered() && x.fills() }

// fills reports whether the rules read the position or the account.
func (x *ejecting) fills() bool { return x.position || x.account }

// Bars reports whether candles since the entry are counted.
func (x *ejecting) Bars() bool { return x.ExitAfter() || x.has("barsSinceEntry") }

// Interval reports whether the strategy keeps its interval.
func (x *ejecting) Interval() bool { return x.Bars() || x.Left() || len(x.Longer) > 0 || x.On() }

func (x *ejecting) Add() bool       { return x.compiled.Add != 0 }
func (x *ejecting) Cooldown() bool  { return x.compiled.Cooldown != 0 }
func (x *ejecting) ExitAfter() bool { return x.compiled.ExitAfter != 0 }
func (x *ejecting) At() bool        { return x.at.set() }
func (x *ejecting) Raise() bool     { return x.raise.set() }
func (x *ejecting) ExitHeld() bool  { return x.exitPosition }
func (x *ejecting) Moment() bool    { return len(x.Code.Moment)+len(x.Code.Signals) > 0 }

func (x *ejecting) EntryRule() *lang.Method  { return x.methods["entry"] }
func (x *ejecting) ExitRule() *lang.Method   { return x.methods["exit"] }
func (x *ejecting) AtRule() *lang.Method     { return x.methods["at"] }
func (x *ejecting) TargetRule() *lang.Method { return x.methods["target"] }
func (x *ejecting) TrailRule() *lang.Method  { return x.methods["trail"] }
func (x *ejecting) RaiseRule() *lang.Method  { return x.methods["raise"] }

// StopRule is the rule of the first stop.
func (x *ejecting) StopRule() *lang.Method {
	if x.stop.set() {
		return x.methods["stop"]
	}
	return x.methods["raise"]
}

func (x *ejecting) StopRate() string   { return ifSet(x.stop.rate, "StopRate") }
func (x *ejecting) TargetRate() string { return ifSet(x.target.rate, "TargetRate") }

func ifSet(rate market.Rate, name string) string {
	if rate == 0 {
		return ""
	}
	return name
}

// priceRules are the rules of the prices of a buy.
func (x *ejecting) priceRules() (all []*lang.Method) {
	for _, m := range []*lang.Method{x.AtRule(), x.StopRule(), x.TargetRule(), x.TrailRule()} {
		if m != nil {
			all = append(all, m)
		}
	}
	return all
}

func (x *ejecting) UsesTruth() bool { return len(x.priceRules()) > 0 }

func (x *ejecting) UsesRules() bool {
	return x.at.set() || x.stop.set() || x.target.set() || x.raise.set()
}

// EnterMoment reports whether a buy reads the moment.
func (x *ejecting) EnterMoment() bool {
	return x.EntryRule().WhyMoment || slices.ContainsFunc(x.priceRules(), func(m *lang.Method) bool { return m.Moment })
}

func (x *ejecting) DecideAsks() bool {
	return x.EntryRule().Asks || x.ExitRule() != nil && x.ExitRule().Asks
}

// Base is the price from which rates count.
func (x *ejecting) Base() string {
	if x.At() {
		return "price"
	}
	return "c.Close"
}

// Priceless is the condition that a price of a buy is not known.
func (x *ejecting) Priceless() string {
	var all []string
	for _, l := range []struct {
		rule *lang.Method
		name string
	}{{x.AtRule(), "!known"}, {x.StopRule(), "!stops"}, {x.TargetRule(), "!targets"}, {x.TrailRule(), "!trails"}} {
		if l.rule != nil {
			all = append(all, l.name)
		}
	}
	return strings.Join(all, " || ")
}

// Options are those of a buy.
func (x *ejecting) Options() string {
	now := ""
	if x.EntryRule().WhyMoment {
		now = "now"
	}
	all := []string{fmt.Sprintf("strategy.Tag(clipped(%q + x.whyEntry(%s)))", x.tag+": ", now)}
	add := func(is bool, option string) {
		if is {
			all = append(all, option)
		}
	}
	add(x.At(), "strategy.At(price)")
	add(x.StopRule() != nil || x.StopRate() != "", "strategy.StopAt(stop)")
	add(x.target.set(), "strategy.TargetAt(target)")
	add(x.trail.rate != 0, "strategy.Trail(s.TrailRate)")
	add(x.TrailRule() != nil, "strategy.TrailBy(trail)")
	add(x.compiled.BreakEven != 0, "strategy.BreakEvenAfter(s.BreakEven)")
	if len(all) > 2 {
		return "\n" + strings.Join(all, ",\n") + ",\n"
	}
	return strings.Join(all, ", ")
}

// Arguments are those of a call of a rule.
func (x *ejecting) Arguments(m *lang.Method) string {
	var all []string
	if m.Asks {
		all = append(all, "is")
	}
	if m.Moment {
		all = append(all, "now")
	}
	return "(" + strings.Join(all, ", ") + ")"
}

// Parameters are those of a method.
func (x *ejecting) Parameters(m method) string {
	return strings.NewReplacer("is", "is *truth", "now", "now moment").Replace(x.Arguments(m.Method))
}

// Compares reports whether lines need a truth.
func (x *ejecting) Compares(lines []string) bool {
	return strings.Contains(strings.Join(lines, "\n"), "is.")
}

// everything is the code of the figures.
func (x *ejecting) everything() string {
	var all []string
	for _, m := range slices.Concat(x.Rules, x.Plots, x.Lets) {
		all = append(all, m.Body)
	}
	for _, y := range x.Whys {
		all = append(all, y.Lines...)
	}
	for _, push := range x.Code.Pushes {
		all = append(all, push.Lines...)
	}
	return strings.Join(append(all, x.Code.Settle...), "\n")
}

func (x *ejecting) ReadsParams() bool { return strings.Contains(x.everything(), "f.p.") }

// Digits reports whether tags show figures with units.
func (x *ejecting) Digits() bool {
	all := x.everything()
	return strings.Contains(all, "f.inPrice(") || strings.Contains(all, "Digits")
}

// makes are the arguments of newFigures.
func (x *ejecting) makes(p, m, interval string) string {
	lines := strings.Join(x.Code.Make, "\n")
	var all []string
	if x.ReadsParams() || strings.Contains(lines, "p.") {
		all = append(all, p)
	}
	if x.Digits() || strings.Contains(lines, "m.") {
		all = append(all, m)
	}
	if regexp.MustCompile(`\binterval\b`).MatchString(lines) {
		all = append(all, interval)
	}
	return strings.Join(all, ", ")
}

func (x *ejecting) MakeParameters() string {
	return x.makes("p Params", "m market.Market", "interval market.Interval")
}
func (x *ejecting) MakeArguments() string { return x.makes("p", "m", "s.Interval") }
func (x *ejecting) NeedsArguments() string {
	return x.makes("p", "market.Market{}", "market.Interval1h")
}

// Warmup is that of the main interval.
func (x *ejecting) Warmup() string {
	if x.needs != nil {
		return strconv.Itoa(x.needs.Of(x.Ejection.Interval)[0].Warmup)
	}
	return x.Code.Needs[0].Warmup
}

// Intervals are the warm-ups of longer ones.
func (x *ejecting) Intervals() string {
	var all []string
	for _, n := range x.Code.Needs[1:] {
		if x.needs != nil {
			n.Warmup = strconv.Itoa(x.needs.Intervals[n.Interval])
		}
		all = append(all, "market.Interval"+n.Interval.String()+": "+n.Warmup)
	}
	return strings.Join(all, ", ")
}

// NeedsFigures reports whether the warm-up is that of indicators.
func (x *ejecting) NeedsFigures() bool { return strings.Contains(x.Warmup()+x.Intervals(), "f.") }

// Hears are the signals.
func (x *ejecting) Hears() string { return quotedNames(x.hears()) }

func quotedNames(names []string) string {
	var all []string
	for _, name := range names {
		all = append(all, strconv.Quote(name))
	}
	return strings.Join(all, ", ")
}

// Now is the call that fills the moment.
func (x *ejecting) Now() string {
	if x.On() {
		return "s.now(m, x, c, at)"
	}
	return "s.now(m, x, c)"
}

// On reports whether signals decide, and closes do not.
func (x *ejecting) On() bool { return x.on != nil }

// OnNames are the sources that decide.
func (x *ejecting) OnNames() string { return quotedNames(x.on) }

// Times are what the report counts.
func (x *ejecting) Times() string {
	if x.On() {
		return "signals"
	}
	return "closes"
}

// Over reports whether exit_after is asked with the other rules.
func (x *ejecting) Over() bool { return x.ExitAfter() && !x.On() }
