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
