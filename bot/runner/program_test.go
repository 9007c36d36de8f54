package runner

import (
	"context"
	"io"
	"testing"

	"github.com/tidemark-trading/tidemark/strategy"
)

// LifeKinds are the strategies of lives, for a bot that is a process of its own.
var LifeKinds = []strategy.Definition{restlessKind, holderKind, quitterKind, requoterKind}

// Command runs the program with these arguments and returns its exit code; nil: the program is not
// there. It is set from outside: the program imports this package, not the other way.
var Command func(ctx context.Context, args []string, stdout, stderr io.Writer) (code int)

// needsProgram skips a test where the program is not there.
func needsProgram(t *testing.T) {
	if Command == nil {
		t.Skip("the whole program is not built in: -tags raced")
	}
}
