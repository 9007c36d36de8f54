package bot_test

import (
	"encoding/json"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAnEjectedModuleGivesTheSameResult ejects the rules of configs/rules.toml, vets and tests the
// module, and compares all files of its backtest with those of the rules.
func TestAnEjectedModuleGivesTheSameResult(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector, and this builds a program without it")
	}
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "turtle")
	code, out, failed := call(t.Context(), "rules", "eject", "-c", "../configs/rules.toml", "--to", dir, "--module",
		"example.com/turtle")
	require.Zero(t, code, failed)
	require.Contains(t, out, "go run . backtest -c config.toml")
	for _, name := range []string{"main.go", "turtle/strategy.go", "turtle/trade.go", "turtle/figures.go",
		"turtle/report.go", "turtle/known.go", "turtle/strategy_test.go"} {
		text := read(t, dir, name)
		formatted, err := format.Source([]byte(text))
		require.NoError(t, err)
		require.Equal(t, string(formatted), text, name)
	}
	m := joinModule(t, dir, "example.com/turtle")
	m.command(t, "vet", m.path, m.path+"/turtle")
	m.command(t, "test", m.path+"/turtle")
	ours, theirs := filepath.Join(t.TempDir(), "rules"), filepath.Join(t.TempDir(), "go")
	m.command(t, "run", m.path, "backtest", "-c", filepath.Join(dir, "config.toml"), "--out", theirs)
	code, _, failed = call(t.Context(), "backtest", "-c", "../configs/rules.toml", "--out", ours)
	require.Zero(t, code, failed)
	entries, err := os.ReadDir(ours)
	require.NoError(t, err)
	for _, e := range entries {
		want := orderID.ReplaceAllString(read(t, ours, e.Name()), "ID")
		have := orderID.ReplaceAllString(read(t, theirs, e.Name()), "ID")
		switch e.Name() {
		case "config.json", "report.html": // they show the config
			continue
		case "result.json":
			want, have = withoutNames(t, want), withoutNames(t, have)
		}
		theirLines := strings.Split(have, "\n")
		for i, line := range strings.Split(want, "\n") {
			require.Equal(t, line, theirLines[i], "%s, line %d", e.Name(), i+1)
		}
		require.Equal(t, len(want), len(have), e.Name())
	}
	code, _, failed = call(t.Context(), "rules", "eject", "-c", "../configs/rules.toml", "--to", dir)
	require.Equal(t, 1, code)
	require.Contains(t, failed, "config.toml is there already; nothing was written")
}

// orderID is the exchange's id of an order, which follows from the text of the config.
var orderID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

// withoutNames is a result without what names the strategy's kind and parameters, and what is
// computed of the config's text and of the program.
func withoutNames(t *testing.T, text string) string {
	var result map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &result))
	for _, name := range []string{"id", "code_version", "config_hash"} {
		delete(result["run"].(map[string]any), name)
	}
	for _, s := range result["strategies"].([]any) {
		delete(s.(map[string]any), "kind")
		delete(s.(map[string]any), "params")
		delete(s.(map[string]any), "notes") // those of the Go lack near misses
	}
	title := result["title"].(string)
	result["title"] = title[strings.Index(title, " on "):]
	shown, err := json.MarshalIndent(result, "", " ")
	require.NoError(t, err)
	return string(shown)
}

func TestAnEjectionNamesWhatIsMissing(t *testing.T) {
	to := filepath.Join(t.TempDir(), "x")
	two := filepath.Join(t.TempDir(), "two.toml")
	text := "[data]\nsource = \"synthetic\"\n"
	for _, name := range []string{"first", "second"} {
		text += "[strategies." + name + "]\nkind = \"rules\"\nmarkets = [\"BTC-EUR\"]\ninterval = \"1h\"\n" +
			"rules = { entry = 'close > 1', exit_after = 3 }\n"
	}
	require.NoError(t, os.WriteFile(two, []byte(text), 0o644))
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{nil, 64, "no config; name the one with the rules"},
		{[]string{"-c", two}, 64, "no folder for the module"},
		{[]string{"-c", two, "--to", to}, 64, "add --strategy and one of first, second"},
		{[]string{"-c", two, "--to", to, "--strategy", "third"}, 64, "has no rules of that name; it has first, second"},
		{[]string{"-c", "../configs/backtest.toml", "--to", to}, 78, "no strategy stands in it as rules"},
	} {
		code, _, failed := call(t.Context(), append([]string{"rules", "eject"}, c.args...)...)
		require.Equal(t, c.code, code, failed)
		require.Contains(t, failed, c.want)
		require.NoDirExists(t, to)
	}
	code, _, failed := call(t.Context(), "rules", "eject", "-c", two, "--to", to, "--strategy", "second")
	require.Zero(t, code, failed)
	require.Contains(t, read(t, to, "config.toml"), "kind = \"x\"")
	require.Contains(t, read(t, to, "config.toml"), "rules = { entry = 'close > 1', exit_after = 3 }") // first
	require.Contains(t, read(t, to, "main.go"), "shipped.Definitions(), x.Definition)...")
}
