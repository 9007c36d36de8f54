//go:build unix

package runner

import (
	"context"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/internal/bottest"
)

func TestARunWarnsOfAStateFolderThatOthersMayLookInto(t *testing.T) {
	for _, c := range []struct {
		mode fs.FileMode
		open bool
	}{{0o700, false}, {0o750, true}, {0o701, true}} {
		t.Run(c.mode.String(), func(t *testing.T) {
			t.Parallel()
			s := newStage(t, 3, nil)
			require.NoError(t, os.Mkdir(s.Folder, 0o700))
			require.NoError(t, os.Chmod(s.Folder, c.mode))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() {
				ended <- newRunner(s.plan(&wire{traffic: s.traffic, quiet: true}), zerolog.New(&s.log),
					s.options()).serve(ctx)
			}()
			bottest.Await(t, func() bool {
				return strings.Contains(s.log.String(), "trading begins") ||
					len(ended) > 0
			})
			cancel()
			require.NoError(t, <-ended)
			warning := `{"level":"warn","message":"others may read the state folder ` + s.Folder +
				`; do: chmod 700 `
			require.Equal(t, c.open, strings.Contains(s.log.String(), warning), s.log.String())
			info, err := os.Stat(s.Folder)
			require.NoError(t, err)
			require.Equal(t, c.mode, info.Mode().Perm(), "the mode is the owner's to change")
		})
	}
}
