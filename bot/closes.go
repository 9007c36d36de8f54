package bot

import (
	"fmt"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/market"
)

// firstBar is the start of the first candle of Closes and Bars. It is a Monday and the first day of
// a month, so that candles of every interval can start then.
func firstBar() market.Time {
	return market.Time(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
}

// Closes makes candles from closing prices, decimals between blanks: "100 101.5 99". The first
// candle starts on 2024-01-01, UTC. Each opens at the close before it and goes straight to its own,
// with a volume of 1. strings.Repeat("100 ", 20) makes a warm-up.
func Closes(name string, interval market.Interval, prices string) Option {
	return Option{func(q *quick) error {
		place := fmt.Sprintf("bot.Closes(%q, %s)", name, interval)
		list, digits, err := closes(interval, strings.Fields(prices))
		if err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
		return q.give(place, plan.Series{Market: name, Interval: interval, PriceDigits: digits, Candles: list})
	}}
}

// closes makes the candles. They have the digits of the most exact price.
func closes(interval market.Interval, texts []string) (list []market.Candle, digits uint8, err error) {
	digits = leastDigits
	for i, text := range texts {
		_, needs, err := market.ParseDecimal(text)
		if err != nil {
			return nil, 0, fmt.Errorf("price %d: %q is no decimal: %w", i+1, text, err)
		}
		digits = max(digits, needs)
	}
	at, before := firstBar(), market.Price(0)
	for i, text := range texts {
		units, err := market.ParseFixed(text, digits)
		if err == nil && units <= 0 {
			err = fmt.Errorf("a price is above 0")
		}
		if err != nil {
			return nil, 0, fmt.Errorf("price %d, %s: %w", i+1, text, err)
		}
		price := market.Price(units)
		if i == 0 {
			before = price
		}
		list = append(list, market.Candle{Start: at, Interval: interval, Open: before, High: max(before, price),
			Low: min(before, price), Close: price, Volume: 1})
		at, before = interval.End(at), price
	}
	return list, digits, nil
}

// Bars makes candles from lines of decimals between blanks: open, high, low, close, and a volume,
// 1 where it is missing. The first candle starts on 2024-01-01, UTC. Blank lines, and what follows
// a #, are left out.
func Bars(name string, interval market.Interval, lines string) Option {
	return Option{func(q *quick) error {
		place := fmt.Sprintf("bot.Bars(%q, %s)", name, interval)
		var csv strings.Builder
		at := firstBar()
		for i, line := range strings.Split(lines, "\n") {
			line, _, _ = strings.Cut(line, "#")
			cells := strings.Fields(line)
			switch len(cells) {
			case 4:
				cells = append(cells, "1")
			case 0:
				csv.WriteByte('\n') // so that an error counts the lines of the text
				continue
			case 5:
			default:
				return fmt.Errorf("%s: line %d has %d numbers; want open, high, low, close, and perhaps the volume",
					place, i+1, len(cells))
			}
			fmt.Fprintf(&csv, "%s,%s\n", at, strings.Join(cells, ","))
			at = interval.End(at)
		}
		return q.parse(place, name, interval, strings.NewReader(csv.String()))
	}}
}
