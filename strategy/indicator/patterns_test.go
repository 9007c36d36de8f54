package indicator_test

import (
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// ordinary are ten candles with a body of 10 and a range of 20.
func ordinary() (all []market.Candle) {
	for i := range market.Price(10) {
		rise := 10 * (i % 2)
		all = append(all, market.Candle{Open: 1000 + rise, High: 1015, Low: 995, Close: 1010 - rise})
	}
	return all
}

func candle(open, high, low, close market.Price) market.Candle {
	return market.Candle{Open: open, High: high, Low: low, Close: close}
}

// still is a candle before patterns of fewer than three.
var still = candle(1000, 1010, 990, 1000)

// Each pattern, drawn by hand after ten ordinary candles, upside down too, beside its near miss.
func TestPatternsDrawnByHand(t *testing.T) {
	for _, x := range []struct {
		name  string
		flag  int // of flags
		value float64
		drawn []market.Candle
		miss  []market.Candle
	}{
		{"doji", 0, 1, []market.Candle{still, still, candle(1000, 1010, 990, 1002)},
			[]market.Candle{still, still, candle(1000, 1010, 990, 1003)}},
		{"hammer", 1, 1, []market.Candle{still, candle(1030, 1031, 1009, 1010), candle(1010, 1012, 990, 1011)},
			[]market.Candle{still, candle(1030, 1031, 1009, 1010), candle(1010, 1015, 990, 1011)}},
		{"hanging man", 2, 1, []market.Candle{still, candle(990, 1011, 989, 1010), candle(1010, 1012, 990, 1011)},
			[]market.Candle{still, candle(990, 1031, 989, 1010), candle(1010, 1012, 990, 1011)}},
		{"inverted hammer", 3, 1, []market.Candle{still, candle(1030, 1031, 1009, 1010),
			candle(1009, 1030, 1008, 1010)},
			[]market.Candle{still, candle(1030, 1031, 1009, 1010), candle(1009, 1030, 1008, 1011)}},
		{"shooting star", 4, 1, []market.Candle{still, candle(990, 1011, 989, 1010), candle(1010, 1030, 1009, 1011)},
			[]market.Candle{still, candle(990, 1011, 989, 1010), candle(1009, 1030, 1009, 1011)}},
		{"engulfing", 5, 1, []market.Candle{still, candle(1010, 1012, 998, 1000), candle(1000, 1013, 999, 1011)},
			[]market.Candle{still, candle(1010, 1012, 998, 1000), candle(1001, 1013, 999, 1012)}},
		{"harami", 6, 1, []market.Candle{still, candle(1020, 1022, 998, 1000), candle(1000, 1013, 999, 1009)},
			[]market.Candle{still, candle(1020, 1022, 998, 1000), candle(999, 1013, 999, 1008)}},
		{"star", 7, 1, []market.Candle{candle(1040, 1041, 1009, 1010), candle(1010, 1012, 1000, 1008),
			candle(1008, 1031, 1007, 1021)},
			[]market.Candle{candle(1040, 1041, 1009, 1010), candle(1010, 1012, 1000, 1008),
				candle(1008, 1031, 1007, 1019)}},
		{"three", 8, 1, []market.Candle{candle(1000, 1013, 999, 1012), candle(1012, 1025, 1011, 1024),
			candle(1024, 1037, 1023, 1036)},
			[]market.Candle{candle(1000, 1013, 999, 1012), candle(1012, 1025, 1011, 1024),
				candle(1024, 1039, 1023, 1036)}},
	} {
		require.Equal(t, x.value, patternsOf(append(ordinary(), x.drawn...))[x.flag], x.name)
		require.Zero(t, patternsOf(append(ordinary(), x.miss...))[x.flag], "a near miss of %s", x.name)
		if x.flag >= 5 {
			upsideDown := append(ordinary(), x.drawn...)
			for i, c := range upsideDown {
				upsideDown[i] = candle(2000-c.Open, 2000-c.Low, 2000-c.High, 2000-c.Close)
			}
			require.Equal(t, -x.value, patternsOf(upsideDown)[x.flag], "%s, upside down", x.name)
		}
	}
}

func patternsOf(all []market.Candle) (values []float64) {
	p := indicator.NewPatterns()
	for _, c := range all {
		p.Push(c)
	}
	for _, f := range flags(&p) {
		values = append(values, f())
	}
	return values
}

// The words of docs/indicators.md, over the whole history, with no mirror.
func TestPatternsEqualTheirTwins(t *testing.T) {
	random, price := rand.New(rand.NewPCG(3, 3)), int64(100_000)
	all := make([]market.Candle, 40_000)
	for i := range all {
		open := price + []int64{0, 0, 0, random.Int64N(5) - 2}[random.IntN(4)]
		size := []int64{1, 4, 15}[random.IntN(3)]
		price = open + random.Int64N(2*size+1) - size
		shadow := func() market.Price { return market.Price(random.Int64N([]int64{1, 2, 12}[random.IntN(3)])) }
		all[i] = candle(market.Price(open), market.Price(max(open, price))+shadow(),
			market.Price(min(open, price))-shadow(), market.Price(price))
	}
	p, seen := indicator.NewPatterns(), map[[2]int]int{}
	for i := range all {
		p.Push(all[i])
		if require.Equal(t, i >= 12, p.Ready()); i < 12 {
			continue
		}
		want := patternTwin(all[:i+1])
		for k, f := range flags(&p) {
			require.Equal(t, want[k], f(), "pattern %d at candle %d: %+v", k, i, all[i-2:i+1])
			seen[[2]int{k, int(want[k])}]++
		}
	}
	require.Len(t, seen, 5*2+4*3, "%v", seen)
	for pattern, count := range seen {
		require.Greater(t, count, 20, "%v", pattern)
	}
}

func patternTwin(all []market.Candle) (values []float64) {
	type bar struct{ o, h, l, c, body, top, bottom, meanBody, meanRange float64 }
	at := func(ago int) bar {
		i := len(all) - 1 - ago
		b := bar{o: float64(all[i].Open), h: float64(all[i].High), l: float64(all[i].Low), c: float64(all[i].Close)}
		b.top, b.bottom = max(b.o, b.c), min(b.o, b.c)
		b.body = b.top - b.bottom
		for _, c := range all[i-10 : i] {
			b.meanBody += float64(max(c.Open, c.Close) - min(c.Open, c.Close))
			b.meanRange += float64(c.High - c.Low)
		}
		b.meanBody, b.meanRange = b.meanBody/10, b.meanRange/10
		return b
	}
	x, y, z := at(2), at(1), at(0)
	flag := func(up, down bool) {
		value := 0.0
		if up {
			value = 1
		} else if down {
			value = -1
		}
		values = append(values, value)
	}
	tenth, near := z.meanRange/10, 2*(y.meanRange/10)
	hanging := z.body < z.meanBody && z.bottom-z.l > z.body && z.h-z.top < tenth
	standing := z.body < z.meanBody && z.h-z.top > z.body && z.bottom-z.l < tenth
	flag(z.body <= tenth, false)
	flag(hanging && z.bottom <= y.l+near, false)
	flag(hanging && z.bottom >= y.h-near, false)
	flag(standing && z.top <= y.bottom, false)
	flag(standing && z.bottom >= y.top, false)
	over := z.top >= y.top && z.bottom <= y.bottom && z.body > y.body
	flag(over && y.c < y.o && z.c > z.o, over && y.c > y.o && z.c < z.o)
	within := y.body > y.meanBody && z.body <= z.meanBody && z.top <= y.top && z.bottom >= y.bottom
	flag(within && y.c < y.o, within && y.c > y.o)
	star := x.body > x.meanBody && y.body <= y.meanBody && z.body > z.meanBody
	flag(star && x.c < x.o && z.c > z.o && y.top <= x.c && z.c > x.c+0.3*x.body,
		star && x.c > x.o && z.c < z.o && y.bottom >= x.c && z.c < x.c-0.3*x.body)
	soldiers, crows := z.body > z.meanBody, z.body > z.meanBody
	for _, b := range []bar{x, y, z} {
		soldiers = soldiers && b.c > b.o && b.h-b.c < b.meanRange/10
		crows = crows && b.c < b.o && b.c-b.l < b.meanRange/10
	}
	for _, b := range [][2]bar{{x, y}, {y, z}} {
		was, is := b[0], b[1]
		size := is.body > was.body-6*(was.meanRange/10)
		soldiers = soldiers && size && is.c > was.c && is.o > was.o && is.o <= was.c+2*(was.meanRange/10)
		crows = crows && size && is.c < was.c && is.o < was.o && is.o >= was.c-2*(was.meanRange/10)
	}
	flag(soldiers, crows)
	return values
}

// drawnByChance are candles of one range: TA-Lib takes some means over five candles, Patterns takes
// all over ten.
func drawnByChance() (all []market.Candle) {
	state, price := uint64(1), int64(100_000)
	draw := func(n int64) int64 {
		state = state*6364136223846793005 + 1442695040888963407
		return int64(state>>33) % n
	}
	for range 4000 {
		gaps := [4]int64{0, 0, draw(7) - 3, draw(21) - 10}
		open := price + gaps[draw(4)]
		size := [3]int64{3, 9, 19}[draw(3)]
		price = open + draw(2*size+1) - size
		low, high := min(open, price), max(open, price)
		rest := 20 - (high - low)
		above := [3]int64{0, rest, draw(rest + 1)}[draw(3)]
		all = append(all, candle(market.Price(open), market.Price(high+above), market.Price(low-rest+above),
			market.Price(price)))
	}
	return all
}

// TA-Lib asks for gaps where Patterns takes bodies that touch, and calls a candle that closes at
// its open a rise. Its crows are others.
func TestPatternsAreThoseOfTALib(t *testing.T) {
	text, err := os.ReadFile("testdata/patterns.txt")
	require.NoError(t, err)
	theirs := map[string]map[int]bool{} // of each pattern the candles
	for line := range strings.Lines(string(text)) {
		name, list, _ := strings.Cut(line, ":")
		theirs[name] = map[int]bool{}
		for _, at := range strings.Fields(list) {
			number, err := strconv.Atoi(at)
			require.True(t, err == nil || name[0] == '#')
			theirs[name][number] = true
		}
	}
	p, found := indicator.NewPatterns(), map[string]int{}
	all := drawnByChance()
	for i, z := range all {
		p.Push(z)
		if !p.Ready() {
			continue
		}
		x, y := all[i-2], all[i-1]
		under := max(z.Open, z.Close) < min(y.Open, y.Close)
		over := min(z.Open, z.Close) > max(y.Open, y.Close)
		for _, one := range []struct {
			name string
			at   int // with the sign of TA-Lib
			have bool
		}{
			{"doji", i, p.Doji()}, {"hammer", i, p.Hammer()}, {"hanging man", -i, p.HangingMan()},
			{"inverted hammer", i, p.InvertedHammer() && under}, {"shooting star", -i, p.ShootingStar() && over},
			{"engulfing", i, p.Engulfing() == indicator.Up},
			{"engulfing", -i, p.Engulfing() == indicator.Down || y.Open == y.Close && theirs["engulfing"][-i]},
			{"harami", i, p.Harami() == indicator.Up}, {"harami", -i, p.Harami() == indicator.Down},
			{"morning star", i, p.Star() == indicator.Up && max(y.Open, y.Close) < x.Close},
			{"evening star", -i, p.Star() == indicator.Down && min(y.Open, y.Close) > x.Close},
			{"three soldiers", i, p.Three() == indicator.Up},
		} {
			require.Equal(t, theirs[one.name][one.at], one.have, "%s at %d: %+v", one.name, i, all[i-2:i+1])
			if one.have {
				found[one.name]++
			}
		}
	}
	require.Len(t, found, len(theirs)-1, "%v", found)
}

func TestPatternsRefuseAPriceThatHasNoRoom(t *testing.T) {
	p := indicator.NewPatterns()
	p.Push(market.Candle{High: math.MaxInt64 / 10})
	require.Panics(t, func() { p.Push(market.Candle{High: math.MaxInt64/10 + 1}) })
}
