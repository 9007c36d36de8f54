package strategytest

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Golden compares a result, such as the *backtest.Result of bot.Backtest, with the text in a file,
// and fails the test with the lines that differ. With the test's flag -update it writes the file
// anew instead; read the difference before you keep it. The flag belongs to the test, once in its
// package:
//
//	var _ = flag.Bool("update", false, "write the golden files anew")
func Golden(t testing.TB, result interface{ Transcript() string }, file string) {
	t.Helper()
	have := result.Transcript()
	if update := flag.Lookup("update"); update != nil && update.Value.String() == "true" {
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		if err = errors.Join(err, os.WriteFile(file, []byte(have), 0o644)); err != nil {
			t.Fatalf("write the golden file: %v", err)
		}
		return
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%s is not there; %s", file, updateHint())
	} else if err != nil {
		t.Fatalf("read the golden file: %v", err)
	}
	want := strings.ReplaceAll(string(text), "\r\n", "\n")
	if lines := difference(want, have); lines != "" {
		t.Fatalf("the result differs from %s (- the file, + this run):\n%s%s", file, lines, updateHint())
	}
}

// updateHint says how the file is written anew.
func updateHint() string {
	if flag.Lookup("update") == nil {
		return "to write it, declare in the test: var _ = flag.Bool(\"update\", false, \"write the golden files " +
			"anew\"), and run go test -update"
	}
	return "go test -update writes it"
}

// shownLines is the number of lines that a difference shows of each side, and contextLines that of
// the equal lines before them.
const (
	shownLines   = 12
	contextLines = 2
)

// difference is the stretch from the first to the last line that differ, with the lines before it;
// empty where both texts are equal.
func difference(want, have string) string {
	if want == have {
		return ""
	}
	old, now := strings.SplitAfter(want, "\n"), strings.SplitAfter(have, "\n")
	from := 0
	for from < min(len(old), len(now)) && old[from] == now[from] {
		from++
	}
	tail := 0
	for tail < min(len(old), len(now))-from && old[len(old)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	var text strings.Builder
	fmt.Fprintf(&text, "line %d:\n", from+1)
	show(&text, "  ", old[max(0, from-contextLines):from])
	show(&text, "- ", old[from:len(old)-tail])
	show(&text, "+ ", now[from:len(now)-tail])
	return text.String()
}

// show writes the first lines, each after a mark.
func show(text *strings.Builder, mark string, lines []string) {
	for i, line := range lines {
		if i == shownLines {
			fmt.Fprintf(text, "%s… and %d more lines\n", mark, len(lines)-i)
			return
		}
		text.WriteString(mark + strings.TrimSuffix(line, "\n") + "\n")
	}
}
