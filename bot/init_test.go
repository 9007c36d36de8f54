package bot_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// call runs the program in this process.
func call(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, failed bytes.Buffer
	code = bot.Run(ctx, bot.Process{Args: args, Stdin: bytes.NewReader(nil), Stdout: &out, Stderr: &failed,
		Getenv: func(string) string { return "" }, Definitions: shipped.Definitions()})
	return code, out.String(), failed.String()
}

// TestANewModuleBuildsAsWritten vets all packages of a module whose path is not the name of its
// folder, and README.md's program in it. TestTheFirstStrategyIsWrittenAsItsPageSays runs the tests
// and the program of a new module.
func TestANewModuleBuildsAsWritten(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector, and this builds a program without it")
	}
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "mybot")
	code, out, failed := call(t.Context(), "init", dir, "--module", "example.com/you/mybot")
	require.Zero(t, code, failed)
	require.Contains(t, out, "go test ./...")
	require.Contains(t, read(t, dir, "main.go"), "bot.Main(mybot.Definition)")

	require.NoError(t, os.Mkdir(filepath.Join(dir, "readme"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "readme", "main.go"), []byte(programOfTheReadme(t)), 0o644))
	m := joinModule(t, dir, "example.com/you/mybot")
	m.command(t, "vet", m.path, m.path+"/mybot", m.path+"/readme")
}

// A joinedModule is a module that bot init has made, built as a dependency of this checkout, whose
// packages are compiled already. For the module itself Tidemark is a dependency with a version:
// -trimpath writes that into a package, so all of them would be compiled and vetted again. The
// files of the module stay as they are.
type joinedModule struct {
	path  string
	flags string // for GOFLAGS
}

// joinModule first resolves all packages, and those of tests, by the module's own go.mod and
// go.sum.
func joinModule(t *testing.T, dir, path string) *joinedModule {
	t.Helper()
	goCommand(t, dir, "", "list", "-deps", "-test", "./...")
	beside := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(beside, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		return file
	}
	// the checkout requires these modules too; a second list would make Go look for the go.mod of
	// modules that no package is from
	bare := write("bare.mod", "module "+path+"\n\ngo 1.26.0\n")
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(dir, "go.mod"): bare}})
	require.NoError(t, err)
	write("go.sum", read(t, "..", "go.sum"))
	mod := write("go.mod", read(t, "..", "go.mod")+"\nrequire "+path+" v0.0.0\n\nreplace "+path+" => "+dir+"\n")
	return &joinedModule{path, "-modfile=" + mod + " -overlay=" + write("overlay.json", string(overlay))}
}

// command runs go with packages of the module.
func (m *joinedModule) command(t *testing.T, args ...string) string {
	t.Helper()
	return goCommand(t, "..", m.flags, args...)
}

// programOfTheReadme is the strategy that README.md shows.
func programOfTheReadme(t *testing.T) string {
	_, after, found := strings.Cut(read(t, "..", "README.md"), "```go\n")
	require.True(t, found)
	program, _, _ := strings.Cut(after, "```")
	require.Contains(t, program, "bot.Main(")
	return program
}

// goCommand runs go in a folder, with more flags than those of this test run. Those stay, so that
// what it has compiled is not compiled again. A program without tables for debuggers is linked in
// half the time.
func goCommand(t *testing.T, dir, flags string, args ...string) string {
	t.Helper()
	c := minutes(t, "go", args...)
	c.Dir, c.Env = dir, append(os.Environ(), "GOPROXY=off", "GOWORK=off", "GOFLAGS="+os.Getenv("GOFLAGS")+
		" -ldflags=-w "+flags)
	out, err := c.CombinedOutput()
	require.NoError(t, err, "go %v: %s", args, out)
	return string(out)
}

func read(t *testing.T, elements ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(elements...))
	require.NoError(t, err)
	return string(text)
}

