package runner_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestThePageOnRunningHasEveryFaultThatIsPlayed(t *testing.T) {
	page, err := os.ReadFile("../../docs/running.md")
	require.NoError(t, err)
	var tests strings.Builder
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		tests.Write(text)
	}
	faults := regexp.MustCompile(`(?m)^\t\{"([^"]+)", fault\.Fault\{`).FindAllStringSubmatch(tests.String(), -1)
	require.Greater(t, len(faults), 10)
	for _, m := range faults {
		name, _, _ := strings.Cut(m[1], ", ") // a row of the page may stand for both, done and not
		if start, _, _ := strings.Cut(m[1], " ("); start == "500" || start == "503" {
			name = start + " …"
		}
		require.Contains(t, string(page), "`"+name, m[1])
	}
}
