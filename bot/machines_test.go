package bot

import (
	"debug/buildinfo"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/version"
)

func TestAFarmProgramOfAnotherVersionIsRefused(t *testing.T) {
	own, err := os.Executable()
	require.NoError(t, err)
	info, err := buildinfo.ReadFile(own)
	require.NoError(t, err)
	require.NoError(t, sameVersion(own, version.Of(info, true)))
	require.ErrorContains(t, sameVersion(own, "v9.9.9"), "and this program is v9.9.9; build both from one checkout")
	require.ErrorContains(t, sameVersion("machines_test.go", "v1"), "read the version of machines_test.go")
}