func TestTheFolderOfACheckoutMayHaveAnyName(t *testing.T) {
	checkout := filepath.Join(t.TempDir(), `it's "our" folder`)
	require.NoError(t, os.MkdirAll(filepath.Join(checkout, "bot"), 0o755))
	for name, text := range map[string]string{"go.mod": "module github.com/tidemark-trading/tidemark\n\ngo 1.26.0\n",
		"go.sum": "", "bot/bot.go": "package bot\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(checkout, name), []byte(text), 0o644))
	}
	dir := filepath.Join(t.TempDir(), "my bot")
	code, out, failed := call(t.Context(), "init", dir, "--module", "mybot", "--replace", checkout)
	require.Zero(t, code, failed)
	require.Contains(t, out, "cd '"+dir+"'")
	require.Contains(t, goCommand(t, dir, "", "mod", "edit", "-json"), strconv.Quote(checkout)[1:])
}

func TestANewModuleOverwritesNothing(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte("mine"), 0o644))
	code, _, failed := call(t.Context(), "init", dir, "--module", "mybot")
	require.Equal(t, 1, code)
	require.Contains(t, failed, "main.go is there already; nothing was written")
	require.Equal(t, "mine", read(t, dir, "main.go"))
	require.NoFileExists(t, filepath.Join(dir, "go.mod"))
}

// Go ignores a folder that is called testdata, or whose name begins with _ or a dot.
func TestThePackageOfANewModuleIsNoneThatGoIgnores(t *testing.T) {
	for name, folder := range map[string]string{"testdata": "mytestdata", "_mine": "mine", "TestData": "mytestdata"} {
		dir := t.TempDir()
		code, _, failed := call(t.Context(), "init", filepath.Join(dir, name))
		require.Zero(t, code, failed)
		require.FileExists(t, filepath.Join(dir, name, folder, "strategy_test.go"))
	}
}

func TestANewModuleNeedsANameAndACheckout(t *testing.T) {
	for _, name := range []string{"a b", "-x", "x/", "/x", "x/../y", ".x", "x.", "x\ny", "fmt", "go/x", "x/con",
		"NUL.x", "lpt1"} {
		code, _, failed := call(t.Context(), "init", t.TempDir(), "--module", name)
		require.Equal(t, 64, code, name)
		require.Contains(t, failed, "is no name for a module")
	}
	code, _, failed := call(t.Context(), "init", filepath.Join(t.TempDir(), "x"), "--replace", t.TempDir())
	require.Equal(t, 64, code)
	require.Contains(t, failed, "--replace")
}

// The templates have the modules that a new module needs. After a change of go.mod, write them anew
// with: go test ./bot -run Tidy -update
func TestTheGoModOfANewModuleIsTidy(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector, and this builds a program without it")
	}
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "mine")
	code, _, failed := call(t.Context(), "init", dir)
	require.Zero(t, code, failed)
	ours := read(t, "..", "go.mod")
	for _, line := range regexp.MustCompile(`\t(\S+ v\S+)`).FindAllStringSubmatch(read(t, dir, "go.mod"), -1) {
		require.Contains(t, ours, "\t"+line[1], "a version that is not that of this checkout")
	}
	before := read(t, dir, "go.mod")
	c := bottest.Short(t, "go", "mod", "tidy")
	c.Dir, c.Env = dir, append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := c.CombinedOutput()
	if strings.Contains(string(out), "disabled by GOPROXY=off") {
		t.Skip("some modules are not on this machine: go mod download all")
	}
	require.NoError(t, err, "%s", out)
	mod, sum := read(t, dir, "go.mod"), read(t, dir, "go.sum")
	if flag.Lookup("update").Value.String() == "true" {
		listed := regexp.MustCompile(`(?s)require \(.*?\n\)`)
		text := listed.ReplaceAllLiteralString(read(t, "template", "go.mod.tmpl"), listed.FindString(mod))
		require.NoError(t, os.WriteFile("template/go.mod.tmpl", []byte(text), 0o644))
		require.NoError(t, os.WriteFile("template/go.sum.tmpl", []byte(sum), 0o644))
		return
	}
	require.Equal(t, before, mod)
	require.Equal(t, read(t, "template", "go.sum.tmpl"), sum)
}
