package lang

import (
	"math"
	"strconv"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// State is the state of the rules in one market: plain values, which a fork copies. It must not be
// copied after the first Push. One goroutine at a time may use it.
type State struct {
	program *Program
	main    *market.Market
	markets []market.ID // by number of a stream's market
	cells   []float64
	units   []unit
	candle  market.Candle // the latest one
	pending bool          // the series of several streams wait for the other candles of the instant
	end     market.Time   // of the main candle for which they wait
	row     *row          // the candles of Look; nil: none yet
	parts   []part        // of the watched condition
}

// New returns the state of a market before its first candle. The others are those of Reads, in that
// order.
func (p *Program) New(m *market.Market, others ...*market.Market) State {
	if len(others) != len(p.reads) {
		panic("lang: New wants the markets of Reads")
	}
	all := append([]*market.Market{m}, others...)
	s := State{program: p, main: m, cells: make([]float64, p.cells), units: make([]unit, len(p.series))}
	for _, one := range all {
		s.markets = append(s.markets, one.ID)
	}
	for i := range s.cells {
		s.cells[i] = undefined()
	}
	for _, c := range p.constants {
		s.cells[c.cell] = c.of(all)
	}
	for i := range p.series {
		s.units[i] = p.series[i].unit()
	}
	return s
}

// of is the constant in the units of its market.
func (c constant) of(all []*market.Market) float64 {
	from := all[c.market]
	price, volume := int(from.PriceDigits), int(from.VolumeDigits)
	switch c.converts {
	case convertsMarket:
		price, volume = int(all[0].PriceDigits)-price, int(all[0].VolumeDigits)-volume
	case convertsMoney:
		price -= int(from.QuoteDigits)
	}
	return shift(c.num, int(c.price)*price+int(c.volume)*volume)
}

// shift is x·10^digits, rounded once: the decimal number that was written is exact.
func shift(x float64, digits int) float64 {
	if digits == 0 || x == 0 || math.IsInf(x, 0) || x != x {
		return x
	}
	mantissa, power, _ := strings.Cut(strconv.FormatFloat(x, 'e', -1, 64), "e")
	e, err := strconv.Atoi(power)
	if err != nil {
		panic(err)
	}
	x, _ = strconv.ParseFloat(mantissa+"e"+strconv.Itoa(e+digits), 64) // an overflow is ±Inf
	return x
}

// Push takes the next candle of the traded market and the main interval.
func (s *State) Push(c market.Candle) {
	if !s.next(&c) {
		s.take(0, &c)
	}
}

// PushOf takes the next candle of another interval or market. Candles come in the order of their
// ends; at one instant in any order before Eval.
func (s *State) PushOf(interval market.Interval, c market.Candle) {
	for i := range s.program.streams {
		of := &s.program.streams[i]
		if of.interval == interval && s.markets[of.market] == c.Market {
			s.take(i, &c)
		}
	}
}

func (s *State) take(stream int, c *market.Candle) {
	if s.pending && (stream == 0 || c.End() > s.end) {
		s.settle()
	}
	of := &s.program.streams[stream]
	for _, x := range of.shifts {
		s.cells[x.to] = s.cells[x.from]
	}
	f := s.cells[of.fields : of.fields+fields]
	f[0], f[1], f[2], f[3], f[4] = float64(c.Open), float64(c.High), float64(c.Low), float64(c.Close), float64(c.Volume)
	s.candle = *c
	s.steps(of.steps)
	if stream == 0 && len(s.program.mixed) > 0 {
		s.pending, s.end = true, c.End()
	}
}

// settle computes the series of several streams, once for each candle of the main one.
func (s *State) settle() {
	s.pending = false
	s.steps(s.program.mixed)
}

func (s *State) steps(list []step) {
	for i := range list {
		if one := &list[i]; one.series >= 0 {
			s.units[one.series].push(s)
		} else if v, ok := run(s.program.code, one.entry, s.cells, nil); ok {
			s.cells[one.cell] = v
		} else {
			s.cells[one.cell] = undefined()
		}
	}
}

// Eval computes a rule. A condition is 1 or 0, a price is in price units. It is not defined where
// the rule read a figure that is not: such a condition counts as false. in may be nil where the
// rule reads no position, clock or signal.
func (s *State) Eval(rule int, in *Inputs) (v float64, defined bool) {
	if s.pending {
		s.settle()
	}
	return run(s.program.code, s.program.rules[rule].entry, s.cells, in)
}
