package risk

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the tables of docs/limits.md anew; a person reads the difference")

func TestEachReasonOfARefusalStandsInTheDocument(t *testing.T) {
	text, err := os.ReadFile("../docs/limits.md")
	require.NoError(t, err)
	names := map[string]bool{"": true}
	for r := Reason(1); r < reasons; r++ {
		require.False(t, names[r.String()], "reason %d is named %q, as another one", r, r)
		names[r.String()] = true
		require.Equal(t, r, reasonNamed(r.String()))
		require.Contains(t, string(text), "`"+r.String()+"`", "docs/limits.md says nothing of this reason")
	}
}

// The two tables of limits are written from the rules.
func TestTheTablesOfTheDocumentAreThoseOfTheRules(t *testing.T) {
	text, err := os.ReadFile("../docs/limits.md")
	require.NoError(t, err)
	parts := strings.Split(string(text), "|---|---|---|---|---|\n")
	require.Len(t, parts, 3)
	first := slices.IndexFunc(rules[:], func(r Rule) bool { return r.strategy != nil })
	for at, of := range [][]Rule{rules[:first], rules[first:]} {
		table := ""
		for _, r := range of {
			table += "| `" + r.Key + "` | " + r.Doc + " |\n"
		}
		is, rest, _ := strings.Cut(parts[at+1], "\n\n")
		if parts[at+1] = table + "\n" + rest; !*update {
			require.Equal(t, table, is+"\n", "go test ./risk -run Tables -update writes it")
		}
	}
	if *update {
		all := strings.Join(parts, "|---|---|---|---|---|\n")
		require.NoError(t, os.WriteFile("../docs/limits.md", []byte(all), 0o644))
	}
}
