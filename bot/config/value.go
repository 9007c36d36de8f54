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
		return 0, fmt.Errorf("%s with the %d decimals of %s is too large: %w", d, asset.Digits, asset.Symbol, err)
	}
	return market.Money(n), err
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

// Moment is a time of a config; zero when the key was left out.
type Moment market.Time

// read accepts 2006-01-02, RFC 3339, Unix milliseconds, or TOML's own dates.
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
		return market.TimeOfMillis(v)
	case time.Time:
		return market.TimeOf(wallUTC(v))
	case string:
		return ParseMoment(v)
	case flagText:
		return ParseMoment(string(v))
	}
	return 0, fmt.Errorf("%s is no time; write 2021-01-01, 2021-01-01T12:00:00Z or Unix milliseconds", quoted(raw))
}

// wallUTC reads a TOML date without an offset, which the decoder takes for local, as UTC.
func wallUTC(t time.Time) time.Time {
	if t.Location() == time.UTC || !strings.HasSuffix(t.Location().String(), "-local") {
		return t
	}
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// ParseMoment reads 2006-01-02, RFC 3339 or Unix milliseconds.
func ParseMoment(text string) (market.Time, error) {
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil {
		return market.TimeOfMillis(ms)
	}
	for _, layout := range [...]string{time.DateOnly, time.RFC3339Nano} {
		if t, err := time.Parse(layout, text); err == nil {
			return market.TimeOf(t)
		}
	}
	return 0, fmt.Errorf("%q is no time; write 2021-01-01, 2021-01-01T12:00:00Z or Unix milliseconds", Clip(text))
}

// Span is a length of time of a config.
type Span market.Duration

// read accepts a text like "90s".
func (s *Span) read(raw any) error {
	text, ok := textOf(raw)
	if !ok {
		return fmt.Errorf("%s is no duration; write it like \"90s\"", quoted(raw))
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return fmt.Errorf("%q is no duration; write it like \"90s\"", Clip(text))
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
