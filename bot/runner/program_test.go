package runner

import (
	"bytes"
	"context"
	"io"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/strategy"
)

// LifeKinds are the strategies of lives, for a bot that is a process of its own.
var LifeKinds = []strategy.Definition{restlessKind, holderKind, quitterKind, requoterKind}

// Command runs the program with these arguments and returns its exit code; nil: the program is not
// there. It is set from outside: the program imports this package, not the other way.
var Command func(ctx context.Context, args []string, stdout, stderr io.Writer) (code int)

// asked runs the program on the stage's state file, and returns what it prints. Where the program
// is not there, the test ends: its goroutines have met by then.
func (s *stage) asked(args ...string) string {
	if Command == nil {
		s.T.Skip("the whole program is not built in: -tags raced")
	}
	var out, errs bytes.Buffer
	code := Command(s.T.Context(), append(args, "--state", s.Folder), &out, &errs)
	require.Zero(s.T, code, errs.String())
	return out.String()
}
