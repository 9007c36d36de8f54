package tidy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What package initialisation of the bot may cost. Every command pays it, `bot status` as well; the
// goal is 2 ms. Times depend on the machine, so the test counts allocations and bytes, which hardly
// differ from run to run.
const (
	initAllocs      = 120 // of one package that is not in costlyInit
	initBytes       = 20_000
	initAllocsInAll = 4_000 // 3,779 and 551,720 bytes were measured
	initBytesInAll  = 565_000
)

// costlyInit are the packages whose initialisation costs more, with the reason why we pay it.
var costlyInit = map[string]string{
	"github.com/prometheus/procfs":                      "patterns of /proc files; linked by the client of Prometheus",
	"github.com/prometheus/client_golang/prometheus":    "descriptions of the metrics of the Go runtime",
	"github.com/shopspring/decimal":                     "its table of powers of ten",
	"github.com/klauspost/compress/flate":               "its tables of codes; linked by parquet-go beside snappy",
	"google.golang.org/protobuf/internal/encoding/json": "its patterns of numbers; linked by parquet-go",
	"codeberg.org/go-latex/latex/mtex/symbols":          "mathematical symbols; linked by gonum's canvas for PNG",

	"github.com/tidemark-trading/tidemark/strategy/shipped": "the definitions of eleven strategies",
}

func TestPackageInitialisationStaysCheap(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the list was made on Linux: other systems link other packages")
	}
	bot := filepath.Join(t.TempDir(), "bot")
	run(t, nil, "go", "build", "-ldflags=-s -w", "-o", bot, "./cmd/bot")
	trace := run(t, []string{"GODEBUG=inittrace=1"}, bot, "version")
	line := regexp.MustCompile(`(?m)^init (\S+) @.* clock, (\d+) bytes, (\d+) allocs$`)
	allBytes, allAllocs, seen := 0, 0, map[string]bool{}
	for _, m := range line.FindAllStringSubmatch(trace, -1) {
		bytes, err := strconv.Atoi(m[2])
		require.NoError(t, err)
		allocs, err := strconv.Atoi(m[3])
		require.NoError(t, err)
		allBytes, allAllocs = allBytes+bytes, allAllocs+allocs
		costly := bytes > initBytes || allocs > initAllocs
		seen[m[1]] = costly
		if costly && costlyInit[m[1]] == "" {
			t.Errorf("%s: its initialisation makes %d allocations of %d bytes in every start of the bot. "+
				"If it is ours, make its variables where they are used. Else `go mod why` shows who imports it: "+
				"import a smaller package, or list it in costlyInit with the reason",
				m[1], allocs, bytes)
		}
	}
	require.Greater(t, len(seen), 50, "the trace has a line for each package:\n%s", trace)
	for name := range costlyInit {
		require.True(t, seen[name], "%s is not costly any more: take it off costlyInit", name)
	}
	if allBytes > initBytesInAll || allAllocs > initAllocsInAll {
		t.Errorf("package initialisation makes %d allocations of %d bytes, more than %d of %d: "+
			"`GODEBUG=inittrace=1 bot version` shows the part of each package",
			allAllocs, allBytes, initAllocsInAll, initBytesInAll)
	}
}

// run runs a command to its end and returns what it printed.
func run(t *testing.T, environment []string, name string, args ...string) string {
	atRoot()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.WaitDelay = time.Second
	cmd.Env = append(os.Environ(), environment...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %v: %s", name, args, out)
	return string(out)
}
