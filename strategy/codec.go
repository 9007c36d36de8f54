package strategy

import (
	"cmp"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tidemark-trading/tidemark/market"
)

// codec reads and writes parameters of one Go type.
type codec struct {
	name    string // for lists
	want    string // for errors, with its article
	read    func(raw any) (any, bool)
	text    func(value any) string
	compare func(a, b any) int      // nil: the type has no order
	inUnit  func(unit string) codec // for numbers without a unit, as the tag unit says; nil: the type has no units
}

// codecs holds the types that a parameter can have.
var codecs = map[reflect.Type]codec{
	reflect.TypeFor[int]():   codecOf("int", "a whole number", readInt, strconv.Itoa, cmp.Compare[int]),
	reflect.TypeFor[int64](): codecOf("int", "a whole number", readInt64, textOfInt64, cmp.Compare[int64]),
	reflect.TypeFor[float64](): codecOf("float", "a finite number", readFloat, textOfFloat,
		cmp.Compare[float64]),
	reflect.TypeFor[decimal.Decimal](): codecOf("decimal", "a decimal number such as 0.25", readDecimal,
		decimal.Decimal.String, decimal.Decimal.Cmp),
	reflect.TypeFor[bool]():   codecOf("bool", "true or false", readBool, strconv.FormatBool, nil),
	reflect.TypeFor[string](): codecOf("text", "a text", readText, strings.Clone, nil),
	reflect.TypeFor[market.Interval](): codecOf("interval", "an interval (1m 5m 15m 30m 1h 2h 4h 6h 8h 12h 1d 1W 1M)",
		readInterval, market.Interval.String, cmp.Compare[market.Interval]),
	reflect.TypeFor[time.Duration](): codecOf("duration", `a duration such as "90m"`, readDuration,
		time.Duration.String, cmp.Compare[time.Duration]),
	reflect.TypeFor[market.Rate](): unitCodec(codecOf("rate", `a rate such as "5%", "10bps" or 0.05`, readRate,
		market.Rate.String, cmp.Compare[market.Rate]), ""),
	reflect.TypeFor[Size](): unitCodec(codecOf("size",
		`a size such as "20% equity", "95% cash", "1% risk", "0.01 base" `+
			`or "25 quote"`, readSize, Size.String, nil), " "),
	reflect.TypeFor[Price](): codecOf("price", "a price such as 20000", readPrice, Price.String, comparePrices),
}

// unitCodec gives a codec units, which stand behind their number after a gap.
func unitCodec(c codec, gap string) codec {
	plain := c
	c.inUnit = func(unit string) codec {
		own := plain
		own.read = func(raw any) (any, bool) {
			if text, is := decimalText(raw); is {
				if _, _, err := market.ParseDecimal(text); err == nil {
					raw = text + gap + unit
				}
			}
			return plain.read(raw)
		}
		own.text = func(value any) string {
			if rate, is := value.(market.Rate); is && unit == "bps" {
				return market.FormatFixed(int64(rate), market.RateDigits-4)
			}
			return strings.TrimSuffix(plain.text(value), gap+unit)
		}
		return own
	}
	return c
}

func codecOf[T any](name, want string, read func(any) (T, bool), text func(T) string, compare func(a, b T) int) codec {
	c := codec{name: name, want: want}
	c.read = func(raw any) (any, bool) { return read(raw) }
	c.text = func(value any) string { return text(value.(T)) }
	if compare != nil {
		c.compare = func(a, b any) int { return compare(a.(T), b.(T)) }
	}
	return c
}

func readInt(raw any) (int, bool) {
	n, ok := readInt64(raw)
	return int(n), ok && int64(int(n)) == n
}

func readInt64(raw any) (int64, bool) {
	switch raw := raw.(type) {
	case int:
		return int64(raw), true
	case int64:
		return raw, true
	case string:
		n, err := strconv.ParseInt(raw, 10, 64)
		return n, err == nil
	}
	return 0, false
}

func textOfInt64(n int64) string { return strconv.FormatInt(n, 10) }

func readFloat(raw any) (float64, bool) {
	switch raw := raw.(type) {
	case float64:
		return raw, finite(raw)
	case string:
		f, err := strconv.ParseFloat(raw, 64)
		return f, err == nil && finite(f)
	}
	n, ok := readInt64(raw)
	const exact = 1 << 53
	return float64(n), ok && -exact <= n && n <= exact
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

func textOfFloat(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// readDecimal uses market.ParseDecimal, which bounds the digits: an exponent of a billion would
// fill the memory.
func readDecimal(raw any) (decimal.Decimal, bool) {
	text, ok := decimalText(raw)
	if !ok {
		return decimal.Decimal{}, false
	}
	mantissa, digits, err := market.ParseDecimal(text)
	return decimal.New(mantissa, -int32(digits)), err == nil
}

func readBool(raw any) (value, ok bool) {
	if text, isText := raw.(string); isText {
		return text == "true", text == "true" || text == "false"
	}
	value, ok = raw.(bool)
	return value, ok
}

func readText(raw any) (string, bool) {
	text, ok := raw.(string)
	return text, ok
}

func readInterval(raw any) (market.Interval, bool) {
	text, _ := raw.(string)
	interval, err := market.ParseInterval(text)
	return interval, err == nil
}

func readDuration(raw any) (time.Duration, bool) {
	text, _ := raw.(string)
	d, err := time.ParseDuration(text)
	return d, err == nil
}

// decimalText is the text of a value that is a decimal number. A float64 becomes the shortest
// decimal that names it, as it stood in the file.
func decimalText(raw any) (string, bool) {
	switch value := raw.(type) {
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64), true
	case int, int64:
		n, ok := readInt64(raw)
		return textOfInt64(n), ok
	case string:
		return value, true
	}
	return "", false
}

func readRate(raw any) (market.Rate, bool) {
	text, ok := decimalText(raw)
	if !ok {
		return 0, false
	}
	rate, err := market.ParseRate(text)
	return rate, err == nil
}

func readSize(raw any) (Size, bool) {
	text, ok := raw.(string)
	if !ok {
		return Size{}, false
	}
	size, err := ParseSize(text)
	return size, err == nil
}

func readPrice(raw any) (Price, bool) {
	text, ok := decimalText(raw)
	if !ok {
		return Price{}, false
	}
	price, err := ParsePrice(text)
	return price, err == nil
}
