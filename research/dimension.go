package research

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// Setting is a key of the config with a value, as `--set KEY=VALUE` of `bot backtest` takes it.
type Setting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Dimension is one key of the config with the values that a search may give it.
type Dimension struct {
	Key    string
	Values []string // in the order of the space; no two are alike
}

// maxValues is the largest number of values of a dimension.
const maxValues = 1_000_000

// ParseDimension reads KEY=VALUES. VALUES are one of
//
//	5:100:5          from 5 to 100 in steps of 5; 100 is among them where a step meets it
//	0.001:0.1:x2     each twice the one before: 0.001, 0.002, 0.004 …
//	0.001:0.1:log12  12 values from 0.001 to 0.1, each as many times the one before
//	a,b,c            these; true,false is such a list
//
// Numbers may have a unit, the same in both ends: 0.05%:0.5%:0.05%, 1m:10m:1m. Steps are exact
// decimals. Values of x and log are rounded to 4 digits, and to whole numbers where both ends are
// whole; then values that are alike count once.
func ParseDimension(text string) (Dimension, error) {
	key, values, found := strings.Cut(text, "=")
	key, values = strings.TrimSpace(key), strings.TrimSpace(values)
	if !found || key == "" || values == "" {
		return Dimension{}, fmt.Errorf("%q is no key with values; want one like strategies.trend.params.fast=5:100:5",
			text)
	}
	d := Dimension{Key: key}
	var err error
	parts := strings.Split(values, ":")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	switch {
	case len(parts) == 3 && !strings.Contains(values, ","):
		d.Values, err = rangeOf(parts[0], parts[1], parts[2])
	case len(parts) == 2 && isQuantity(parts[0]) && isQuantity(parts[1]):
		err = fmt.Errorf("a range needs a step: FROM:TO:STEP, such as %s:1", values)
	default:
		d.Values, err = listOf(values)
	}
	if err != nil {
		return Dimension{}, fmt.Errorf("%s=%s: %w", key, values, err)
	}
	return d, nil
}

// listOf reads a,b,c.
func listOf(text string) ([]string, error) {
	list := strings.Split(text, ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
		switch {
		case list[i] == "":
			return nil, fmt.Errorf("value %d is empty", i+1)
		case slices.Contains(list[:i], list[i]):
			return nil, fmt.Errorf("%s is there twice", list[i])
		}
	}
	return list, nil
}

// quantity is a decimal with a unit.
type quantity struct {
	mantissa int64
	digits   uint8
	unit     string
}

func quantityOf(text string) (q quantity, err error) {
	at := strings.LastIndexAny(text, "0123456789") + 1
	if q.mantissa, q.digits, err = market.ParseDecimal(text[:at]); err != nil {
		return q, fmt.Errorf("%q is no number; a range is FROM:TO:STEP, such as 5:100:5", text)
	}
	q.unit = text[at:]
	return q, nil
}

// Numbers are the values as numbers of one unit; nil: some are none, or have another unit.
func (d *Dimension) Numbers() (list []float64, unit string) {
	for i, text := range d.Values {
		q, err := quantityOf(text)
		if err != nil || i > 0 && q.unit != unit {
			return nil, ""
		}
		list, unit = append(list, q.float()), q.unit
	}
	return list, unit
}

func isQuantity(text string) bool {
	_, err := quantityOf(text)
	return err == nil
}

// float is the number without its unit.
func (q quantity) float() float64 { return float64(q.mantissa) / math.Pow10(int(q.digits)) }

// in is the mantissa with so many decimals.
func (q quantity) in(digits uint8) (int64, error) {
	return market.Rescale(q.mantissa, q.digits, digits)
}

// rangeOf reads the three parts of a range.
func rangeOf(from, to, step string) ([]string, error) {
	a, err := quantityOf(from)
	if err != nil {
		return nil, err
	}
	b, err := quantityOf(to)
	if err != nil {
		return nil, err
	}
	if a.unit != b.unit {
		return nil, fmt.Errorf("%s and %s have different units; write the same one", from, to)
	}
	if a.float() > b.float() {
		return nil, fmt.Errorf("%s is above %s; write the lower end first", from, to)
	}
	if factor, is := strings.CutPrefix(step, "x"); is {
		return timesOf(a, b, factor)
	}
	if count, is := strings.CutPrefix(step, "log"); is {
		return logOf(a, b, count)
	}
	return stepsOf(a, b, step)
}

// stepsOf are the values a, a+step … up to b, exactly.
func stepsOf(a, b quantity, text string) (values []string, err error) {
	step, err := quantityOf(text)
	if err != nil {
		return nil, err
	}
	if step.unit != "" && step.unit != a.unit {
		return nil, fmt.Errorf("the step %s has another unit than the ends", text)
	}
	digits := max(a.digits, b.digits, step.digits)
	at, err := a.in(digits)
	if err != nil {
		return nil, err
	}
	end, err := b.in(digits)
	if err != nil {
		return nil, err
	}
	by, err := step.in(digits)
	if err != nil {
		return nil, err
	}
	if by <= 0 {
		return nil, fmt.Errorf("the step %s is not above 0", text)
	}
	if (end-at)/by >= maxValues {
		return nil, tooMany((end-at)/by + 1)
	}
	for ; at <= end; at += by {
		values = append(values, market.FormatFixed(at, digits)+a.unit)
	}
	return values, nil
}

func tooMany(n int64) error { return fmt.Errorf("%d values are more than %d", n, maxValues) }

// timesOf are the values a, a·factor, a·factor² … up to b.
func timesOf(a, b quantity, text string) (values []string, err error) {
	factor, err := strconv.ParseFloat(text, 64)
	if err != nil || !(factor > 1) || math.IsInf(factor, 0) {
		return nil, fmt.Errorf("x%s is no factor above 1; want one like x2", text)
	}
	if a.mantissa <= 0 {
		return nil, fmt.Errorf("x%s needs a lower end above 0", text)
	}
	if n := math.Log(b.float()/a.float()) / math.Log(factor); n >= maxValues {
		return nil, tooMany(int64(n))
	}
	for v, end := a.float(), b.float()*(1+1e-9); v <= end; v *= factor {
		values = append(values, rounded(v, a, b))
	}
	return slices.Compact(values), nil
}

// logOf are count values from a to b, each as many times the one before.
func logOf(a, b quantity, text string) (values []string, err error) {
	count, err := strconv.Atoi(text)
	if err != nil || count < 2 || count > maxValues {
		return nil, fmt.Errorf("log%s: want the number of values, from 2 to %d, like log12", text, maxValues)
	}
	if a.mantissa <= 0 {
		return nil, fmt.Errorf("log%s needs a lower end above 0", text)
	}
	for i := range count {
		share := float64(i) / float64(count-1)
		values = append(values, rounded(math.Exp(math.Log(a.float())*(1-share)+math.Log(b.float())*share), a, b))
	}
	return slices.Compact(values), nil
}

// rounded is a value between two ends as text, with their unit.
func rounded(v float64, a, b quantity) string {
	v = min(max(v, a.float()), b.float())
	if a.digits == 0 && b.digits == 0 {
		return strconv.FormatFloat(math.Round(v), 'f', -1, 64) + a.unit
	}
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64) // its own output
	return strconv.FormatFloat(v, 'f', -1, 64) + a.unit
}
