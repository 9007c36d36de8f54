package strategytest_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/strategy/strategytest"
)

var _ = flag.Bool("update", false, "the flag that an author's test declares for Golden")

// story is a result in the eyes of Golden.
type story string

func (s story) Transcript() string { return string(s) }

// failing is a test that keeps the message with which it fails.
type failing struct {
	testing.TB
	message string
}

func (f *failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) {
	f.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// golden is the message with which Golden fails; empty: it passes.
func golden(result story, file string) string {
	f, done := &failing{}, make(chan struct{})
	go func() {
		defer close(done)
		strategytest.Golden(f, result, file)
	}()
	<-done
	return f.message
}

func TestAGoldenFileIsComparedLineByLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "testdata", "mine.golden")
	require.Contains(t, golden("a\nb\n", file), "is not there; go test -update writes it")

	require.NoError(t, flag.Set("update", "true"))
	require.Empty(t, golden("a\nb\nc\nd\ne\n", file))
	require.NoError(t, flag.Set("update", "false"))
	require.Empty(t, golden("a\nb\nc\nd\ne\n", file))

	require.Equal(t, "the result differs from "+file+" (- the file, + this run):\n"+
		"line 4:\n  b\n  c\n- d\n+ D\n+ D2\ngo test -update writes it", golden("a\nb\nc\nD\nD2\ne\n", file))
	require.Contains(t, golden("a\n", file), "line 2:\n  a\n- b\n- c\n- d\n- e\n")
	require.Contains(t, golden(story("a\n"+strings.Repeat("x\n", 30)), file), "+ … and 18 more lines")

	require.NoError(t, os.WriteFile(file, []byte("a\r\nb\r\n"), 0o644)) // a checkout on Windows
	require.Empty(t, golden("a\nb\n", file))
}
