package research

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/backtest"
)

// Pace is how fast this machine runs the sets of a job.
type Pace struct {
	Start
	Candles int64 // of a set, over the whole range

	sweep   *sweep
	runs    float64       // seconds for a unit of work, by all workers together
	judging time.Duration // of the statistics, for a set
}

// ErrTimeTooShort says that hardly a set fits into a time.
var ErrTimeTooShort = errors.New("the time is too short")

// The least number of sets that Fit chooses: of any method, and of Sobol, which runs each over the
// whole range. With fewer, Halving tries seven times as many.
const (
	leastSets  = 10
	leastSobol = 100
)

// JudgingTime is the time that the statistics of so many sets take, on the machine of
// docs/performance.md. They are a small part of a search, unless its runs are short.
func JudgingTime(sets, days, workers int) time.Duration {
	const ofADay = 190 * time.Nanosecond
	return ofADay * time.Duration(sets) * time.Duration(days) / time.Duration(max(workers, 1))
}

// Measure runs groups of a job, spread over its sets, for a while. Nothing is kept of them.
func Measure(ctx context.Context, job Job, lasts time.Duration, now func() time.Time) (*Pace, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &Pace{}
	var began time.Time
	job.File, job.Runner, job.Progress, job.Tried, job.Family = "", nil, nil, nil, nil
	job.Began = func(s Start) { p.Start, began = s, now() }
	seconds, part := 0.0, 0.0
	job.Trial = func(done float64, over bool) bool {
		if spent := now().Sub(began); done > 0 && (spent >= lasts || over) {
			seconds, part = spent.Seconds(), done
			cancel()
		}
		return part > 0
	}
	s, err := NewSearcher(job)
	if err != nil {
		return nil, err
	}
	found, err := s.Run(ctx)
	if err == nil {
		err = found.Close()
	}
	if part == 0 {
		return nil, cmp.Or(err, errors.New("measure a search: no set has run"))
	}
	p.sweep = s.base
	p.Candles = int64((p.To - p.From) / max(p.sweep.candle, 1))
	p.runs = seconds / part / p.work(job.Method, p.Sets)
	p.judging = JudgingTime(1, p.Days, job.Workers)
	return p, nil
}

// work is the work of a method over so many sets.
func (p *Pace) work(m Method, sets int) float64 {
	s := &sweep{job: p.sweep.job, from: p.sweep.from, candle: p.sweep.candle, total: sets}
	s.job.Method = m
	first := make([]trial, sets)
	if m == Halving {
		first = trials(make([]uint64, sets), rungs(sets)-1)
	}
	return s.workOf(first).total
}

// Expect is how long a method takes for so many sets.
func (p *Pace) Expect(m Method, sets int) time.Duration {
	return time.Duration(p.runs*p.work(m, sets)*float64(time.Second)) + p.judging*time.Duration(sets)
}

// Fit chooses the method, and the number of its sets, for a time: the job's own with all its sets,
// where they fit. Instead of a grid it takes as many sets as fit by Sobol, or by Halving where
// these are few; of another method fewer sets. The error wraps ErrTimeTooShort.
func (p *Pace) Fit(within time.Duration) (m Method, sets int, err error) {
	job := &p.sweep.job
	if p.Expect(job.Method, p.Sets) <= within {
		return job.Method, job.Sets, nil
	}
	if m = job.Method; m == Grid {
		if m = Sobol; p.most(m, within) < leastSobol {
			m = Halving
		}
	}
	if sets = p.most(m, within); sets < leastSets {
		return m, sets, fmt.Errorf("%w for %d sets of %s candles, which take %s", ErrTimeTooShort, leastSets,
			backtest.Figure(p.Candles).Text(0), p.Expect(m, leastSets).Round(time.Millisecond))
	}
	return m, sets, nil
}

// most is how many sets of a method fit into a time.
func (p *Pace) most(m Method, within time.Duration) int {
	low, high := 0, p.Sets+1
	for high-low > 1 {
		if middle := (low + high) / 2; p.Expect(m, middle) <= within {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// Resume names the file of a job whose method and number of sets are chosen for a time, by all but
// these two. Where an earlier start has begun it, Resume takes its choice and reports so.
func (job *Job) Resume(within time.Duration) (chosen bool, err error) {
	if job.Data != nil {
		if job.Identity.Data, err = job.Data(); err != nil {
			return false, err
		}
	}
	named := *job
	named.identify()
	named.Identity.Method += Method(" within " + within.String())
	job.File = strings.ReplaceAll(job.File, "*", named.Identity.hash()[:8])
	on, err := os.Open(job.File)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("open the sweep's file: %w", err)
	}
	defer on.Close()
	kept, err := Glance(on, nil)
	if err != nil { // it has hardly begun, or opening it to write will say what it is
		return false, nil
	}
	job.Method, job.Sets = kept.Identity.Method, kept.Identity.Sets
	return true, nil
}
