package bottest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Patience is how long a test waits for something that must happen: a busy machine may stand still
// for half a minute.
const Patience = 3 * time.Minute

// Await waits until holds returns true. It calls holds in the test's own goroutine, so holds may
// fail the test.
func Await(t testing.TB, holds func() bool, what ...any) {
	t.Helper()
	for began := time.Now(); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > Patience {
			require.Fail(t, "this did not come", what...)
		}
	}
}
