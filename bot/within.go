package bot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/research"
)

// The part of the time of a search that its measurement takes, with its least and its most; and the
// part that is planned with: a machine is not always as fast.
const (
	measuredPart  = 60
	leastMeasured = time.Second
	mostMeasured  = 10 * time.Second
	plannedPart   = 0.9
)

// checkWithin refuses a time that no search can be fitted to.
func (f *sweepFlags) checkWithin(given bool) error {
	switch {
	case !given:
		return nil
	case f.machines():
		return config.Usagef("--within measures this machine alone; with workers give --method and --sets")
	case f.within <= 0:
		return config.Usagef("--within %s: want a time above zero, like 10m", f.within)
	}
	return nil
}

// fit chooses the method and the number of sets of a search that is to end within a time: those of
// its file, or those that a short measurement says. From here on the search is the same as if both
// had been given.
func (f *sweepFlags) fit(ctx context.Context, a *app, s *search, screen *sweepScreen) error {
	chosen, err := s.job.Resume(f.within)
	if err == nil && !chosen {
		err = f.measure(ctx, s, screen)
	}
	if err != nil {
		return err
	}
	if chosen {
		screen.line("--within %s: an earlier start chose %s", f.within, methodFlags(&s.job))
	}
	s.base, err = a.variants(s.config, s.candles, &s.job) // which has looked at no set of the measurement
	return err
}

// measure is fit for the first start.
func (f *sweepFlags) measure(ctx context.Context, s *search, screen *sweepScreen) error {
	job, began := &s.job, time.Now()
	method, sets := job.Method, job.Sets
	pace, err := research.Measure(ctx, *job, min(max(f.within/measuredPart, leastMeasured), mostMeasured), time.Now)
	if err != nil {
		return err
	}
	screen.line("measured: %s sets × %s candles by %s, expected %s", thousands(pace.Sets), thousands(pace.Candles),
		method, short(pace.Expect(method, pace.Sets)))
	job.Method, job.Sets, err = pace.Fit(time.Duration(plannedPart * float64(f.within-time.Since(began))))
	switch {
	case errors.Is(err, research.ErrTimeTooShort):
		return config.Usagef("--within %s: %w; give more time, a later --from, or longer candles", f.within, err)
	case err != nil:
		return err
	case job.Method == method && job.Sets == sets:
		screen.line("--within %s: all of them fit", f.within)
	default:
		screen.line("--within %s: takes %s, expected %s; the same search again: these flags instead of --within",
			f.within, methodFlags(job), short(pace.Expect(job.Method, job.Sets)))
	}
	return nil
}

// settled is given where the method and the number of sets are chosen: they count as flags.
func (f *sweepFlags) settled(given func(flag string) bool, job *research.Job) func(flag string) bool {
	f.method, f.number = string(job.Method), int64(job.Sets)
	return func(flag string) bool { return given(flag) || flag == "method" || flag == "sets" && job.Sets > 0 }
}

// methodFlags are the method and the number of sets as flags.
func methodFlags(job *research.Job) string {
	if job.Sets == 0 {
		return fmt.Sprintf("--method %s", job.Method)
	}
	return fmt.Sprintf("--method %s --sets %d", job.Method, job.Sets)
}
