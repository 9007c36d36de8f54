package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// Decimal is an exact number of a config, in its shortest form; empty when the key was left out.
type Decimal string

// String is the number.
func (d Decimal) String() string { return string(d) }

// MarshalText writes the number alone, also of the rates that are made of one.
func (d Decimal) MarshalText() ([]byte, error) { return []byte(d), nil }

// flagText is a value from the command line. Its key gives it a type.
type flagText string

// read accepts a text, a whole number, or a float of at most 15 digits.
func (d *Decimal) read(raw any) error {
	text, err := numberText(raw)
	if err != nil {
		return err
	}
	mantissa, digits, err := market.ParseDecimal(text)
	if err != nil {
		return err
	}
	*d = Decimal(market.FormatFixed(mantissa, digits))
	return nil
}

func numberText(raw any) (string, error) {
	switch v := raw.(type) {
	case string:
		return v, nil
	case flagText:
		return string(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		return floatText(v)
	}
	return "", fmt.Errorf("%s is no number; write it in quotes, like \"0.25\"", quoted(raw))
}

// floatText formats a float as it was written: up to 15 digits a float is exact.
func floatText(v float64) (string, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "", fmt.Errorf("%v is not a finite number", v)
	}
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if len(strings.Trim(strings.Replace(text, ".", "", 1), "-0")) > 15 {
		return "", fmt.Errorf("%s has more digits than a number can hold exactly; write it in quotes", text)
	}
	return text, nil
}

// Fixed is the number in units of so many decimals; empty is 0. Negative numbers are refused.
func (d Decimal) Fixed(digits uint8) (int64, error) {
	if d == "" {
		return 0, nil
	}
	n, err := market.ParseFixed(string(d), digits)
	if err == nil && n < 0 {
		err = fmt.Errorf("%s is negative", d)
	}
	return n, err
}

// Digits is the number of decimals.
func (d Decimal) Digits() uint8 {
	_, digits, _ := market.ParseDecimal(string(d)) // read has checked it; empty needs none
	return digits
}

// Money is the number in units of an asset; empty is 0. The errors about too many decimals and too
// large a number carry a hint.
func (d Decimal) Money(asset *market.Asset) (market.Money, error) {
	n, err := d.Fixed(asset.Digits)
	if errors.Is(err, market.ErrInexact) {
		return 0, fmt.Errorf("%s has more decimals than the %d of %s; round it, or give the asset more in [assets.%s]",
			d, asset.Digits, asset.Symbol, asset.Symbol)
	}
	if errors.Is(err, market.ErrOverflow) {
		return 0, fmt.Errorf("%s with the %d decimals of %s is too large%s: %w", d, asset.Digits, asset.Symbol,
			d.fewer(asset), market.ErrOverflow)
	}
	return market.Money(n), err
}

// fewer names the most decimals with which the number fits; empty: none do.
func (d Decimal) fewer(asset *market.Asset) string {
	for digits := asset.Digits; digits > 0; {
		digits--
		if _, err := d.Fixed(digits); !errors.Is(err, market.ErrOverflow) {
			return fmt.Sprintf("; with at most %d it fits: assets.%s.decimals", digits, asset.Symbol)
		}
	}
	return ""
}

// WholeRate is 100 %.
const WholeRate = market.Rate(100_000_000)

// Rate is the number as a part of a whole, at most 1; empty is 0. digits is market.RateDigits, less
// if the number is written in a smaller unit than 1.
func (d Decimal) Rate(digits uint8) (market.Rate, error) {
	n, err := d.Fixed(digits)
	if err != nil {
		return 0, err
	}
	if market.Rate(n) > WholeRate {
		return 0, fmt.Errorf("%s is more than the whole", d)
	}
	return market.Rate(n), nil
}

// Part is a part of a whole in a config, in its shortest form: "0.25" or "25%" or "2500bps".
type Part struct{ Decimal }

// read accepts what Decimal accepts, and a text in percent or basis points.
func (p *Part) read(raw any) error { return p.readRate(raw, market.RateDigits) }

// readRate reads a number, or a text in percent or basis points, which it turns into a number of
// units with digits decimals.
func (d *Decimal) readRate(raw any, digits uint8) error {
	text, isText := textOf(raw)
	if !isText || !strings.ContainsAny(text, "%b") {
		return d.read(raw)
	}
	rate, err := market.ParseRate(text)
	if err != nil {
		return fmt.Errorf("%q is no rate; write it like \"0.25%%\" or \"0.0025\": %w", Clip(text), err)
	}
	*d = Decimal(market.FormatFixed(int64(rate), digits))
	return nil
}

// Points is a rate as a number of basis points, hundredths of a per cent.
type Points struct{ Decimal }

// PointsDigits are the decimals of a point, as Decimal.Rate takes them.
const PointsDigits = market.RateDigits - 4

// read accepts what Decimal accepts, and a text in percent or basis points.
func (p *Points) read(raw any) error { return p.readRate(raw, PointsDigits) }

// Fee is the part of a fill's value that the exchange takes; below zero: a rebate.
type Fee struct{ Part }

// highestFee is the largest rate that is taken without a unit. "0.25", meant in percent, would be a
// quarter of each fill.
const highestFee = market.Rate(2_000_000)

