package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// benchmarks is a bench table whose figures are fixed. Its work tree has BenchmarkRows; a revision
// without it gets ours.
const benchmarks = `package tidemark_test

import (
	"bytes"
	"fmt"
	"testing"
)

type table struct {
	b    *testing.B
	text bytes.Buffer
}

func (t *table) row(name, figure string) {
	fmt.Fprintf(&t.text, "\n| %s | floor 1 ns | %s | 2× | ≤ 3× |", name, figure)
}

func (t *table) loop() {
	t.row("candle", candle)
	t.row("order", "50 ns")
}

func (t *table) resting() {}
func (t *table) store()   { t.row("replay", "3 ns") }
func (t *table) live()    {}

func BenchmarkTable(b *testing.B) { b.Fatal("the whole table is too slow") }
`

// repository makes a git repository in a new folder, with one commit of the files, and makes it the
// current folder.
func repository(t *testing.T, files map[string]string) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	// Flags about modules are not for this one. The others stay: what was compiled with them is not
	// compiled again.
	t.Setenv("GOFLAGS", strings.Join(slices.DeleteFunc(strings.Fields(os.Getenv("GOFLAGS")), func(flag string) bool {
		return strings.HasPrefix(flag, "-mod")
	}), " "))
	t.Setenv("GOWORK", "off")
	t.Chdir(t.TempDir())
	write(t, files)
	git(t, "init", "--quiet")
	git(t, "add", ".")
	git(t, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "-m", "first")
}

func write(t *testing.T, files map[string]string) {
	for name, text := range files {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
}

func git(t *testing.T, args ...string) string {
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.WaitDelay = time.Minute
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "git %v: %s", args, out)
	return string(out)
}

func TestASlowerWorkTreeIsFoundAndLeftAsItWas(t *testing.T) {
	repository(t, map[string]string{
		"go.mod": "module tidemark.test/tiny\n\ngo 1.26\n", "bench_test.go": benchmarks,
		"figures_test.go": "package tidemark_test\n\nconst candle = \"100 ns\"\n",
	})
	t.Setenv("TMPDIR", t.TempDir())
	write(t, map[string]string{
		"figures_test.go": "package tidemark_test\n\nconst candle = \"110 ns\"\n",
		"rows_test.go":    string(olderRows), // the work tree has the benchmark itself
	})
	before := git(t, "status", "--porcelain")

	var out, errs bytes.Buffer
	args := []string{"HEAD", "--pairs", "5", "--rows", "^(candle|order|replay)$"}
	code := execute(t.Context(), args, &out, &errs)
	require.Equal(t, exitFailed, code, "%s%s", out.String(), errs.String())
	table := regexp.MustCompile(" +").ReplaceAllString(out.String(), " ")
	require.Contains(t, table, "| candle | ns | 100 | 110 | 1.100 | 1.100 to 1.100 | slower |")
	require.Contains(t, table, "| order | ns | 50 | 50 | 1.000 | 1.000 to 1.000 | ok |")
	require.Contains(t, table, "| replay | ns | 3 | 3 | 1.000 | 1.000 to 1.000 | ok |")
	require.Contains(t, table, ", changed\n")

	require.Equal(t, before, git(t, "status", "--porcelain"))
	require.Equal(t, 1, strings.Count(git(t, "worktree", "list"), "\n"), "the linked tree is gone")
	left, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "ab-*"))
	require.NoError(t, err)
	require.Empty(t, left)

	out.Reset()
	args = []string{"HEAD", "HEAD", "--pairs", "5", "--rows", "^order$"}
	require.Zero(t, execute(t.Context(), args, &out, &errs), errs.String())
	require.NotContains(t, out.String(), "candle")
}

func TestAnUnknownRevisionIsAnError(t *testing.T) {
	repository(t, map[string]string{"go.mod": "module tidemark.test/tiny\n"})
	var out, errs bytes.Buffer
	require.Equal(t, exitFailed, execute(t.Context(), []string{"nothing"}, &out, &errs))
	require.Contains(t, errs.String(), "find revision nothing")
	require.Empty(t, out.String())
}

func TestAPatternThatNoRowMatchesIsAnError(t *testing.T) {
	repository(t, map[string]string{"go.mod": "module tidemark.test/tiny\n"})
	var out, errs bytes.Buffer
	require.Equal(t, exitFailed, execute(t.Context(), []string{"HEAD", "--rows", "nonsense"}, &out, &errs))
	require.Contains(t, errs.String(), `no row matches "nonsense"`)
}
