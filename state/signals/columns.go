package signals

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
	"github.com/tidemark-trading/tidemark/strategy"
)

// columns are the places of what a row says; -1: there is none.
type columns struct {
	time, known, market, action, position, value, target, text int
	id, was, price                                             int // for a live bot

	marks []mark // columns of 0 and 1
	wide  []wide // columns of one market each
}

// mark is a column whose 1 is an action; 0: its 1 is a short.
type mark struct {
	column int
	action market.Action
}

// wide is a column with the values of a market.
type wide struct {
	column int
	on     string
}

// The names of columns, the one that counts first; of the actions, "signal" is text beside another.
var (
	timeNames = []string{"time", "timestamp", "date", "datetime", "unix", "ts", "date/time", "date_and_time",
		"open_time", ""}
	knownNames  = []string{"known_at", "known", "available_at", "published_at"}
	marketNames = []string{"market", "pair", "symbol", "ticker", "instrument"}
	actionNames = []string{"action", "type", "side", "direction", "signal"}
	stanceNames = []string{"position", "market_position", "stance"}
	valueNames  = []string{"value", "score", "probability", "prediction", "index"}
	targetNames = []string{"target", "target_weight", "weight"}
	textNames   = []string{"text", "comment", "note", "tag", "enter_tag", "value_classification", "message", "signal"}
	idNames     = []string{"id", "alert_id", "signal_id"}
	wasNames    = []string{"was", "prev_market_position", "previous_position"}
	priceNames  = []string{"price", "signal_price"}
	ignored     = []string{"open", "high", "low", "close", "volume", "number", "trade"}
	markNames   = map[string]market.Action{"enter_long": market.ActBuy, "exit_long": market.ActExit,
		"buy": market.ActBuy, "sell": market.ActSell, "enter_short": 0, "exit_short": 0}
)

// find finds the columns by the names in the header. A live bot knows the time itself.
func (c *columns) find(t *candles.Table, o *Options, live bool) error {
	place := func(names []string) int {
		for _, name := range names {
			if at := slices.Index(t.Header, name); at >= 0 {
				return at
			}
		}
		return -1
	}
	*c = columns{time: place(timeNames), known: place(knownNames), market: place(marketNames),
		action: place(actionNames), position: place(stanceNames), value: place(valueNames),
		target: place(targetNames), text: place(textNames), id: place(idNames), was: place(wasNames),
		price: place(priceNames)}
	if c.time < 0 && !live {
		return fmt.Errorf("line 1: the header %q names no time; name a column time", t.Header)
	}
	if c.text == c.action {
		c.text = -1
	}
	if o.Value != "" {
		names := make([]string, len(t.Header))
		for i := range names {
			names[i] = t.Name(i)
		}
		if c.value = slices.Index(names, o.Value); c.value < 0 {
			return fmt.Errorf("line 1: no column is named %q; there are %s", o.Value, strings.Join(names, ", "))
		}
	}
	for at, name := range t.Header {
		if action, is := markNames[name]; is {
			c.marks = append(c.marks, mark{at, action})
		}
	}
	if c.says() {
		return nil
	}
	return c.findValues(t, o)
}

// says reports whether some column says something.
func (c *columns) says() bool {
	return c.action >= 0 || c.position >= 0 || c.value >= 0 || c.target >= 0 || len(c.marks) > 0
}

// findValues finds the values in columns with names of their own: those of markets, or the only one
// that is left.
func (c *columns) findValues(t *candles.Table, o *Options) error {
	var others []int
	for at, name := range t.Header {
		used := slices.Contains([]int{c.time, c.known, c.market, c.text, c.id, c.was, c.price}, at) ||
			slices.Contains(ignored, name)
		if used || name == "" || slices.Contains(timeNames, name) {
			continue
		}
		if on, err := o.market(t.Name(at)); err == nil && c.market < 0 {
			c.wide = append(c.wide, wide{at, on})
			continue
		}
		others = append(others, at)
	}
	switch {
	case len(c.wide) > 0 && len(others) > 0:
		return fmt.Errorf("line 1: column %q is no market as the others are, which have the form BTC-EUR; name it "+
			"under markets, or leave it out", t.Name(others[0]))
	case len(c.wide) > 0:
		return nil
	case len(others) == 1:
		name := t.Name(others[0])
		if meant := slipOf(t.Header[others[0]]); meant != "" {
			return fmt.Errorf("line 1: %q is no name of a signal; the nearest is %q; if it is the value, say value = "+
				"%q", clip(name), meant, clip(name))
		}
		c.value = others[0]
		return nil
	}
	names := make([]string, len(others))
	for i, at := range others {
		names[i] = t.Name(at)
	}
	if len(names) == 0 {
		return errors.New("line 1: no column says anything; name one action, position, value or target")
	}
	return fmt.Errorf("line 1: which column is the value? say value = one of %s", strings.Join(names, ", "))
}

