package market_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

func TestKeysAreRenamedAtTheirPathsAloneAndEverythingElseStays(t *testing.T) {
	renames := []market.Rename{{Path: "mend", To: "hint"}, {Path: "held.worth", To: "value"}}
	for old, want := range map[string]string{
		`{"mend": "worth",  "held":[{"worth":1.50, "mend":2},{"worth":"\"mend\""}] }`://
		`{"hint": "worth",  "held":[{"value":1.50, "mend":2},{"value":"\"mend\""}] }`,
		`[{"mend":1},{"mend":{"mend":2}}]`: `[{"hint":1},{"hint":{"mend":2}}]`,
		` {} `:                             ` {} `, `7`: `7`, `null`: `null`, `[]`: `[]`,
		`{"held":{"x":{"worth":1}},"worth":1}`: `{"held":{"x":{"worth":1}},"worth":1}`,
	} {
		got, err := market.RenameKeys([]byte("> "), []byte(old), renames)
		require.NoError(t, err)
		require.Equal(t, "> "+want, string(got))
	}
	for _, text := range []string{`{"mend":1,"hint":2}`, `{"hint":1,"mend":2}`} {
		_, err := market.RenameKeys(nil, []byte(text), renames)
		require.ErrorContains(t, err, "stands there under its old and its new name")
	}
	for _, text := range []string{``, `{"mend"`, `{"mend":`, `{"mend":1`, `[1,`, `{mend:1}`} {
		_, err := market.RenameKeys(nil, []byte(text), renames)
		require.Error(t, err, text)
	}
}

func TestASavedPartIsReadUnderTheNamesOfItsVersion(t *testing.T) {
	renamed := []market.Renamed{{Path: "b.new", Was: "old", Since: 2}, {Path: "newest", Was: "newer", Since: 3}}
	type part struct {
		B      struct{ New int }
		Newest int
	}
	var want part
	want.B.New, want.Newest = 1, 2
	for _, text := range []string{
		`{"version":1,"state":{"b":{"old":1},"newer":2}}`,
		`{"version":2,"state":{"b":{"new":1},"newer":2}}`,
		`{"version":3,"state":{"b":{"new":1},"newest":2}}`,
	} {
		var have part
		require.NoError(t, market.ParseSaved([]byte(text), 3, &have, renamed...), text)
		require.Equal(t, want, have)
	}
	for text, wants := range map[string]string{
		`{"version":3,"state":{"newer":2}}`:              `unknown field "newer"`,
		`{"version":1,"state":{"newer":2,"newest":2}}`:   "under its old and its new name",
		`{"version":1,"state":{"b":{"new":1,"old":1}}}`:  "under its old and its new name",
		`{"version":2,"state":{"b":{"old":1}}}`:          `unknown field "old"`,
		`{"version":1,"state":{"newer":2}} {"newer": 2}`: "goes on behind its end",
	} {
		require.ErrorContains(t, market.ParseSaved([]byte(text), 3, &part{}, renamed...), wants, text)
	}
}

func FuzzRenameKeys(f *testing.F) {
	f.Add(`{"a":{"b":[{"c":1}]},"c":"\u0061"}`)
	f.Add(`{"a":1,"z":2}`)
	renames := []market.Rename{{Path: "a", To: "z"}, {Path: "a.b.c", To: "y"}}
	f.Fuzz(func(t *testing.T, text string) {
		renamed, err := market.RenameKeys(nil, []byte(text), renames)
		if err == nil && json.Valid([]byte(text)) {
			require.True(t, json.Valid(renamed), "%q", renamed)
		}
	})
}
