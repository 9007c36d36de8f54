package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// tenDays are ten days with known evidence.
var tenDays = []Day{
	{Return: 0.010, Trips: 2, Slippage: []float64{3, 8}}, {Return: -0.030, Trips: 1},
	{Return: 0.004, Slippage: []float64{12}}, {Return: -0.055, Trips: 3, Slippage: []float64{25, -4}},
	{Return: 0}, {Return: 0.021, Slippage: []float64{6}}, {Return: -0.120, Trips: 1, Slippage: []float64{70}},
	{Return: -0.018, Slippage: []float64{15, 9}}, {Return: 0.006, Trips: 2},
	{Return: -0.033, Slippage: []float64{5}},
}

// tenDaysPromise restarts every four days, and its drawdown is broken on the seventh.
func tenDaysPromise() Promise {
	return Promise{Level: 0.05, Weights: [Quantities]float64{0.25, 0.25, 0.25, 0.25},
		Return:   ReturnPromise{Deviation: 0.02, Mean: 0.1, Clip: 4, Days: 1, Restart: 4},
		Trips:    TripPromise{Low: 1.5, High: 3, Cap: 6},
		Slippage: SlippagePromise{Unit: 10, Most: 0.5, Clip: 4},
		Drawdown: DrawdownPromise{Depth: 0.15, Horizon: 365, Chance: 0.05}}
}

func TestTheEvidenceOfTenDays(t *testing.T) {
	products := [][4]float64{
		{0.9900000000, 0.9800000000, 0.9600000000, 0.9200000000}, {1.0296000000, 1.0584000000, 1.1136000000, 1.2144},
		{1.0270260000, 1.0531080000, 1.1024640000, 1.1901120000}, {1.1002016025, 1.2031758900, 1.41666624, 1.86847584},
		{1.1029521065, 1.2091917694, 1.4308329024, 1.9058453568},
		{1.0767569940, 1.1517551604, 1.2949037767, 1.5437347390},
		{1.1871245859, 1.3878649683, 1.8258143251, 2.8095972250},
		{1.2168027005, 1.4572582167, 2.0083957576, 3.3715166700},
		{1.2107186870, 1.4426856345, 1.9682278425, 3.2366560032},
		{1.2636876296, 1.5689206276, 2.3126677149, 4.3694856043},
	}
	returns := []float64{0.9812500000, 1.0520000000, 1.0465887500, 1.1985649466, 1.2076652669, 1.1199022973,
		1.4440085641, 1.5708829307, 1.5399359362, 1.8020497177}
	single := []float64{0.9625, 1.104, 1.0931775, 1.3971298931, 1.4122055338, 1.2667876675, 1.8026002761, 2.0134933362,
		1.9645720418, 2.3786903941}
	slippage := []float64{1.0085781250, 1.0085781250, 1.0750368359, 1.1626564492, 1.1626564492, 1.1742837685,
		1.5872293221, 1.8489662351, 1.8489662351, 1.8489662351}
	trips := []float64{0.9296875000, 0.8709960938, 0.8531652832, 0.7684598419, 0.7795636259, 0.8213755289, 0.8348792853,
		0.9150258567, 0.8659239459, 0.9657793552}
	together := []float64{0.7298789062, 0.7328935547, 0.7436977173, 0.7824203094, 0.7874713355, 0.7788903987,
		5.9665292929, 6.0837187556, 6.0637065293, 6.1541988270}

	p := tenDaysPromise()
	e, err := NewEvidence(&p)
	require.NoError(t, err)
	for i := range tenDays {
		e.Add(&tenDays[i])
		for j, product := range products[i] {
			require.InDelta(t, product, math.Exp(e.returns.starts[0][j]), 1e-10, "day %d", i+1)
		}
		require.InDelta(t, single[i], e.returns.starts[0].value(), 1e-10, "day %d", i+1)
		values := e.Values()
		require.InDelta(t, returns[i], values[QuantityReturn], 1e-10, "day %d", i+1)
		require.InDelta(t, slippage[i], values[QuantitySlippage], 1e-10, "day %d", i+1)
		require.InDelta(t, trips[i], values[QuantityTrips], 1e-10, "day %d", i+1)
		drawdown := 0.0
		if i >= 6 {
			drawdown = 20
		}
		require.InDelta(t, drawdown, values[QuantityDrawdown], 1e-12, "day %d", i+1)
		require.InDelta(t, together[i], e.Total(), 1e-10, "day %d", i+1)
	}
	require.Nil(t, e.Broken(), "the drawdown alone is not enough at a chance of 5 %")
}

