package sandbox

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
)

// docsPage is docs/exchange.md.
func docsPage(t *testing.T) string {
	text, err := os.ReadFile("../../docs/exchange.md")
	require.NoError(t, err)
	return string(text)
}

// permission is a set of permissions in words.
func permission(r api.Right) string {
	var words []string
	for _, one := range []struct {
		right api.Right
		word  string
	}{{api.Trade, "trade"}, {api.Read, "read"}, {api.Withdraw, "withdraw"}} {
		if r&one.right != 0 {
			words = append(words, one.word)
		}
	}
	return strings.Join(words, " and ")
}

// parameters lists those of an endpoint that do not stand in its path, or only the required ones;
// these are bold.
func parameters(e *api.Endpoint, all bool) string {
	var list []string
	for i := range e.Params {
		p := &e.Params[i]
		if p.InPath || !all && !p.Required {
			continue
		}
		text := "`" + p.Name + "`"
		if p.Required {
			text = "**" + text + "**"
		}
		switch {
		case p.Kind == api.Integer && p.Min > math.MinInt64 && p.Max < lastMillis:
			text += fmt.Sprintf(" %d to %d", p.Min, p.Max)
		case p.Kind == api.Word && (all || len(p.Words) <= 2):
			text += " (" + strings.Join(p.Words, ", ") + ")"
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// requireTable requires a table in docs/exchange.md, which a change of the code may have to be
// copied to from the failure.
func requireTable(t *testing.T, title string, rows []string) {
	t.Helper()
	table := title + "\n" + strings.Repeat("|---", strings.Count(title, "|")-1) + "|\n" + strings.Join(rows, "\n") +
		"\n\n"
	require.Truef(t, strings.Contains(docsPage(t)+"\n", table), "docs/exchange.md must have this table:\n\n%s", table)
}

func TestTheDocsListEveryEndpoint(t *testing.T) {
	var rows []string
	for i := range listed {
		e := &listed[i]
		weight := fmt.Sprint(e.Weight)
		if e.WeightAll > 0 {
			weight += fmt.Sprintf(", %d without `market`", e.WeightAll)
		}
		rows = append(rows, fmt.Sprintf("| `%s %s` | %s | %s | %s |", e.Method, e.Path, weight, permission(e.Needs),
			parameters(e, false)))
	}
	requireTable(t, "| endpoint | weight | permission | required parameters |", rows)
}

func TestTheDocsListEveryAdminEndpoint(t *testing.T) {
	var rows []string
	for i := range adminEndpoints {
		e := &adminEndpoints[i].Endpoint
		rows = append(rows, fmt.Sprintf("| `%s /admin%s` | %s | %s |", e.Method, e.Path, e.Summary,
			parameters(e, true)))
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
