package lang

import (
	"math"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
)

// naive computes rules the dumb way: each part of a rule is the list of its values at all candles,
// and each indicator is computed anew from its window by the formula of the textbook. It shares the
// parser with the language, and nothing else.
type naive struct {
	streams [][]market.Candle // the main interval, and 4h
	shaky   bool              // a comparison was so close that a rounding decides it
}

// vector is the value of a part at each candle of a stream; -1: it never changes.
type vector struct {
	stream int
	list   []float64
	exact  bool // no roundings
}

func constantly(x float64) vector { return vector{-1, []float64{x}, true} }

// at is the vector at the candles of the main stream.
func (v vector) at(n *naive) []float64 {
	main := n.streams[0]
	out := make([]float64, len(main))
	for i := range out {
		switch j := i; v.stream {
		case -1:
			out[i] = v.list[0]
		case 0:
			out[i] = v.list[j]
		default:
			other := n.streams[v.stream]
			j = slices.IndexFunc(other, func(c market.Candle) bool { return c.End() > main[i].End() })
			if j < 0 {
				j = len(other)
			}
			if out[i] = math.NaN(); j > 0 {
				out[i] = v.list[j-1]
			}
		}
	}
	return out
}

// zip brings two vectors to one stream.
func (n *naive) zip(a, b vector, f func(x, y float64) float64) vector {
	stream := a.stream
	switch {
	case a.stream == b.stream:
	case a.stream == -1:
		stream = b.stream
		a.list = slices.Repeat(a.list, len(b.list))
	case b.stream == -1:
		b.list = slices.Repeat(b.list, len(a.list))
	default:
		a.list, b.list, stream = a.at(n), b.at(n), 0
	}
	out := vector{stream, make([]float64, len(a.list)), a.exact && b.exact}
	for i := range out.list {
		out.list[i] = f(a.list[i], b.list[i])
	}
	return out
}

func truthOf(is bool, of ...float64) float64 {
	if slices.ContainsFunc(of, math.IsNaN) {
		return math.NaN()
	}
	return truth(is)
}

// compare notes comparisons that a rounding decides.
func (n *naive) compare(a, b vector, f func(x, y float64) bool) vector {
	return n.zip(a, b, func(x, y float64) float64 {
		if math.Abs(x-y) < 1e-6*max(1, math.Abs(x)) && !(a.exact && b.exact) {
			n.shaky = true
		}
		return truthOf(f(x, y), x, y)
	})
}

// eval is the vector of a node, whose words read a stream.
func (n *naive) eval(x *node, stream int) vector {
	kid := func(i int) vector { return n.eval(x.kids[i], stream) }
	switch x.kind {
	case nodeNumber:
		return constantly(x.num)
	case nodePast:
		return past1(kid(0), int(x.kids[1].num))
	case nodeUnary:
		if x.text == "-" {
			return n.zip(constantly(0), kid(0), func(a, b float64) float64 { return a - b })
		}
		return n.zip(constantly(0), kid(0), func(_, b float64) float64 { return 1 - b })
	case nodeChoose:
		a := n.zip(kid(0), kid(1), func(c, x float64) float64 {
			switch c {
			case 1:
				return x
			case 0:
				return math.Inf(1)
			}
			return math.NaN()
		})
		return n.zip(a, kid(2), func(x, y float64) float64 {
			if math.IsInf(x, 1) {
				return y
			}
			return x
		})
	case nodeBinary:
		return n.binary(x, kid(0), kid(1))
	}
	args := x.kids
	if len(args) > 0 && args[len(args)-1].kind == nodeText {
		args, stream = args[:len(args)-1], 1
	}
	return n.word(x.text, args, stream)
}

func past1(v vector, k int) vector {
	if v.stream < 0 {
		return v
	}
	out := vector{v.stream, make([]float64, len(v.list)), v.exact}
	for i := range out.list {
		if out.list[i] = math.NaN(); i >= k {
			out.list[i] = v.list[i-k]
		}
	}
	return out
}

