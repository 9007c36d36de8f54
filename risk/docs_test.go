package risk

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEachReasonOfARefusalStandsInTheDocument(t *testing.T) {
	text, err := os.ReadFile("../docs/limits.md")
	require.NoError(t, err)
	for r := Reason(1); r < reasons; r++ {
		require.Contains(t, string(text), "`"+r.String()+"`", "docs/limits.md says nothing of this reason")
	}
}