// read accepts what Part accepts. A rate above 2 % must have its unit.
func (f *Fee) read(raw any) error {
	if err := f.Part.read(raw); err != nil {
		return err
	}
	if text, isText := textOf(raw); isText && strings.ContainsAny(text, "%b") {
		return nil
	}
	rate, err := market.ParseRate(string(f.Decimal))
	if err == nil && rate > highestFee && rate <= WholeRate {
		return fmt.Errorf("%s would be %s of each fill; write \"%s%%\" if it is in percent, or \"%s\" if you mean "+
			"that much", f.Decimal, rate, f.Decimal, rate)
	}
	return nil
}

// FeeOf is a fee as a decimal number.
func FeeOf(number string) Fee { return Fee{Part{Decimal(number)}} }

// Moment is a time of a config; zero when the key was left out.
type Moment market.Time

// read accepts what ParseMoment accepts, and TOML's own dates.
func (m *Moment) read(raw any) error {
	at, err := momentOf(raw)
	if err == nil && at < 0 {
		err = fmt.Errorf("%s lies before 1970", at)
	}
	*m = Moment(at)
	return err
}

func momentOf(raw any) (market.Time, error) {
	switch v := raw.(type) {
	case int64:
		return ParseMoment(strconv.FormatInt(v, 10))
	case time.Time:
		return market.TimeOf(wallUTC(v))
	case string:
		return ParseMoment(v)
	case flagText:
		return ParseMoment(string(v))
	}
	return 0, fmt.Errorf("%s is no time; %s", quoted(raw), momentHint)
}

// wallUTC reads a TOML date without an offset, which the decoder takes for local, as UTC.
func wallUTC(t time.Time) time.Time {
	if t.Location() == time.UTC || !strings.HasSuffix(t.Location().String(), "-local") {
		return t
	}
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// momentHint shows the forms of a time.
const momentHint = "write 2021-01-01, 2021-01-01T12:00:00Z or Unix milliseconds"

// firstMillis is 2000-01-01: a smaller number was not meant as Unix milliseconds.
const firstMillis = 946_684_800_000

// ParseMoment reads 2006, 2006-01, 2006-01-02, 20060102, RFC 3339, or Unix milliseconds from the
// year 2000 on.
func ParseMoment(text string) (market.Time, error) {
	for _, layout := range [...]string{time.DateOnly, time.RFC3339Nano, "2006", "2006-01", "20060102"} {
		if t, err := time.Parse(layout, text); err == nil {
			return market.TimeOf(t)
		}
	}
	ms, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is no time; %s", Clip(text), momentHint)
	case ms < firstMillis && len(text) == 10 && ms > 0:
		return 0, fmt.Errorf("%s looks like Unix seconds; write milliseconds: %s000", text, text)
	case ms < firstMillis:
		return 0, fmt.Errorf("%s is neither a date nor Unix milliseconds since 2000; %s", text, momentHint)
	}
	return market.TimeOfMillis(ms)
}

// ParseRange reads the flags --from and --to; empty is no bound.
func ParseRange(from, to string) (begin, end market.Time, err error) {
	for _, bound := range [...]struct {
		flag, text string
		into       *market.Time
	}{{"--from", from, &begin}, {"--to", to, &end}} {
		if bound.text == "" {
			continue
		}
		if *bound.into, err = ParseMoment(bound.text); err != nil {
			return 0, 0, Usagef("%s: %w", bound.flag, err)
		}
	}
	if from != "" && to != "" && begin >= end {
		return 0, 0, Usagef("--from %s is not before --to %s; swap them, or leave one out", from, to)
	}
	return begin, end, nil
}

// Span is a length of time of a config.
type Span market.Duration

// read accepts a text like "90s", or whole days like "90d".
func (s *Span) read(raw any) error {
	text, ok := textOf(raw)
	if !ok {
		return fmt.Errorf("%s is no duration; write it like \"90s\"", quoted(raw))
	}
	d, err := time.ParseDuration(text)
	if days, inDays := strings.CutSuffix(text, "d"); inDays {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 16) // 179 years at most
		d = time.Duration(n) * 24 * time.Hour
	}
	if err != nil || d < 0 {
		return fmt.Errorf("%q is no duration; write it like \"90s\" or \"30d\"", Clip(text))
	}
	*s = Span(d)
	return nil
}

// Toggle is a setting that is on, off, or left to the program by a word.
type Toggle string

// read accepts true, false, or a text.
func (s *Toggle) read(raw any) error {
	if on, ok := raw.(bool); ok {
		raw = strconv.FormatBool(on)
	}
	text, ok := textOf(raw)
	if !ok {
		return fmt.Errorf("%s is neither true nor false nor a word in quotes", quoted(raw))
	}
	*s = Toggle(text)
	return nil
}

// textOf returns the text of a string or flagText.
func textOf(raw any) (string, bool) {
	switch v := raw.(type) {
	case string:
		return v, true
	case flagText:
		return string(v), true
	}
	return "", false
}

// Clip cuts a text for an error to 40 characters.
func Clip(text string) string {
	if runes := []rune(text); len(runes) > 40 {
		return string(runes[:40]) + "…"
	}
	return text
}

// LogLevels are the words of bot.log and exchange.log. Each level includes those before it.
var LogLevels = []string{"off", logError, "warn", "info", "debug"}
