package placebo

import (
	"context"
	"errors"
	"math"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/walkforward"
)

// WalkForward is the Procedure of a walk-forward: its theta is that of the stitched test days. The
// data is walked as by walkforward.Walk.Run, with the job's file and its reports; surrogates are
// walked in memory. The job's functions need not be safe for several goroutines.
func WalkForward(job research.Job, config walkforward.Config) Maker {
	own := apart(job)
	return func(workers int, note func(*backtest.Plan) error) (Procedure, error) {
		w, err := walkforward.New(own(workers, note), config)
		return forward{w}, err
	}
}

// forward is the Procedure of a walk-forward.
type forward struct{ *walkforward.Walk }

// Run walks.
func (f forward) Run(ctx context.Context, alter func(*backtest.Plan)) (Chosen, error) {
	spans := f.Spans()
	c := Chosen{Theta: math.Inf(-1), Sharpe: math.NaN(), Tries: f.Sets(), Reads: spans[0].From,
		To: spans[len(spans)-1].To}
	if alter != nil {
		r, err := f.Again(ctx, alter)
		if r.Found {
			c.Theta = r.Excess
		}
		return c, err
	}
	o, err := f.Walk.Run(ctx)
	if errors.Is(err, walkforward.ErrNothing) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	c.From, c.Days, c.Sharpe = market.Time(o.Stitched.From), o.Stitched.Days, float64(o.Stitched.Sharpe)
	if o.Stitched.PSR.Missing == "" {
		c.Theta = float64(o.Stitched.Excess)
	}
	return c, nil
}
