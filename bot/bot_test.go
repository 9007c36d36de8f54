package bot_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/bot/mcp/sdk"
	"github.com/tidemark-trading/tidemark/research/machines/farm"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// TestMain runs the tests, or the program itself where a test starts that as a child. A goroutine
// that outlives the tests fails them.
func TestMain(m *testing.M) {
	// With -race every process waits for a second before it exits, for a race that is just about to
	// be seen. A tenth does for hundreds of children.
	if _, set := os.LookupEnv("GORACE"); !set {
		must(os.Setenv("GORACE", "atexit_sleep_ms=100"))
	}
	if f := flag.Lookup("test.parallel"); f != nil { // the command line is read later and has the last word
		// many tests wait for a process or for a minute to pass: two cores would let two of them
		// wait at a time
		must(f.Value.Set("8"))
	}
	testscript.Main(leakless{m}, map[string]func(){"bot": func() { bot.Main(shipped.Definitions()...) },
		"flipper": flipper,
		"bot-farm": func() {
			bot.Process{Definitions: shipped.Definitions(), Farm: farm.Farm{}, Assistant: sdk.Server{}}.Main()
		},
		"faultybot": bot.FaultyMain, "barehandler": bareHandler})
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// leakless runs tests and then looks for goroutines that they have left behind.
type leakless struct{ *testing.M }

// Run returns the exit code.
func (l leakless) Run() int {
	// of this process, not of children: the plays leave much behind, a tenth of the time went into
	// collecting it
	debug.SetGCPercent(400)
	code := l.M.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}

// TestCommandsDoWhatTheTranscriptsSay runs the transcripts of testdata/script. Beside testscript's
// own commands they know `exits CODE COMMAND…`, which wants that very code, `flip FILE`, which
// damages a store, `livestate FOLDER`, which leaves there what a bot that ran does, `momentum FILE
// SHARE`, which makes up candles, and `awaits FILE TEXT`, which waits until a command beside it has
// written the text. With -short, which is
// for the race detector, it runs transcripts of commands with goroutines.
func TestCommandsDoWhatTheTranscriptsSay(t *testing.T) {
	t.Parallel()
	p := testscript.Params{
		Dir: "testdata/script", RequireExplicitExec: true, RequireUniqueNames: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "flip": flip,
			"livestate": liveState, "awaits": awaits, "momentum": momentum},
	}
	if testing.Short() {
		p.Dir = ""
		for _, name := range []string{"direct", "exchange", "operate"} {
			p.Files = append(p.Files, filepath.Join("testdata", "script", name+".txtar"))
		}
	}
	testscript.Run(t, p)
}

func exits(ts *testscript.TestScript, negated bool, args []string) {
	want, err := strconv.Atoi(args[0])
	if err != nil || negated {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var failed *exec.ExitError
		if !errors.As(err, &failed) {
			ts.Fatalf("%v", err)
		}
		code = failed.ExitCode()
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d\n%s", code, want, ts.ReadFile("stderr"))
	}
}

// awaits waits until a file has a text.
func awaits(ts *testscript.TestScript, negated bool, args []string) {
	if len(args) != 2 || negated {
		ts.Fatalf("usage: awaits FILE TEXT")
	}
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		if err == nil && strings.Contains(string(text), args[1]) {
			return
		}
		if time.Since(began) > time.Minute {
			ts.Fatalf("%s has no %q after a minute: %s", args[0], args[1], text)
		}
	}
}

// momentum writes three years of made-up days, as CSV. A share of a usual day's move goes where the
// moves of the twenty days before went.
func momentum(ts *testscript.TestScript, _ bool, args []string) {
	const day, usual = 86_400_000, 0.03
	share, err := strconv.ParseFloat(args[1], 64)
	ts.Check(err)
	var rows bytes.Buffer
	random, went, open := rand.New(rand.NewPCG(1, 1)), 0.0, 20_000.0
	for n := range int64(1100) {
		move := usual * (share*math.Copysign(1, went) + random.NormFloat64())
		went += (move - went) / 20
		end := open * math.Exp(move)
		fmt.Fprintf(&rows, "%d,%.2f,%.2f,%.2f,%.2f,1000\n", 1_609_459_200_000+n*day, open, max(open, end)*1.001,
			min(open, end)*0.999, end)
		open = math.Round(end*100) / 100
	}
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(args[0])), 0o755))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), rows.Bytes(), 0o644))
}

// flip damages every page of a candle store but the first two, which say where the others are.
func flip(ts *testscript.TestScript, _ bool, args []string) {
	const page = 4096
	path := ts.MkAbs(args[0])
	data, err := os.ReadFile(path)
	ts.Check(err)
	for start := 2 * page; start < len(data); start += page {
		for i := start + 256; i < start+1024; i++ {
			data[i] ^= 0x5a
		}
	}
	ts.Check(os.WriteFile(path, data, 0o644))
}
