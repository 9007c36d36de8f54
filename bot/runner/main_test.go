package runner_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/bot/runner"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// TestMain runs the tests. A goroutine that outlives them fails them.
func TestMain(m *testing.M) {
	if os.Getenv("TIDEMARK_LIFE") != "" { // a bot of a life, as a process of its own
		bot.Process{Definitions: append(shipped.Definitions(), runner.LifeKinds...)}.Main()
	}
	if f := flag.Lookup("test.parallel"); f != nil { // the command line is read later and has the last word
		// many tests wait for a minute to pass: two cores would let two of them wait at a time
		if err := f.Value.Set("8"); err != nil {
			panic(err)
		}
	}
	runner.Command = func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
		return bot.Run(ctx, bot.Process{
			Args: args, Stdin: strings.NewReader(""), Stdout: stdout, Stderr: stderr, Getenv: os.Getenv,
			Definitions: shipped.Definitions(),
		})
	}
	debug.SetGCPercent(400) // the plays leave much behind: a tenth of the time went into collecting it
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