// naive is the evidence of returns by its definition: every product anew, for every start.
func naive(p *ReturnPromise, days []Day) float64 {
	total, rest := 0.0, 1.0
	for j := 0; j*p.Restart*p.Days < len(days)/p.Days*p.Days; j++ {
		weight := 1 / float64((j+1)*(j+2))
		rest -= weight
		for _, stake := range stakes {
			wealth := 1.0
			for at := j * p.Restart * p.Days; at+p.Days <= len(days); at += p.Days {
				growth, share, recorded := 1.0, 0.0, 0
				for i, d := range days[at : at+p.Days] {
					if d.Missed {
						continue
					}
					recorded++
					growth *= 1 + d.Return
					one := 1.0
					if p.Exposure > 0 {
						one = d.Exposure / p.Exposure
					}
					for before := at + i - 1; p.Mean < 0 && before >= 0 && days[before].Missed; before-- {
						share += one
					}
					share += one
				}
				if recorded == 0 {
					continue
				}
				y := (growth - 1) / p.Deviation / math.Sqrt(float64(p.Days))
				mean := math.Min(2, p.Mean*share/float64(p.Days))
				safe := math.Min(1, 0.95/(0.2*(4-mean))) // no bet may lose more than 0.95 of the wealth
				wealth *= 1 - safe*stake*(math.Max(-4, math.Min(4, y))-mean)
			}
			total += weight * wealth / 4
		}
	}
	return total + rest
}

func TestTheEvidenceOfReturnsIsThatOfItsDefinition(t *testing.T) {
	seed := rand.Uint64()
	chance := rand.New(rand.NewPCG(seed, 1))
	for range 60 {
		p := Promise{Level: 0.05, Weights: [Quantities]float64{1}, Return: ReturnPromise{Deviation: 0.03,
			Mean: chance.Float64()*0.4 - 0.1, Clip: 4, Days: 1 + 6*chance.IntN(2), Restart: 1 + chance.IntN(9)}}
		if chance.IntN(2) == 0 {
			p.Return.Exposure = 0.5
		}
		e, err := NewEvidence(&p)
		require.NoError(t, err)
		days := make([]Day, chance.IntN(150))
		for i := range days {
			days[i] = Day{Missed: chance.IntN(5) == 0, Return: chance.NormFloat64() * 0.05, Exposure: chance.Float64()}
			e.Add(&days[i])
			if have, want := e.Total(), naive(&p.Return, days[:i+1]); math.Abs(have-want) > 1e-9*want {
				t.Fatalf("seed %d, %+v, day %d: %v, not %v", seed, p.Return, i+1, have, want)
			}
		}
	}
}

// An alarm stays whatever follows, says since when, and who is to blame.
func TestAnAlarmStays(t *testing.T) {
	p := tenDaysPromise()
	p.Return.Restart = 30
	p.Drawdown.Chance = 0.01
	e, err := NewEvidence(&p)
	require.NoError(t, err)
	for range 59 {
		e.Add(&Day{Return: 0.002, Trips: 2})
	}
	e.Add(&Day{Missed: true})
	require.Nil(t, e.Broken())
	e.Add(&Day{Return: -0.2, Trips: 2})
	broken := e.Broken()
	require.Equal(t, &Break{Day: 61, Since: broken.Since, By: []Quantity{QuantityDrawdown}}, broken,
		"at 1 % a breach alone is enough")
	for range 2000 {
		e.Add(&Day{Return: 0.01, Trips: 2})
	}
	require.Equal(t, broken, e.Broken())
	all, missed := e.Days()
	require.Equal(t, []int{2061, 1}, []int{all, missed})

	p.Weights = [Quantities]float64{1}
	e, err = NewEvidence(&p)
	require.NoError(t, err)
	for day := range 400 {
		r := 0.01
		if day >= 300 {
			r = -0.02
		}
		e.Add(&Day{Return: r})
	}
	require.NotNil(t, e.Broken())
	require.Equal(t, 301, e.Broken().Since, "the returns fell after day 300")
	require.Equal(t, []Quantity{QuantityReturn}, e.Broken().By)
}

