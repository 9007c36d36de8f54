package bot

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/version"
)

func TestANewModuleRequiresAReleaseAlone(t *testing.T) {
	of := func(release string) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Path: version.Module, Version: release}}
	}
	require.Empty(t, releasedVersion(of("(devel)"), true))
	require.Empty(t, releasedVersion(of("v0.0.0-2026+dirty"), true))
	require.Equal(t, "v1.2.3", releasedVersion(of("v1.2.3"), true))
}
