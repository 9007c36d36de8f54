package bot_test

import (
	"go/format"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A reader does what docs/start.md says, in a module of its own: it types the commands,
// writes the files and makes the changes.
type reader struct {
	shell   // its program is built from the module as it is now; empty: not yet
	module  *joinedModule
	serving []*process // the exchange, then the bot
}

func TestTheFirstStrategyIsWrittenAsItsPageSays(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector, and this builds a program without it")
	}
	t.Parallel()
	r := &reader{shell: shell{dir: filepath.Join(t.TempDir(), "mine")}}
	blocks := regexp.MustCompile("(?ms)^```(console|go|diff|text)\n(.*?)^```")
	file := regexp.MustCompile("`(mine/\\w+\\.go)`")
	text, at := read(t, "../docs/start.md"), 0
	found := blocks.FindAllStringSubmatchIndex(text, -1)
	require.Greater(t, len(found), 10)
	for _, b := range found {
		kind, block, said := text[b[2]:b[3]], text[b[4]:b[5]], file.FindAllStringSubmatch(text[:b[0]], -1)
		require.NotContains(t, text[at:b[0]], "```", "a block without a kind")
		at = b[1]
		switch kind {
		case "console":
			r.types(t, block)
		case "diff":
			r.changes(t, said[len(said)-1][1], block)
		case "go":
			r.writes(t, said[len(said)-1][1], block)
		}
	}
	require.Len(t, r.serving, 2, "the page starts an exchange and a bot")
	r.serving[1].stop(t)
	r.serving[0].stop(t)
}

// writes a whole file, or finds a part of one in it.
func (r *reader) writes(t *testing.T, file, code string) {
	t.Helper()
	if !strings.HasPrefix(code, "package ") {
		require.Contains(t, r.read(t, file), code, "%s is not as the page shows it", file)
		return
	}
	r.write(t, file, code)
	if !strings.HasSuffix(file, "_test.go") {
		r.program = ""
	}
}

// changes makes the change of a diff, whose old lines have to be in the file once.
func (r *reader) changes(t *testing.T, file, diff string) {
	t.Helper()
	var before, after strings.Builder
	for line := range strings.Lines(diff) {
		if line[0] != '+' {
			before.WriteString(line[1:])
		}
		if line[0] != '-' {
			after.WriteString(line[1:])
		}
	}
	text := r.read(t, file)
	require.Equal(t, 1, strings.Count(text, before.String()), "%s has not once: %s", file, &before)
	r.write(t, file, strings.Replace(text, before.String(), after.String(), 1))
	r.program = ""
	code, err := format.Source([]byte(r.read(t, file)))
	require.NoError(t, err)
	require.Equal(t, string(code), r.read(t, file), "not as gofmt writes it")
}

// types the commands of a block, and compares what they print.
func (r *reader) types(t *testing.T, block string) {
	t.Helper()
	for _, one := range strings.Split("\n"+block, "\n$ ")[1:] {
		command, want, _ := strings.Cut(one, "\n")
		out := ""
		switch words := strings.Fields(command); {
		case words[0] == "cd":
			continue
		case command == "go run ./cmd/bot init ../mine":
			var code int
			var failed string
			code, out, failed = call(t.Context(), "init", r.dir)
			require.Zero(t, code, failed)
			r.module = joinModule(t, r.dir, "mine")
		case command == "go test ./...":
			// vetted by TestANewModuleBuildsAsWritten
			out = r.module.command(t, "test", "-vet=off", "mine", "mine/mine")
		case strings.HasPrefix(command, "go run . "):
			out = r.runs(t, words[3:], want)
		default:
			require.Fail(t, "no test plays it", "%s", command)
		}
		require.Regexp(t, expected(want), squeezed(out), "the page shows another output of %s:\n%s", command, out)
	}
}

// runs the program of the module. The exchange and the bot go on; what they have printed until they
// are ready is returned.
func (r *reader) runs(t *testing.T, words []string, want string) string {
	t.Helper()
	if r.program == "" {
		r.program = filepath.Join(t.TempDir(), "mine")
		r.module.command(t, "build", "-o", r.program, "mine")
	}
	switch words[0] {
	case "exchange":
		r.serving = append(r.serving, r.start(t, "Ctrl-C stops", append(words, "--listen", "127.0.0.1:0")...))
		said := r.serving[0].said.String()
		address := regexp.MustCompile(`http://127.0.0.1:\d+`).FindString(said)
		require.Contains(t, want, "http://127.0.0.1:8080/v2")
		r.write(t, "sandbox.toml", strings.Replace(r.read(t, "sandbox.toml"), "http://127.0.0.1:8080", address, 1))
		return strings.ReplaceAll(said, address, "http://127.0.0.1:8080")
	case "run":
		r.serving = append(r.serving, r.start(t, "trading begins", words...))
		return r.serving[1].said.String()
	}
	out, err := r.command(t, words...).CombinedOutput()
	require.NoError(t, err, "%v: %s", words, out)
	return regexp.MustCompile(`http://127.0.0.1:\d+`).ReplaceAllString(string(out), "http://127.0.0.1:8080")
}

// expected is an output of the page as an expression: … is anything, and blanks are as many as
// there are.
func expected(want string) string {
	return `(?s)^` + strings.ReplaceAll(regexp.QuoteMeta(squeezed(want)), "…", ".*") + `$`
}

// squeezed has one blank wherever there are some, and no blanks around …
func squeezed(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.ReplaceAll(strings.ReplaceAll(text, " …", "…"), "… ", "…")
}