// A breach after the horizon says nothing.
func TestADrawdownBehindItsHorizonIsNoBreach(t *testing.T) {
	p := tenDaysPromise()
	p.Drawdown.Horizon = 3
	for fallsOn, want := range map[int]float64{3: 20, 4: 0} {
		e, err := NewEvidence(&p)
		require.NoError(t, err)
		for day := 1; day <= 5; day++ {
			r := 0.001
			if day == fallsOn {
				r = -0.3
			}
			e.Add(&Day{Return: r})
		}
		require.Equal(t, want, e.Values()[QuantityDrawdown])
		require.InDelta(t, 0.3, e.Deepest(), 1e-12)
	}
}

// No day can take a bet below zero, whatever the promise is.
func TestNoBetLosesEverything(t *testing.T) {
	seed := rand.Uint64()
	chance := rand.New(rand.NewPCG(seed, 2))
	for range 300 {
		p := tenDaysPromise()
		p.Return.Mean = chance.Float64()*4.9 - 0.999
		p.Return.Exposure = chance.Float64()
		p.Trips.High = 20 * chance.Float64()
		p.Trips.Low = p.Trips.High * chance.Float64()
		p.Trips.Cap = p.Trips.High * (2 + 50*chance.Float64())
		p.Slippage.Most = chance.Float64()*7.9 - 3.95
		e, err := NewEvidence(&p)
		require.NoError(t, err, "seed %d", seed)
		for range 20 {
			e.Add(&Day{Return: chance.NormFloat64(), Exposure: chance.Float64(), Trips: chance.IntN(100),
				Slippage: []float64{200 * chance.NormFloat64()}})
			for q, value := range e.Values() {
				require.False(t, math.IsNaN(value) || value < 0 || math.IsInf(value, 0), "seed %d: %s %v of %+v", seed,
					Quantity(q), value, p)
			}
		}
	}
}

func TestAPromiseThatCannotBeBetAgainstIsRefused(t *testing.T) {
	for says, change := range map[string]func(*Promise){
		"the weights add up to 1.25":               func(p *Promise) { p.Weights[0] = 0.5 },
		"the weight of trips is -1":                func(p *Promise) { p.Weights = [Quantities]float64{2, -1} },
		"a level of 0":                             func(p *Promise) { p.Level = 0 },
		"promise of the return: a standard":        func(p *Promise) { p.Return.Deviation = 0 },
		"a mean of -1 standard deviations":         func(p *Promise) { p.Return.Mean = -1 },
		"bets of 2 days":                           func(p *Promise) { p.Return.Days = 2 },
		"a mean exposure of 1.5":                   func(p *Promise) { p.Return.Exposure = 1.5 },
		"promise of the trips: 1.5 to 3 a day":     func(p *Promise) { p.Trips.Cap = 5.9 },
		"promise of the slippage: a mean of 4":     func(p *Promise) { p.Slippage.Most = 4 },
		"promise of the drawdown: a depth of 0.15": func(p *Promise) { p.Drawdown.Chance = 1 },
		"a clip of +Inf":                           func(p *Promise) { p.Return.Clip = math.Inf(1) },
	} {
		p := tenDaysPromise()
		change(&p)
		_, err := NewEvidence(&p)
		require.ErrorContains(t, err, says)
	}
	p := tenDaysPromise()
	p.Weights, p.Trips = [Quantities]float64{1}, TripPromise{}
	_, err := NewEvidence(&p)
	require.NoError(t, err, "what has no weight is not looked at")
}

