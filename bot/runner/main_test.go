package runner_test

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"testing"

	"go.uber.org/goleak"
)

// life is a bot of a life, as a process of its own.
var life func()

// TestMain runs the tests. A goroutine that outlives them fails them.
func TestMain(m *testing.M) {
	if os.Getenv("TIDEMARK_LIFE") != "" {
		life()
	}
	if f := flag.Lookup("test.parallel"); f != nil { // the command line is read later and has the last word
		// many tests wait for a minute to pass: two cores would let two of them wait at a time
		if err := f.Value.Set("8"); err != nil {
			panic(err)
		}
	}
	debug.SetGCPercent(400) // the plays leave much behind: a tenth of the time went into collecting it
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
