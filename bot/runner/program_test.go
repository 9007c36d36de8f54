package runner

import (
	"context"
	"io"
)

// Command runs the program with these arguments and returns its exit code. TestMain sets it: the
// program imports this package, not the other way.
var Command func(ctx context.Context, args []string, stdout, stderr io.Writer) (code int)
