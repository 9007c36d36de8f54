package config

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/BurntSushi/toml"
)

// Portable is a source for a backtest on another machine: the settings that a backtest reads, and
// no others. So it holds no secret, no address, and no path of this machine.
func (s *Source) Portable() (*Source, error) {
	tree := map[string]any{}
	if _, err := toml.Decode(s.Text, &tree); err != nil {
		return nil, s.syntax(err)
	}
	p := &Source{File: s.Label() + ".toml"}
	wanted := portable()
	maps.DeleteFunc(tree, func(section string, _ any) bool { return !slices.Contains(wanted, section) })
	if data, is := tree["data"].(map[string]any); is {
		delete(data, "candles")
	}
	if signals, is := tree["signals"].(map[string]any); is {
		delete(signals, "door")
		for _, source := range signals {
			if source, is := source.(map[string]any); is {
				maps.DeleteFunc(source, func(key string, _ any) bool { return slices.Contains(ownOfSignals, key) })
			}
		}
	}
	for _, o := range s.Overrides {
		if slices.Contains(wanted, o.Path[0]) && !ofThisMachine(o.Path) {
			p.Overrides = append(p.Overrides, o)
		}
	}
	var text bytes.Buffer
	if err := toml.NewEncoder(&text).Encode(tree); err != nil {
		return nil, fmt.Errorf("write the config for other machines: %w", err)
	}
	p.Text = text.String()
	return p, nil
}

// ownOfSignals are the keys of a source of signals that are about this machine, or for a live bot.
var ownOfSignals = []string{"file", "live", "path_file", "secret_file"}

// ofThisMachine reports whether a setting is about this machine: its files and its doors.
func ofThisMachine(path []string) bool {
	if path[0] == "signals" && len(path) > 1 {
		return path[1] == "door" || len(path) > 2 && slices.Contains(ownOfSignals, path[2])
	}
	return slices.Equal(path, []string{"data", "candles"})
}

// portable are the sections that change a backtest.
func portable() (sections []string) {
	for i := range reflect.TypeFor[Backtest]().NumField() {
		section := reflect.TypeFor[Backtest]().Field(i).Tag.Get("toml")
		if section != "" && section != "report" && section != "sweep" {
			sections = append(sections, section)
		}
	}
	return sections
}
