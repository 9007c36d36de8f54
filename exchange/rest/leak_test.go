package rest

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs the tests. A goroutine that outlives them fails them.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