func (n *naive) binary(x *node, a, b vector) vector {
	switch x.text {
	case "and":
		return n.zip(a, b, func(x, y float64) float64 {
			if x == 0 || math.IsNaN(x) {
				return x
			}
			return y
		})
	case "or":
		return n.zip(a, b, func(x, y float64) float64 {
			if x == 1 || math.IsNaN(x) {
				return x
			}
			return y
		})
	case "<":
		return n.compare(a, b, func(x, y float64) bool { return x < y })
	case ">":
		return n.compare(a, b, func(x, y float64) bool { return x > y })
	case "<=":
		return n.compare(a, b, func(x, y float64) bool { return x <= y })
	case ">=":
		return n.compare(a, b, func(x, y float64) bool { return x >= y })
	case "+":
		return n.zip(a, b, func(x, y float64) float64 { return x + y })
	case "-":
		return n.zip(a, b, func(x, y float64) float64 { return x - y })
	case "*":
		v := n.zip(a, b, func(x, y float64) float64 { return x * y })
		v.exact = false
		return v
	case "/":
		v := n.zip(a, b, func(x, y float64) float64 { return x / y })
		v.exact = false
		return v
	case "%":
		return n.zip(a, b, func(x, y float64) float64 { return x - math.Trunc(x/y)*y })
	case "crosses above", "crosses below":
		if x.text == "crosses below" {
			a, b = b, a
		}
		main := func(v vector) vector {
			if v.stream < 0 {
				return v
			}
			return vector{0, v.at(n), v.exact}
		}
		a, b = main(a), main(b)
		now := n.compare(a, b, func(x, y float64) bool { return x > y })
		before := n.compare(past1(a, 1), past1(b, 1), func(x, y float64) bool { return x <= y })
		return n.zip(now, before, func(x, y float64) float64 {
			if x == 0 || math.IsNaN(x) {
				return x
			}
			return y
		})
	}
	panic(x.text)
}

// field is a price of the candles of a stream.
func (n *naive) field(stream int, of func(c market.Candle) float64) vector {
	v := vector{stream: stream, exact: true}
	for _, c := range n.streams[stream] {
		v.list = append(v.list, of(c))
	}
	return v
}

// word is the vector of a word.
func (n *naive) word(name string, args []*node, stream int) vector {
	fields := map[string]func(c market.Candle) float64{
		"open":   func(c market.Candle) float64 { return float64(c.Open) },
		"high":   func(c market.Candle) float64 { return float64(c.High) },
		"low":    func(c market.Candle) float64 { return float64(c.Low) },
		"close":  func(c market.Candle) float64 { return float64(c.Close) },
		"volume": func(c market.Candle) float64 { return float64(c.Volume) },
		"hl2":    func(c market.Candle) float64 { return (float64(c.High) + float64(c.Low)) / 2 },
	}
	if f := fields[name]; f != nil {
		return n.field(stream, f)
	}
	if f := overCandles[name]; f != nil {
		list := n.streams[stream]
		k := 1
		if len(args) > 0 {
			k = int(args[0].num)
		}
		v := vector{stream: stream}
		for i := range list {
			v.list = append(v.list, f(list[:i+1], k))
		}
		return v
	}
	switch name {
	case "abs":
		return n.zip(constantly(0), n.eval(args[0], stream), func(_, y float64) float64 { return math.Abs(y) })
	case "min", "max":
		a, b := n.eval(args[0], stream), n.eval(args[1], stream)
		if name == "min" {
			return n.zip(a, b, math.Min)
		}
		return n.zip(a, b, math.Max)
	case "valuewhen":
		return n.zip(n.eval(args[0], stream), n.eval(args[1], stream), whenTrue(int(args[2].num)))
	}
	if len(args) == 1 && args[0].kind == nodeNumber {
		args = []*node{{kind: nodeName, text: "close"}, args[0]}
	}
	k := 0
	if len(args) > 1 {
		k = int(args[1].num)
	}
	return n.over(name, n.eval(args[0], stream), k)
}

// whenTrue is valuewhen as a function that is called candle by candle.
func whenTrue(ago int) func(c, x float64) float64 {
	var when []float64
	return func(c, x float64) float64 {
		if c == 1 {
			when = append(when, x)
		}
		if len(when) <= ago {
			return math.NaN()
		}
		return when[len(when)-1-ago]
	}
}

// over is a function over a series: it reads the values that are defined.
func (n *naive) over(name string, v vector, k int) vector {
	out := vector{v.stream, make([]float64, len(v.list)), name == "highest" || name == "lowest" || name == "count" ||
		name == "median" && k%2 == 1}
	if name == "mom" { // counts candles, not known values
		return n.zip(v, past1(v, k), func(x, y float64) float64 { return x - y })
	}
	if name == "rising" || name == "falling" {
		sign := map[string]float64{"rising": 1, "falling": -1}[name]
		up := n.compare(v, past1(v, 1), func(x, y float64) bool { return sign*x > sign*y })
		up = n.over("count", up, k)
		for i, x := range up.list {
			up.list[i] = truthOf(x == float64(k), x)
		}
		return up
	}
	var seen []float64
	for i, x := range v.list {
		out.list[i] = math.NaN()
		if name == "barssince" {
			if !math.IsNaN(x) {
				seen = append(seen, x)
			}
			for j := range seen {
				if seen[len(seen)-1-j] == 1 {
					out.list[i] = float64(j)
					break
				}
			}
			continue
		}
		if math.IsNaN(x) {
			continue
		}
		seen = append(seen, x)
		out.list[i] = overSeries[name](seen, k)
	}
	out.exact = out.exact && v.exact
	return out
}

