package lang

import (
	"math"

	"github.com/tidemark-trading/tidemark/market"
)

// Inputs are the position and the clock at a decision.
type Inputs struct {
	InPosition bool
	// EntryPrice, Cost (with the fee), HighestSinceEntry and LowestSinceEntry are prices. They,
	// Profit and BarsSinceEntry count only in a position; else what reads them is undefined.
	EntryPrice, Cost                    market.Price
	HighestSinceEntry, LowestSinceEntry market.Price
	Profit                              float64 // of the cost, in percent
	BarsSinceEntry                      int
	BarsSinceExit                       int // below 0: there was none, and any number of candles has passed
	Equity, Cash                        market.Money
	Position                            float64         // held, in the units of volumes
	Time                                market.Time     // of the decision
	Offset                              market.Duration // of the clock from UTC
	Signals                             []market.Signal // those of Program.Signals; without a Source: there is none
}

// inputs are the words that read Inputs, in the order of at.
var inputs = []struct {
	name    string
	dim     dim
	meaning string
	example string
}{
	{"in_position", aCondition, "whether the strategy holds something of this market", "in_position and rsi(14) > 70"},
	{"entry_price", aPrice, "average price of the buys, without the fee", "close > entry_price"},
	{"cost", aPrice, "average price of the buys, with the fee", "close > cost * 1.01"},
	{"highest_since_entry", aPrice, "highest price since the entry, its candle included",
		"close < highest_since_entry * 0.97"},
	{"lowest_since_entry", aPrice, "lowest price since the entry", "close > lowest_since_entry * 1.03"},
	{"profit", dim{kind: percent}, "profit of the position, in percent of its cost", "profit > 5"},
	{"bars_since_entry", dim{kind: count}, "candles since the entry, its own included", "bars_since_entry >= 48"},
	{"bars_since_exit", dim{kind: count}, "candles since the last exit; before the first, more than any",
		"bars_since_exit > 6"},
	{"equity", someMoney, "money and holdings of the strategy, in quote", "equity > 1000"},
	{"cash", someMoney, "free money of the strategy, in quote", "cash > 100"},
	{"position", aVolume, "amount that the strategy holds, in base; 0 without a position", "position < 0.5"},
	{"hour", dim{kind: count}, "hour of the decision, 0 to 23 (UTC, or zone)", "hour >= 8 and hour < 16"},
	{"minute", dim{kind: count}, "minute of the decision, 0 to 59", "minute == 0"},
	{"weekday", dim{kind: count}, "day of the week, Monday is 1 and Sunday 7", "weekday <= 5"},
	{"day", dim{kind: count}, "day of the month, from 1", "day == 1"},
	{"month", dim{kind: count}, "month, from 1", "month == 12"},
}

// input is the number of an input, -1 where the name is none.
func input(name string) int {
	for i := range inputs {
		if inputs[i].name == name {
			return i
		}
	}
	return -1
}

// held is the number of inputs at the begin that only a position has, in_position before them.
const held = 7

// at is the input with a number.
func (in *Inputs) at(i int) float64 {
	if i >= firstSignal {
		return in.part(i - firstSignal)
	}
	if 0 < i && i < held && !in.InPosition {
		return undefined()
	}
	switch i {
	case 0:
		if in.InPosition {
			return 1
		}
		return 0
	case 1:
		return float64(in.EntryPrice)
	case 2:
		return float64(in.Cost)
	case 3:
		return float64(in.HighestSinceEntry)
	case 4:
		return float64(in.LowestSinceEntry)
	case 5:
		return in.Profit
	case 6:
		return float64(in.BarsSinceEntry)
	case 7:
		if in.BarsSinceExit < 0 {
			return math.MaxFloat64
		}
		return float64(in.BarsSinceExit)
	case 8:
		return float64(in.Equity)
	case 9:
		return float64(in.Cash)
	case 10:
		return in.Position
	}
	return float64(in.clock(inputs[i].name))
}

// clock is a word of the clock.
func (in *Inputs) clock(name string) int {
	switch t := in.Time.Add(in.Offset).Std(); name {
	case "hour":
		return t.Hour()
	case "minute":
		return t.Minute()
	case "weekday":
		return (int(t.Weekday())+6)%7 + 1
	case "day":
		return t.Day()
	default:
		return int(t.Month())
	}
}