func TestThePromiseOfReturnsIsTheirMeanLessAStandardError(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 1))
	all := make([]float64, 730)
	for i := range all {
		all[i] = 0.002 + 0.03*chance.NormFloat64()
	}
	all[3] = 2 // a day that is cut
	p, err := PromiseOfReturns(all, all[365:], 0.7)
	require.NoError(t, err)
	whole, err := TrackRecordOf(all)
	require.NoError(t, err)
	y := make([]float64, 365)
	for i, r := range all[365:] {
		y[i] = math.Max(-4, math.Min(4, r/whole.SD))
	}
	record, err := TrackRecordOf(y)
	require.NoError(t, err)
	require.Equal(t, ReturnPromise{Deviation: whole.SD, Mean: p.Mean, Clip: 4, Exposure: 0.7, Days: 1, Restart: 30}, p)
	require.InDelta(t, record.Mean-record.SD/math.Sqrt(365), p.Mean, 1e-12)

	for i := 1; i < len(all); i++ {
		all[i] = 0.4*all[i-1] + 0.03*chance.NormFloat64() + 0.001
	}
	p, err = PromiseOfReturns(all, all, 0)
	require.NoError(t, err)
	require.Equal(t, []int{7, 4}, []int{p.Days, p.Restart}, "returns that hang together are bet on by weeks")
	_, err = PromiseOfReturns(all, all[:100], 0)
	require.ErrorContains(t, err, "100 days out of sample are too few: at least 210")
	_, err = PromiseOfReturns(make([]float64, 90), make([]float64, 90), 0)
	require.ErrorContains(t, err, "never change")
}

func TestThePromisedDrawdownIsExceededInItsShareOfResamples(t *testing.T) {
	chance := rand.New(rand.NewPCG(2, 1))
	returns := make([]float64, 400)
	for i := range returns {
		returns[i] = 0.03 * chance.NormFloat64()
	}
	p, err := PromiseOfDrawdown(returns, 100, 0.05, 999, 1)
	require.NoError(t, err)
	exceeded, days := 0, make([]int, 100)
	b := Bootstrap{Days: 400, Block: BlockLength(returns).Stationary, Seed: 2}
	for i := range 2000 {
		b.Draw(i, days)
		equity, peak, deepest := 1.0, 1.0, 0.0
		for _, day := range days {
			equity *= 1 + returns[day]
			peak = math.Max(peak, equity)
			deepest = math.Max(deepest, 1-equity/peak)
		}
		if deepest > p.Depth {
			exceeded++
		}
	}
	require.InDelta(t, 0.05, float64(exceeded)/2000, 0.025)
	_, err = PromiseOfDrawdown([]float64{0.1, 0.2, 0.1}, 10, 0.01, 9, 1)
	require.ErrorContains(t, err, "never fall")
	_, err = PromiseOfDrawdown(returns, 0, 0.01, 9, 1)
	require.Error(t, err)
}

func TestThePromisedTripsAreTheirMeanWithRoom(t *testing.T) {
	trips := make([]float64, 400)
	for i := range trips {
		trips[i] = float64(i % 2 * 2)
	}
	p, err := PromiseOfTrips(trips)
	require.NoError(t, err)
	require.Equal(t, TripPromise{Low: 0.75, High: 1.25, Cap: 3}, p)
	_, err = PromiseOfTrips(make([]float64, 10))
	require.ErrorContains(t, err, "no round trip")
}

func TestHowLongTheEndOfAnEdgeGoesUnnoticed(t *testing.T) {
	daily := 2 / math.Sqrt(DaysPerYear)
	require.InDelta(t, 546.7, NoticeDays(daily, 0.05, 1, 0), 0.1)
	require.InDelta(t, 243, NoticeDays(1.5*daily, 0.05, 1, 0), 0.1)
	require.InDelta(t, 6*365, NoticeDays(daily/2, 0.05, 1, 0), 5)
	require.InDelta(t, 365*math.Log(77)/2, NoticeDays(daily, 0.05, 0.25, 0.75), 0.1, "the others idle at 1")
}
