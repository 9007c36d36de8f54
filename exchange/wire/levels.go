package wire

import "github.com/tidemark-trading/tidemark/market"

// Levels appends one side of a book, [["price","size"],…], in the units of m; more columns are
// skipped, and null is an empty side. An error names the field.
func (s *Scanner) Levels(field string, m *market.Market, dst []market.Level) []market.Level {
	if s.err == nil && s.Peek() == 'n' {
		s.literal("null")
		return dst
	}
	for s.Array(); s.Element(); {
		if next := fastLevels(s.data, s.at, m, &dst); next > s.at {
			s.at = next
			continue
		}
		var level market.Level
		s.Array()
		level.Price = market.Price(s.column(field, m.PriceDigits))
		level.Amount = market.Qty(s.column(field, m.AmountDigits))
		s.Leave()
		if s.err == nil {
			dst = append(dst, level)
		}
	}
	return dst
}

// column reads the next column of a row; a missing one is an error.
func (s *Scanner) column(field string, digits uint8) int64 {
	if !s.Element() {
		s.malformed()
	}
	return s.Fixed(field, digits)
}

// fastLevels reads levels in the form that the exchange writes, without white space and with short
// numbers, until the first other form. It returns where the last level ends.
func fastLevels(data []byte, at int, m *market.Market, dst *[]market.Level) int {
	levels, stop := *dst, at
	for at+2 < len(data) && data[at] == '[' && data[at+1] == '"' {
		price, next := quoted(data, at+1, m.PriceDigits)
		if next == 0 || next+1 >= len(data) || data[next] != ',' || data[next+1] != '"' {
			break
		}
		amount, next := quoted(data, next+1, m.AmountDigits)
		if next == 0 || next >= len(data) || data[next] != ']' {
			break
		}
		levels = append(levels, market.Level{Price: market.Price(price), Amount: market.Qty(amount)})
		stop = next + 1
		if stop >= len(data) || data[stop] != ',' {
			break
		}
		at = stop + 1
	}
	*dst = levels
	return stop
}

// Levels writes one side of a book, [["price","size"],…], in the units of m.
func (w *Writer) Levels(m *market.Market, levels []market.Level) {
	w.Dst = append(w.Dst, '[')
	for i := range levels {
		w.Level(m, &levels[i])
	}
	w.Close(']')
}

// Level writes one level of a book, ["price","size"], in the units of m.
func (w *Writer) Level(m *market.Market, level *market.Level) {
	w.Open('[')
	w.Decimal(int64(level.Price), m.PriceDigits)
	w.Dst = append(w.Dst, ',')
	w.Decimal(int64(level.Amount), m.AmountDigits)
	w.Close(']')
}
