package sandbox

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// docsPage is docs/exchange.md.
func docsPage(t *testing.T) string {
	text, err := os.ReadFile("../../docs/exchange.md")
	require.NoError(t, err)
	return string(text)
}

// permission is a set of permissions in words.
func permission(r right) string {
	var words []string
	for _, one := range []struct {
		right right
		word  string
	}{{rightTrade, "trade"}, {rightRead, "read"}, {rightWithdraw, "withdraw"}} {
		if r&one.right != 0 {
			words = append(words, one.word)
		}
	}
	return strings.Join(words, " and ")
}

// parameters lists those of an endpoint that do not stand in its path; required ones in bold.
func parameters(e *endpoint) string {
	var list []string
	for i := range e.params {
		p := &e.params[i]
		if p.inPath {
			continue
		}
		text := "`" + p.name + "`"
		if p.required {
			text = "**" + text + "**"
		}
		switch {
		case p.kind == kindInteger && p.min > math.MinInt64 && p.max < lastMillis:
			text += fmt.Sprintf(" %d to %d", p.min, p.max)
		case p.kind == kindWord && len(p.words) <= 6:
			text += " (" + strings.Join(p.words, ", ") + ")"
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// requireTable requires a table in docs/exchange.md, which a change of the code may have to be copied to from the failure.
func requireTable(t *testing.T, title string, rows []string) {
	t.Helper()
	table := title + "\n" + strings.Repeat("|---", strings.Count(title, "|")-1) + "|\n" + strings.Join(rows, "\n") + "\n\n"
	require.Contains(t, docsPage(t)+"\n", table, "docs/exchange.md must have this table:\n\n%s", table)
}

func TestTheDocsListEveryEndpoint(t *testing.T) {
	var rows []string
	for i := range listed {
		e := &listed[i]
		weight := fmt.Sprint(e.weight)
		if e.weightAll > 0 {
			weight += fmt.Sprintf(", %d without `market`", e.weightAll)
		}
		rows = append(rows, fmt.Sprintf("| `%s %s` | %s | %s | %s | %s |", e.method, e.path, e.summary, weight, permission(e.needs), parameters(e)))
	}
	requireTable(t, "| endpoint | what | weight | permission | parameters |", rows)
}

func TestTheDocsListEveryAdminEndpoint(t *testing.T) {
	var rows []string
	for i := range adminEndpoints {
		e := &adminEndpoints[i].endpoint
		rows = append(rows, fmt.Sprintf("| `%s /admin%s` | %s | %s |", e.method, e.path, e.summary, parameters(e)))
	}
	requireTable(t, "| endpoint | what | parameters |", rows)
}

func TestTheScriptInTheDocsIsOne(t *testing.T) {
	_, rest, found := strings.Cut(docsPage(t), "```toml\n")
	require.True(t, found)
	script, _, _ := strings.Cut(rest, "```")
	faults, err := ParseFaults([]byte(script))
	require.NoError(t, err)
	require.Len(t, faults, 2)
}
