package lang

import (
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// signalParts are what a rule reads of a signal: model.value.
var signalParts = []struct {
	name    string
	dim     dim
	meaning string
	example string
}{
	{"value", dim{kind: ratio}, "number of the latest signal of a source", "model.value > 0.6"},
	{"target", dim{kind: ratio}, "part of the equity that the position is to have, from 0 to 1", "model.target > 0"},
	{"age", dim{kind: count}, "minutes since it could be known", "model.age < 90"},
	{"action", dim{kind: label}, `"buy", "sell" or "exit"`, `model.action == "buy"`},
	{"position", dim{kind: label}, `"long" or "flat"`, `model.position == "long"`},
}

// isPart reports whether a name is that of a part of a signal.
func isPart(name string) bool {
	for _, part := range signalParts {
		if part.name == name {
			return true
		}
	}
	return false
}

// firstSignal is the number of the first input that is a part of a signal.
const firstSignal = 20

// maxSignals is the number of signals of which one program reads parts.
const maxSignals = 40

// signal checks NAME.part.
func (c *checker) signal(n *node, name string) *expr {
	at := slices.Index(c.program.signals, name)
	if at < 0 {
		if at = len(c.program.signals); at == maxSignals {
			fail(n.from, "more than %d signals", maxSignals)
		}
		c.program.signals = append(c.program.signals, name)
	}
	var names []string
	for i, part := range signalParts {
		if part.name == n.text {
			return &expr{op: opInput, num: float64(firstSignal + at*len(signalParts) + i), dim: part.dim, where: now}
		}
		names = append(names, part.name)
	}
	fail(n.from, "a signal has %s; the nearest to %q is %q", strings.Join(names, ", "), n.text,
		strategy.Nearest(n.text, names))
	return nil
}

// label checks a text beside a word of a signal: model.action == "buy".
func (c *checker) label(n *node, beside *expr) *expr {
	if beside.dim.kind != label {
		return c.expr(n)
	}
	var x float64
	var err error
	if isAction(beside) {
		var action market.Action
		action, err = market.ParseAction(n.text)
		x = float64(action)
	} else {
		var stance market.Stance
		stance, err = market.ParseStance(n.text)
		x = float64(stance)
	}
	if err != nil || x == 0 {
		fail(n.from, "%s is never %q", beside.text, n.text)
	}
	e := c.number(x)
	e.dim, e.text = beside.dim, c.source(n)
	return e
}

// isAction reports whether a word of a signal is an action, and no position.
func isAction(e *expr) bool {
	return signalParts[(int(e.num)-firstSignal)%len(signalParts)].name == "action"
}

// wordOf is the word of a signal that is read.
func wordOf(e *expr, v float64) string {
	if isAction(e) {
		return market.Action(v).String()
	}
	return market.Stance(v).String()
}

// part is a part of a signal that was heard.
func (in *Inputs) part(i int) float64 {
	s := &in.Signals[i/len(signalParts)]
	if s.Source == "" {
		return undefined()
	}
	x, has := 0.0, false
	switch i % len(signalParts) {
	case 0:
		x, has = s.Value, s.HasValue
	case 1:
		x, has = s.Target, s.HasTarget
	case 2:
		x, has = s.Age(in.Time).Minutes(), true
	case 3:
		x, has = float64(s.Action), s.Action != 0
	case 4:
		x, has = float64(s.Stance), s.Stance != 0
	}
	if !has {
		return undefined()
	}
	return x
}
