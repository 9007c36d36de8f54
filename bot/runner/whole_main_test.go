//go:build !raced

package runner_test

import (
	"context"
	"io"
	"os"
	"strings"

	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/bot/runner"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// init gives the tests the whole program. The race lane of .ci/run has none: it would compile what
// the other commands need, and what they do after a bot has ended, one goroutine does.
func init() {
	life = func() {
		bot.Process{Definitions: append(shipped.Definitions(), runner.LifeKinds...)}.Main()
	}
	runner.Command = func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
		return bot.Run(ctx, bot.Process{
			Args: args, Stdin: strings.NewReader(""), Stdout: stdout, Stderr: stderr, Getenv: os.Getenv,
			Definitions: shipped.Definitions(),
		})
	}
}