// slipOf is the name that a name of no signal may have meant, where that is not a value; empty:
// none.
func slipOf(name string) string {
	meant := strategy.Nearest(name, slices.Concat(actionNames, stanceNames, targetNames, valueNames, marketNames,
		textNames, knownNames, wasNames, priceNames))
	numbered := strings.ContainsAny(name, "0123456789") // a series, not a slip
	if numbered || 3*strategy.Distance(name, meant) > len(name) || slices.Contains(valueNames, meant) {
		return ""
	}
	return meant
}

// onlyKnown refuses a name that is none of a signal's. Otherwise a misspelt name would be ignored
// without a word.
func (c *columns) onlyKnown(t *candles.Table) error {
	names := slices.Concat(timeNames, knownNames, marketNames, actionNames, stanceNames, valueNames, targetNames,
		textNames, idNames, wasNames, priceNames, ignored, slices.Collect(maps.Keys(markNames)))
	for at, name := range t.Header {
		switch {
		case slices.Contains(t.Header[:at], name):
			return fmt.Errorf("%q stands there twice", clip(name))
		case name != "" && slices.Contains(names, name), at == c.value,
			slices.ContainsFunc(c.wide, func(w wide) bool { return w.column == at }):
			continue
		}
		own := []string{"id", "market", "time", "known_at", "action", "position", "was", "value", "target", "price",
			"text"}
		if meant := strategy.Nearest(name, own); 2*strategy.Distance(name, meant) <= len(name) {
			return fmt.Errorf("%q is no name of a signal; the nearest is %q", clip(t.Name(at)), meant)
		}
		return fmt.Errorf("%q is no name of a signal, which are %s; write what is for people as \"text\"",
			clip(t.Name(at)), strings.Join(own, ", "))
	}
	return nil
}

// content reads what a row says. Its errors begin with their column.
func (r *reader) content(fields [][]byte, row *Row) (says bool, err error) {
	c := &r.columns
	if c.action >= 0 {
		if err := r.action(string(fields[c.action]), row); err != nil {
			return false, r.at(c.action, err)
		}
	}
	for _, m := range c.marks {
		set, err := truth(fields[m.column])
		if err != nil {
			return false, r.at(m.column, err)
		}
		switch {
		case !set:
		case m.action == 0:
			r.file.Shorts++
		case row.Action == 0 || m.action != market.ActBuy: // an exit goes before an entry
			row.Action = m.action
		}
	}
	if c.position >= 0 {
		if err := r.stance(string(fields[c.position]), row); err != nil {
			return false, r.at(c.position, err)
		}
	}
	if c.value >= 0 {
		if row.HasValue, err = number(fields[c.value], r.table.Separator, &row.Value); err != nil {
			return false, r.at(c.value, err)
		}
	}
	if c.target >= 0 {
		row.HasTarget, err = number(fields[c.target], r.table.Separator, &row.Target)
		if err == nil && row.HasTarget && !(row.Target >= 0 && row.Target <= 1) {
			err = fmt.Errorf("%q is no part of the equity; write 0.25 or 25%%", fields[c.target])
		}
		if err != nil {
			return false, r.at(c.target, err)
		}
	}
	if c.text >= 0 && !candles.IsNull(fields[c.text]) {
		row.Text = plain(fields[c.text])
	}
	return row.Action != 0 || row.Stance != 0 || row.HasValue || row.HasTarget, nil
}

