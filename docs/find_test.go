package docs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEverySectionIsFoundByItsName(t *testing.T) {
	seen := map[string]bool{}
	all := Sections()
	require.Greater(t, len(all), 200, "the search found too few sections to be right")
	for i := range all {
		name := all[i].Name()
		found := named(all, name)
		require.NotEmpty(t, found, name)
		require.Equal(t, name, found[0].Name())
		seen[name] = true
	}
	for _, name := range [...]string{"strategies.md", "limits.md#other-refusals", "live.toml#risk"} {
		require.True(t, seen[name], name)
		require.Equal(t, name, Find("docs/" + name).Found[0].Name())
	}
}

func TestAPhraseOfTheIndexIsOfOneTopicAndLeadsToItsSections(t *testing.T) {
	topics, all := Topics(), Sections()
	require.Greater(t, len(topics), 30)
	for _, row := range topics {
		for phrase := range strings.SplitSeq(row[0], ",") {
			require.Equal(t, row, topicOf(asked(phrase)), phrase)
		}
		links := targets(row[1])
		require.NotEmpty(t, links, row)
		for _, target := range links {
			require.NotEmpty(t, named(all, target), target)
		}
	}
}

func TestAQuestionFindsTheTopicInside(t *testing.T) {
	require.Equal(t, Find("trailing stop").Topic, Find("How do I set a trailing stop?").Topic)
	require.Nil(t, Find("xyzzy").Topic)
}

func TestTheRowAboutAWordComesFirst(t *testing.T) {
	for _, c := range [...]struct{ words, first string }{
		{"max_daily_loss", "limits.md#limits-of-the-account"}, {"too_small", "limits.md#other-refusals"},
		{"max drawdown", "limits.md#limits-of-the-account"},
		{"OnUnprotected", "strategies.md#answers-to-an-ask"}, {"warm_up", "limits.md#other-refusals"},
	} {
		require.Equal(t, c.first, Find(c.words).Found[0].Name(), c.words)
	}
}

func TestAPageIsSplitAtHeadingsItemsRowsAndCode(t *testing.T) {
	page := "# Top\n\nOne\nline.\n\n| a | b |\n|---|---|\n| `x\\|y` | 2 |\n\n## Low: er\n\n- i\n  j\n- k\n\n" +
		"```go\na\n\nb\n```\n"
	top := Section{Page: "p.md", Title: "Top", Above: []string{}, Blocks: []Block{{Text: "One line."},
		{Head: []string{"a", "b"}, Row: []string{"`x|y`", "2"}}}}
	low := Section{Page: "p.md", Title: "Low: er", Above: []string{"Top"}, Blocks: []Block{{Text: "i j", Item: true},
		{Text: "k", Item: true}, {Text: "a\n\nb\n", Code: true}}}
	require.Equal(t, []Section{top, low}, sections("p.md", page))
	require.Equal(t, "p.md#low-er", low.Name())
}

func TestUnlinkedKeepsTheTextsOfLinks(t *testing.T) {
	require.Equal(t, "a b, [c] `d[0]`", Unlinked("a [b](x.md#y), [c] `d[0]`"))
	require.Equal(t, []string{"x.md#y", "z"}, targets("a [b](x.md#y), [c](z)"))
}
