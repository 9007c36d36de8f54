package bot

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestANewModuleRequiresAReleaseAlone(t *testing.T) {
	of := func(version string) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Path: modulePath, Version: version}}
	}
	require.Empty(t, releasedVersion(of("(devel)"), true))
	require.Empty(t, releasedVersion(of("v0.0.0-2026+dirty"), true))
	require.Equal(t, "v1.2.3", releasedVersion(of("v1.2.3"), true))
}
