package bot

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// decimal is an exact number of a config, in its shortest form; empty when the key was left out.
type decimal string

// flagText is a value from the command line, which has no type until the key is known.
type flagText string

// read takes a text, a whole number, or a number of few enough digits to be what was written.
func (d *decimal) read(raw any) error {
	text, err := numberText(raw)
	if err != nil {
		return err
	}
	mantissa, digits, err := market.ParseDecimal(text)
	if err != nil {
		return err
	}
	*d = decimal(market.FormatFixed(mantissa, digits))
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

// floatText gives a float back as it was written, which is certain up to fifteen digits.
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

// fixed is the number in units of so many decimals; empty is 0. Negative numbers are refused.
func (d decimal) fixed(digits uint8) (int64, error) {
	if d == "" {
		return 0, nil
	}
	n, err := market.ParseFixed(string(d), digits)
	if err == nil && n < 0 {
		err = fmt.Errorf("%s is negative", d)
	}
	return n, err
}

// digits is how many decimals the number needs.
func (d decimal) digits() uint8 {
	_, digits, _ := market.ParseDecimal(string(d)) // read has checked it; empty needs none
	return digits
}

// money is the number in units of an asset; empty is 0. The errors of too many decimals and of too large a number say what helps.
func (d decimal) money(asset *market.Asset) (market.Money, error) {
	n, err := d.fixed(asset.Digits)
	if errors.Is(err, market.ErrInexact) {
		return 0, fmt.Errorf("%s has more decimals than the %d of %s; round it, or give the asset more in [assets.%s]", d, asset.Digits, asset.Symbol, asset.Symbol)
	}
	if errors.Is(err, market.ErrOverflow) {
		return 0, fmt.Errorf("%s with the %d decimals of %s is too large: %w", d, asset.Digits, asset.Symbol, err)
	}
	return market.Money(n), err
}

// wholeRate is 100 %.
const wholeRate = market.Rate(100_000_000)

// rate is the number as a part of something, at most all of it; empty is 0. digits are those of a Rate, less where the number
// is written in a smaller unit than 1.
func (d decimal) rate(digits uint8) (market.Rate, error) {
	n, err := d.fixed(digits)
	if err != nil {
		return 0, err
	}
	if market.Rate(n) > wholeRate {
		return 0, fmt.Errorf("%s is more than the whole", d)
	}
	return market.Rate(n), nil
}

// moment is a time of a config; zero when the key was left out.
type moment market.Time

// read takes 2006-01-02, RFC 3339, Unix milliseconds, or TOML's own dates.
func (m *moment) read(raw any) error {
	at, err := momentOf(raw)
	if err == nil && at < 0 {
		err = fmt.Errorf("%s lies before 1970", at)
	}
	*m = moment(at)
	return err
}

func momentOf(raw any) (market.Time, error) {
	switch v := raw.(type) {
	case int64:
		return market.TimeOfMillis(v)
	case time.Time:
		return market.TimeOf(wallUTC(v))
	case string:
		return parseMoment(v)
	case flagText:
		return parseMoment(string(v))
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

func parseMoment(text string) (market.Time, error) {
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil {
		return market.TimeOfMillis(ms)
	}
	for _, layout := range [...]string{time.DateOnly, time.RFC3339Nano} {
		if t, err := time.Parse(layout, text); err == nil {
			return market.TimeOf(t)
		}
	}
	return 0, fmt.Errorf("%q is no time; write 2021-01-01, 2021-01-01T12:00:00Z or Unix milliseconds", clip(text))
}

// span is a length of time of a config.
type span market.Duration

// read takes a text like "90s".
func (s *span) read(raw any) error {
	text, ok := textOf(raw)
	if !ok {
		return fmt.Errorf("%s is no duration; write it like \"90s\"", quoted(raw))
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return fmt.Errorf("%q is no duration; write it like \"90s\"", clip(text))
	}
	*s = span(d)
	return nil
}

// toggle is a setting that is on, off, or left to the program by a word.
type toggle string

// read takes true, false, or a text.
func (s *toggle) read(raw any) error {
	if on, ok := raw.(bool); ok {
		raw = strconv.FormatBool(on)
	}
	text, ok := textOf(raw)
	if !ok {
		return fmt.Errorf("%s is neither true nor false nor a word in quotes", quoted(raw))
	}
	*s = toggle(text)
	return nil
}

// textOf is the text of a value that is one.
func textOf(raw any) (string, bool) {
	switch v := raw.(type) {
	case string:
		return v, true
	case flagText:
		return string(v), true
	}
	return "", false
}

// clip keeps what is quoted in an error at a bearable length.
func clip(text string) string {
	if runes := []rune(text); len(runes) > 40 {
		return string(runes[:40]) + "…"
	}
	return text
}

// logLevels are the words of [exchange] log. Each logs what stands before it, too.
var logLevels = []string{"off", logError, "warn", "info", "debug"}
