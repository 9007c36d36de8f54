package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/strategy/rules/lang"
)

// momentWord is the code of a word of the moment.
type momentWord struct {
	held bool // it is known in a position alone
	code []string
}

// momentWords are the words of the position and the clock.
func momentWords() map[string]momentWord {
	return map[string]momentWord{
		"inPosition": {false, []string{"now.inPosition = m.Held() > 0"}},
		"entryPrice": {true, []string{"now.entryPrice = float64(m.Cost())", "if x.Bought > 0 {",
			"now.entryPrice = math.Trunc(x.Paid / x.Bought)", "}"}},
		"cost":              {true, []string{"now.cost = float64(m.Cost())"}},
		"highestSinceEntry": {true, []string{"now.highestSinceEntry = float64(x.High)"}},
		"lowestSinceEntry":  {true, []string{"now.lowestSinceEntry = float64(x.Low)"}},
		"profit": {true, []string{"now.profit = 0", "if cost := m.Cost(); cost > 0 {",
			"now.profit = 100 * float64(c.Close-cost) / float64(cost)", "}"}},
		"barsSinceEntry": {true, []string{"now.barsSinceEntry = float64(s.bars(x, c))"}},
		"barsSinceExit": {false, []string{"now.barsSinceExit = math.MaxFloat64 // before the first, more than any",
			"if x.Left != 0 {",
			"now.barsSinceExit = float64(s.interval.Index(c.Start) - s.interval.Index(x.Left) + 1)", "}"}},
		"equity": {false, []string{"now.equity = float64(m.Equity())"}},
		"cash":   {false, []string{"now.cash = float64(m.Cash())"}},
		"position": {false, []string{"of := m.Market()", "now.position = float64(m.Position().Amount) * " +
			"math.Pow10(int(of.VolumeDigits)-int(of.AmountDigits))"}},
		"hour":    {false, []string{"now.hour = float64(c.End().Std().Hour())"}},
		"minute":  {false, []string{"now.minute = float64(c.End().Std().Minute())"}},
		"weekday": {false, []string{"now.weekday = float64((c.End().Std().Weekday()+6)%7 + 1)"}},
		"day":     {false, []string{"now.day = float64(c.End().Std().Day())"}},
		"month":   {false, []string{"now.month = float64(c.End().Std().Month())"}},
	}
}

// signalCode is the condition and the value of a part of a signal.
func signalCode() map[string][2]string {
	return map[string][2]string{
		"value":    {"heard.HasValue", "heard.Value"},
		"target":   {"heard.HasTarget", "heard.Target"},
		"age":      {`heard.Source != ""`, "heard.Age(c.End()).Minutes()"},
		"action":   {"heard.Action != 0", "float64(heard.Action)"},
		"position": {"heard.Stance != 0", "float64(heard.Stance)"},
	}
}

// moment writes the struct that holds the position, the signals and the clock, and its method.
func (x *ejecting) moment() {
	var always, held, unknown []string
	for _, name := range x.Code.Moment {
		word, has := momentWords()[name]
		if !has {
			panic("rules: " + name + " has no form in Go yet: add it to momentWords in strategy/rules/ejectmoment.go")
		}
		kind := "float64"
		if name == "inPosition" {
			kind = "bool"
		}
		x.MomentFields = append(x.MomentFields, lang.Field{Name: name, Type: kind})
		if word.held {
			held, unknown = append(held, word.code...), append(unknown, name+": unknown()")
		} else {
			always = append(always, word.code...)
		}
	}
	signal := ""
	for _, h := range x.Code.Signals {
		x.MomentFields = append(x.MomentFields, lang.Field{Name: h.Field, Type: "float64",
			Doc: h.Signal + "." + h.Part})
		unknown = append(unknown, h.Field+": unknown()")
		if h.Signal != signal {
			sign := map[bool]string{true: ":=", false: "="}[signal == ""]
			always = append(always, fmt.Sprintf("heard, _ %s m.Signal(%q)", sign, h.Signal))
			signal = h.Signal
		}
		code := signalCode()[h.Part]
		always = append(always, "if "+code[0]+" {", "now."+h.Field+" = "+code[1], "}")
	}
	if x.Adopts() && x.fills() {
		held = append([]string{"x.adopt(m, c)"}, held...)
	}
	if held != nil {
		held = append(append([]string{"if m.Held() > 0 {"}, held...), "}")
	}
	lines := slices.Concat([]string{"", "// now is the moment of a decision.",
		"func (s *" + x.Package + ") now(m strategy.MarketDesk, x *trade, c market.Candle) moment {",
		"now := moment{" + strings.Join(unknown, ", ") + "}"}, always, held, []string{"return now", "}"})
	x.MomentCode = strings.Join(lines, "\n")
	if x.Clock() != "" {
		x.MomentCode = strings.ReplaceAll(x.MomentCode, "c.End().Std()", "c.End().Std().In(s.zone)")
	}
	if x.On() { // the clock is that of the signal
		x.MomentCode = strings.Replace(strings.ReplaceAll(x.MomentCode, "c.End()", "at"), "c market.Candle)",
			"c market.Candle, at market.Time)", 1)
	}
}
