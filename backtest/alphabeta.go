package backtest

import "github.com/tidemark-trading/tidemark/backtest/report"

// marketModel returns alpha and beta of the run, once its tracks have ended.
func (r *recorder) marketModel() (alpha, beta Figure) {
	if r.equity.broken {
		return undefined(), undefined()
	}
	if joint := r.hold.joint; joint != nil {
		return alphaBeta(*r.equity.daily, joint.days)
	}
	return alphaBeta(*r.equity.daily, *r.hold.track.daily)
}

// alphaBeta is the line of least squares through the days that both lists have: its height at 0,
// for a year, and its slope. Both are undefined where the market did not move, and for fewer than
// two days.
func alphaBeta(own, hold []report.Day) (alpha, beta Figure) {
	own, hold = common(own, hold)
	n := float64(len(own))
	x, y := 0.0, 0.0
	for i := range own {
		x, y = x+hold[i].Return, y+own[i].Return
	}
	x, y = x/n, y/n
	xx, xy := 0.0, 0.0
	for i := range own {
		apart := hold[i].Return - x
		xx += float64(apart * apart)
		xy += float64(apart * (own[i].Return - y))
	}
	slope := xy / xx // 0 ÷ 0 where the market did not move
	return Figure(float64(y-float64(slope*x)) * daysPerYear), Figure(slope)
}

// common are the days that both lists have. Each list has its days without a gap.
func common(a, b []report.Day) (_, _ []report.Day) {
	if len(a) == 0 || len(b) == 0 {
		return nil, nil
	}
	late := int((b[0].End - a[0].End) / dayLength) // by how many days b begins later
	a, b = a[min(max(late, 0), len(a)):], b[min(max(-late, 0), len(b)):]
	n := min(len(a), len(b))
	return a[:n], b[:n]
}
