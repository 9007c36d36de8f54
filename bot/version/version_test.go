package version

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersionsNameTheRevisionWhereItIsKnown(t *testing.T) {
	require.Equal(t, "devel", Of(nil, false))
	require.Equal(t, "v1.2.3", Of(buildInfo("v1.2.3", "", ""), true))
	require.Equal(t, "devel", Of(buildInfo("(devel)", "", ""), true))
	require.Equal(t, "abc", Of(buildInfo("(devel)", "abc", "false"), true))
	require.Equal(t, "abc+changes", Of(buildInfo("v1.2.3", "abc", "true"), true))
}

func buildInfo(version, revision, modified string) *debug.BuildInfo {
	info := &debug.BuildInfo{Main: debug.Module{Path: Module, Version: version}}
	if revision != "" {
		info.Settings = []debug.BuildSetting{{Key: "vcs.revision", Value: revision},
			{Key: "vcs.modified", Value: modified}}
	}
	return info
}
