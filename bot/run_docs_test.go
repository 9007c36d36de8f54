package bot_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestThePageOnRunningNamesTestsAndFaultsThatExist(t *testing.T) {
	page, err := os.ReadFile("../docs/running.md")
	require.NoError(t, err)
	var tests strings.Builder
	for _, pattern := range []string{"*_test.go", "../engine/live/*_test.go", "../state/*_test.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			tests.Write(text)
		}
	}
	names := regexp.MustCompile("`(Test[A-Za-z]+)`").FindAllStringSubmatch(string(page), -1)
	require.Greater(t, len(names), 10)
	for _, name := range names {
		require.True(t, strings.Contains(tests.String(), "func "+name[1]+"("), name[1])
	}
	for _, m := range regexp.MustCompile(`(?m)^\t\{"([^"]+)", sandbox\.Fault\{`).FindAllStringSubmatch(tests.String(), -1) {
		name, _, _ := strings.Cut(m[1], ", ") // a row of the page may stand for both, done and not
		if start, _, _ := strings.Cut(m[1], " ("); start == "500" || start == "503" {
			name = start + " …"
		}
		require.Contains(t, string(page), "`"+name, m[1])
	}
}
