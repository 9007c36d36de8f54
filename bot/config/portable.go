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
	if tree["signals"] != nil {
		return nil, s.Place(Keyf([]string{"signals"}, "other machines do not have its files; search without them"))
	}
	p := &Source{File: s.Label() + ".toml"}
	wanted := portable()
	maps.DeleteFunc(tree, func(section string, _ any) bool { return !slices.Contains(wanted, section) })
	if data, is := tree["data"].(map[string]any); is {
		delete(data, "candles")
	}
	for _, o := range s.Overrides {
		if slices.Contains(wanted, o.Path[0]) && !slices.Equal(o.Path, []string{"data", "candles"}) {
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
