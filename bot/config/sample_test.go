package config

import (
	"os"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// keys lists the keys of a section's struct, each with a tab before it.
func keys(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		name, kind := f.Tag.Get("toml"), f.Type
		if kind.Kind() == reflect.Map || kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		switch {
		case name == "":
		case kind.Kind() == reflect.Struct:
			names = append(names, keys(kind)...)
		case f.Type.Kind() != reflect.Map:
			names = append(names, name)
		}
	}
	return names
}

func TestTheSampleConfigShowsEveryKey(t *testing.T) {
	text, err := os.ReadFile("../../configs/backtest.toml")
	require.NoError(t, err)
	for _, key := range keys(reflect.TypeFor[Backtest]()) {
		require.Regexp(t, `(?m)^(# )?`+key+` = `, string(text))
	}
}

func TestTheSampleRunsShowEveryKey(t *testing.T) {
	var text string
	for _, name := range []string{"sandbox", "paper", "live"} {
		one, err := os.ReadFile("../../configs/" + name + ".toml")
		require.NoError(t, err)
		text += string(one)
	}
	for _, key := range append(keys(reflect.TypeFor[Run]()), "EUR") {
		require.Regexp(t, `(?m)^(# )?`+key+` = `, text)
	}
}

func TestTheSampleExchangeShowsEveryKey(t *testing.T) {
	text, err := os.ReadFile("../../configs/exchange.toml")
	require.NoError(t, err)
	names := keys(reflect.TypeFor[Sandbox]())
	require.Greater(t, len(names), 70)
	for _, key := range names {
		require.Regexp(t, `(?m)^(# )?`+key+` = `, string(text))
	}
}

func TestTheSampleRecordShowsEveryKey(t *testing.T) {
	text, err := os.ReadFile("../../configs/record.toml")
	require.NoError(t, err)
	for _, key := range keys(reflect.TypeFor[RecordConfig]()) {
		require.Regexp(t, `(?m)^(# )?`+key+` = `, string(text))
	}
	source := &Source{File: "record.toml", Text: string(text)}
	_, err = LoadRecord(source)
	require.NoError(t, err)
}

func TestTheSampleWatchShowsEveryKey(t *testing.T) {
	text, err := os.ReadFile("../../configs/watch.toml")
	require.NoError(t, err)
	for _, key := range keys(reflect.TypeFor[WatchConfig]()) {
		require.Regexp(t, `(?m)^(# )?`+key+` = `, string(text))
	}
	secret := func(string) string { return "a token" }
	c, err := LoadWatch(&Source{File: "watch.toml", Text: string(text)}, secret)
	require.NoError(t, err)
	require.Equal(t, []string{"live"}, c.Names())
	require.Equal(t, "a token", c.Token("live"))
	for set, want := range map[string]string{
		"watch.silent=10ms":                    "not in 1s to 1h",
		"watch.every=15s":                      "half of watch.silent",
		"watch.listen=0.0.0.0:1":               "open to other machines",
		"bots.live.url=http://bot.example.com": "in clear",
		"bots.live.url=bot.example.com":        "want the address",
		"bots.live.token_file=/x":              "has two of",
		"bots.two.url=http://127.0.0.1:1":      "bots.two.token_file",
	} {
		overrides, err := ParseSets([]string{set})
		require.NoError(t, err)
		_, err = LoadWatch(&Source{File: "watch.toml", Text: string(text), Overrides: overrides}, secret)
		require.ErrorContains(t, err, want, set)
	}
}