// window is the last k values, nil where there are not so many.
func lastOf(list []float64, k int) []float64 {
	if len(list) < k {
		return nil
	}
	return list[len(list)-k:]
}

func meanOf(list []float64) (sum float64) {
	for _, x := range list {
		sum += x
	}
	return sum / float64(len(list))
}

// smoothed is an exponential average that starts with the mean of the first k.
func smoothed(list []float64, k int, weight float64) float64 {
	if len(list) < k {
		return math.NaN()
	}
	x := meanOf(list[:k])
	for _, y := range list[k:] {
		x += weight * (y - x)
	}
	return x
}

// overSeries are the functions over a series: all its values up to now, and the length.
var overSeries = map[string]func(list []float64, k int) float64{
	"sma": func(list []float64, k int) float64 { return meanOf(lastOf(list, k)) },
	"sum": func(list []float64, k int) float64 {
		return meanOf(lastOf(list, k)) * float64(k)
	},
	"count": func(list []float64, k int) float64 {
		return math.Round(meanOf(lastOf(list, k)) * float64(k))
	},
	"any": func(list []float64, k int) float64 {
		if len(list) < k {
			return math.NaN()
		}
		return truth(slices.Max(lastOf(list, k)) > 0)
	},
	"ema": func(list []float64, k int) float64 { return smoothed(list, k, 2/float64(k+1)) },
	"rma": func(list []float64, k int) float64 { return smoothed(list, k, 1/float64(k)) },
	"wma": func(list []float64, k int) float64 {
		sum := math.NaN()
		for i, x := range lastOf(list, k) {
			if i == 0 {
				sum = 0
			}
			sum += x * float64(i+1)
		}
		return sum / float64(k*(k+1)/2)
	},
	"highest": func(list []float64, k int) float64 {
		if len(list) < k {
			return math.NaN()
		}
		return slices.Max(lastOf(list, k))
	},
	"lowest": func(list []float64, k int) float64 {
		if len(list) < k {
			return math.NaN()
		}
		return slices.Min(lastOf(list, k))
	},
	"median": func(list []float64, k int) float64 {
		if list = slices.Sorted(slices.Values(lastOf(list, k))); len(list) == 0 {
			return math.NaN()
		}
		return (list[(k-1)/2] + list[k/2]) / 2
	},
	"stdev": func(list []float64, k int) float64 {
		list = lastOf(list, k)
		mean, sum := meanOf(list), 0.0
		for _, x := range list {
			sum += (x - mean) * (x - mean)
		}
		if list == nil {
			return math.NaN()
		}
		return math.Sqrt(sum / float64(k))
	},
	"rsi": func(list []float64, k int) float64 {
		if len(list) <= k {
			return math.NaN()
		}
		var up, down []float64
		for i := 1; i < len(list); i++ {
			up = append(up, math.Max(list[i]-list[i-1], 0))
			down = append(down, math.Max(list[i-1]-list[i], 0))
		}
		gain, loss := smoothed(up, k, 1/float64(k)), smoothed(down, k, 1/float64(k))
		if gain+loss == 0 {
			return 50
		}
		return 100 * gain / (gain + loss)
	},
}

// overCandles are the functions over candles.
var overCandles = map[string]func(list []market.Candle, k int) float64{
	"tr": func(list []market.Candle, _ int) float64 {
		if len(list) < 2 {
			return math.NaN()
		}
		return trueRangeAt(list, len(list)-1)
	},
	"atr": func(list []market.Candle, k int) float64 {
		var ranges []float64
		for i := range list {
			ranges = append(ranges, trueRangeAt(list, i))
		}
		return smoothed(ranges, k, 1/float64(k))
	},
}

func trueRangeAt(list []market.Candle, i int) float64 {
	high, low := list[i].High, list[i].Low
	if i > 0 {
		high, low = max(high, list[i-1].Close), min(low, list[i-1].Close)
	}
	return float64(high - low)
}
