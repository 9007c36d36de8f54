package stats

import (
	"sync"
	"sync/atomic"
)

// inParallel calls work with each number below n, on so many goroutines (at least one). It returns
// the error of the lowest number that has one. work gets the number of its goroutine, for memory
// that calls in turn may share. The order of calls is not fixed: a result must not depend on it.
func inParallel(workers, n int, work func(worker, i int) error) error {
	workers = max(1, min(workers, n))
	var next atomic.Int64
	var failed atomic.Bool
	type failure struct {
		at  int
		err error
	}
	failures := make([]failure, workers)
	run := func(worker int) {
		for !failed.Load() {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			if err := work(worker, i); err != nil {
				failures[worker] = failure{i, err}
				failed.Store(true)
				return
			}
		}
	}
	var beside sync.WaitGroup
	for worker := 1; worker < workers; worker++ {
		beside.Go(func() { run(worker) })
	}
	run(0)
	beside.Wait()
	// Numbers are taken in ascending order, so every number below a failed one was worked on: the
	// lowest failure is the same whatever the goroutines do.
	least := failure{at: n}
	for _, one := range failures {
		if one.err != nil && one.at < least.at {
			least = one
		}
	}
	return least.err
}
