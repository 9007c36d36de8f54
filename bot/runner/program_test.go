package runner

import (
	"context"
	"io"

	"github.com/tidemark-trading/tidemark/strategy"
)

// LifeKinds are the strategies of lives, for a bot that is a process of its own.
var LifeKinds = []strategy.Definition{restlessKind, holderKind, quitterKind, requoterKind}

// Command runs the program with these arguments and returns its exit code. TestMain sets it: the
// program imports this package, not the other way.
var Command func(ctx context.Context, args []string, stdout, stderr io.Writer) (code int)
