package runner_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each fault that the tests play has its words in the table of faults, in the first column.
func TestThePageOnRecoveryHasEveryFaultThatIsPlayed(t *testing.T) {
	page, err := os.ReadFile("../../docs/recovery.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(page), "| fault | what the bot does |\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	var told strings.Builder
	for row := range strings.SplitSeq(table, "\n") {
		told.WriteString(strings.Split(row, "|")[1] + ";")
	}
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
	code := regexp.MustCompile(`^5\d\d \((\d+)\)`)
	for _, m := range faults {
		name, _, _ := strings.Cut(m[1], ", ") // a row may stand for both, done and not
		if number := code.FindStringSubmatch(m[1]); number != nil {
			name = number[1]
		}
		require.Regexp(t, `(^|[ (;])`+regexp.QuoteMeta(name)+`[ ,;:)]`, told.String(), m[1])
	}
}
