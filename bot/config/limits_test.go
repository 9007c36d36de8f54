package config

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The two tables of docs/limits.md have each key of [risk] and of [strategies.NAME.risk], and no
// other.
func TestTheTablesOfLimitsHaveEachKey(t *testing.T) {
	text, err := os.ReadFile("../../docs/limits.md")
	require.NoError(t, err)
	_, account, found := strings.Cut(string(text), "\n## Limits of the account\n")
	require.True(t, found)
	account, strategies, found := strings.Cut(account, "\n## Limits of each strategy\n")
	require.True(t, found)
	strategies, _, found = strings.Cut(strategies, "\n## Other refusals\n")
	require.True(t, found)
	require.ElementsMatch(t, sectionKeys(reflect.TypeFor[LimitSection]()), firstCells(strategies))
	require.ElementsMatch(t, sectionKeys(reflect.TypeFor[RiskSection]()), append(firstCells(account),
		firstCells(strategies)...))
}

// sectionKeys lists the keys of a section and of those within it.
func sectionKeys(section reflect.Type) (keys []string) {
	for i := range section.NumField() {
		f := section.Field(i)
		switch key := f.Tag.Get("toml"); {
		case key != "":
			keys = append(keys, key)
		case f.Anonymous:
			keys = append(keys, sectionKeys(f.Type)...)
		}
	}
	return keys
}

// firstCells are the words of the first cells of the rows of a table.
func firstCells(table string) (words []string) {
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for _, word := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(cells[1], -1) {
			words = append(words, word[1])
		}
	}
	return words
}