// action reads an action: a word, or a number by its sign.
func (r *reader) action(text string, row *Row) error {
	word := strings.NewReplacer("_", " ", "-", " ").Replace(strings.ToLower(text))
	switch word {
	case "buy", "long", "enter long", "entry long", "enter", "entry", "1", "1.0", "true":
		row.Action = market.ActBuy
	case "sell", " 1", " 1.0":
		row.Action = market.ActSell
	case "exit", "close", "exit long", "close long", "flat":
		row.Action = market.ActExit
	case "short", "enter short", "entry short", "sell short":
		row.Action = market.ActExit
		r.file.Shorts++
	case "exit short", "close short", "hold", "none", "0", "0.0", "false":
	default:
		if !candles.IsNull([]byte(text)) {
			return fmt.Errorf("%q is none of buy, sell, exit", clip(text))
		}
	}
	return nil
}

// stance reads a position: a word, or a number by its sign.
func (r *reader) stance(text string, row *Row) error {
	word := strings.ToLower(text)
	n, err := strconv.ParseFloat(word, 64)
	switch {
	case candles.IsNull([]byte(text)) && word != "none":
	case word == "long" || word == "true" || err == nil && n > 0:
		row.Stance = market.StanceLong
	case word == "flat" || word == "none" || word == "false" || err == nil && n == 0:
		row.Stance = market.StanceFlat
	case word == "short" || err == nil && n < 0:
		row.Stance = market.StanceFlat
		r.file.Shorts++
	default:
		return fmt.Errorf("%q is none of long, flat", clip(text))
	}
	return nil
}

// truth reads a cell of 0 and 1; no value is 0.
func truth(text []byte) (bool, error) {
	switch strings.ToLower(string(text)) {
	case "1", "1.0", "true":
		return true, nil
	case "0", "0.0", "false":
		return false, nil
	}
	if candles.IsNull(text) {
		return false, nil
	}
	return false, fmt.Errorf("%q is none of 0, 1, True, False", clip(string(text)))
}

// number reads a number, a percentage, True or False; found is false where the cell has no value.
func number(cell []byte, separator byte, into *float64) (found bool, err error) {
	text, per := strings.CutSuffix(strings.ToLower(string(cell)), "%")
	switch {
	case candles.IsNull(cell):
		return false, nil
	case text == "true", text == "false":
		if text == "true" {
			*into = 1
		}
		return true, nil
	case separator != ',' && strings.Count(text, ",") == 1 && !strings.Contains(text, "."):
		text = strings.Replace(text, ",", ".", 1)
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) || strings.ContainsAny(text, "xp_") {
		return false, fmt.Errorf("%q is no number", clip(string(cell)))
	}
	if per {
		n /= 100
	}
	*into = n
	return true, nil
}

// plain is a text as a cell of a CSV can hold it.
func plain(text []byte) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(text), "?")))
}

func clip(text string) string {
	if len(text) > 40 {
		return text[:40] + "…"
	}
	return text
}

// market is the name of a market as the exchange writes it: by Options.Markets, else BTC/USDT,
// BTC/USDT:USDT and EXCHANGE:BTC-EUR are read.
func (o *Options) market(text string) (string, error) {
	if on, is := o.Markets[text]; is {
		return on, nil
	}
	name := strings.ToUpper(text)
	if base, rest, is := strings.Cut(name, "/"); is {
		quote, _, _ := strings.Cut(rest, ":")
		name = base + "-" + quote
	} else if _, own, is := strings.Cut(name, ":"); is {
		name = own
	}
	if on, is := o.Markets[name]; is {
		return on, nil
	}
	if _, _, err := market.SplitName(name); err == nil {
		return name, nil
	}
	return "", fmt.Errorf("%q is no market; map it: markets = { %s = %q }", clip(text), clip(name), o.nearest(name))
}

// nearest is the market of the run whose name is most like a text.
func (o *Options) nearest(name string) string {
	for _, known := range o.Known {
		if strings.ReplaceAll(known, "-", "") == name {
			return known
		}
	}
	return cmp.Or(strategy.Nearest(name, o.Known), "BTC-EUR")
}
