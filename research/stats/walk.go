package stats

import (
	"fmt"
	"math"
)

// Windows is one figure of the windows of a walk-forward, in sample and out of sample, such as the
// Sharpe ratio or the annual growth.
type Windows struct {
	In, Out     float64 // means
	Efficiency  float64 // Out ÷ In; NaN where In is not above 0. No mean of ratios: one small In would rule it
	Share       float64 // of windows whose figure out of sample is above 0
	Spread      float64 // standard deviation (divisor n−1) out of sample; NaN for one window
	Correlation float64 // between in sample and out of sample; NaN where one of them never changes
}

// WindowsOf takes the figure of each window. There is at least one; in and out have one length.
// Source: Pardo 2008, "The Evaluation and Optimization of Trading Strategies", ch. 11.
func WindowsOf(in, out []float64) (Windows, error) {
	if len(in) == 0 || len(in) != len(out) {
		return Windows{}, fmt.Errorf("%d windows in sample and %d out of sample", len(in), len(out))
	}
	n := float64(len(in))
	var w Windows
	for i := range in {
		w.In, w.Out = w.In+in[i]/n, w.Out+out[i]/n
	}
	var ins, outs, both float64
	for i := range in {
		a, b := in[i]-w.In, out[i]-w.Out
		ins, outs, both = ins+a*a, outs+b*b, both+a*b
	}
	w.Spread, w.Correlation = math.Sqrt(outs/(n-1)), both/math.Sqrt(ins*outs)
	w.Efficiency = ratio(w.Out, w.In)
	for _, x := range out {
		if x > 0 {
			w.Share += 1 / n
		}
	}
	return w, nil
}

// ratio is the efficiency; NaN: undefined.
func ratio(out, in float64) float64 {
	if !(in > 0) {
		return math.NaN()
	}
	return out / in
}

// Walk is how much of the growth in sample is left out of sample. Growth rates are annual and
// logarithmic: the mean of ln(1+r) over the days, times 365.
type Walk struct {
	In         float64 // of all days in sample, window by window
	Out        float64 // of the stitched days out of sample
	Efficiency float64 // Out ÷ In; NaN where In is not above 0
	// Spread is the standard deviation of the windows' own growth rates out of sample, in the unit
	// of Efficiency; NaN for one window, and where Efficiency is.
	Spread  float64
	Growth  float64 // Π(1+r) of the stitched days
	Share   float64 // of windows that grew out of sample
	Windows Windows // of the windows' growth rates
}

// WalkOf takes the daily returns of each window: those of its winner in sample, and those out of
// sample, which follow each other. It is an error if there is no window, if a window has no day, or
// if a day loses everything.
// Source: Pardo 2008, ch. 11, over logarithmic returns so that windows add up.
func WalkOf(in, out [][]float64) (Walk, error) {
	w := Walk{Growth: 1}
	var rates [2][]float64
	for side, windows := range [...][][]float64{in, out} {
		sum, days := 0.0, 0
		for at, row := range windows {
			own, err := logs(row)
			if err != nil {
				return w, fmt.Errorf("window %d: %w", at+1, err)
			}
			sum, days = sum+own, days+len(row)
			rates[side] = append(rates[side], own/float64(len(row))*DaysPerYear)
		}
		if side == 0 {
			w.In = sum / float64(days) * DaysPerYear
		} else {
			w.Out = sum / float64(days) * DaysPerYear
		}
	}
	for _, row := range out {
		for _, r := range row {
			w.Growth *= 1 + r
		}
	}
	var err error
	w.Windows, err = WindowsOf(rates[0], rates[1])
	w.Efficiency, w.Share, w.Spread = ratio(w.Out, w.In), w.Windows.Share, ratio(w.Windows.Spread, w.In)
	return w, err
}

// logs is the sum of ln(1+r).
func logs(row []float64) (sum float64, err error) {
	if len(row) == 0 {
		return 0, fmt.Errorf("it has no day")
	}
	for _, r := range row {
		if notFinite(r) || r <= -1 {
			return 0, fmt.Errorf("a return is %v", r)
		}
		sum += math.Log1p(r)
	}
	return sum, nil
}
