package bot

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
)

// settingsSchema is the version of backtest.ConfigFile.
const settingsSchema = 1

// settings are the config of a result: its text, and what flags laid over it.
type settings struct {
	Schema    int            `json:"schema"`
	File      string         `json:"file"` // as the user named it; empty: the built-in example
	Text      string         `json:"text"`
	Overrides []settingsFlag `json:"overrides"`
}

// settingsFlag is a config.Override.
type settingsFlag struct {
	Flag string   `json:"flag"`
	Path []string `json:"path"`
	Text string   `json:"text"`
	Word bool     `json:"word"`
}

// settingsOf is the config of a result. What only says where the files go is left out.
func settingsOf(s *config.Source) ([]byte, error) {
	all := settings{Schema: settingsSchema, File: s.File, Text: s.Text, Overrides: []settingsFlag{}}
	for _, o := range s.Overrides {
		if o.Path[0] != "report" {
			all.Overrides = append(all.Overrides, settingsFlag(o))
		}
	}
	text, err := json.MarshalIndent(&all, "", "  ")
	return append(text, '\n'), err
}

// readSettings reads the config of a result.
func readSettings(dir string) (*config.Source, error) {
	text, err := os.ReadFile(filepath.Join(dir, backtest.ConfigFile))
	var all settings
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, config.Usagef("%s has no %s: it is no folder of a backtest; name the config with -c",
			config.Clip(dir), backtest.ConfigFile)
	case err != nil:
		return nil, err
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, backtest.ConfigFile), err)
	}
	if all.Schema != settingsSchema {
		return nil, fmt.Errorf("%s has version %d; this program reads version %d",
			filepath.Join(dir, backtest.ConfigFile), all.Schema, settingsSchema)
	}
	s := &config.Source{File: all.File, Text: all.Text}
	for _, o := range all.Overrides {
		if len(o.Path) == 0 {
			return nil, fmt.Errorf("%s: an override names no key", filepath.Join(dir, backtest.ConfigFile))
		}
		s.Overrides = append(s.Overrides, config.Override(o))
	}
	return s, nil
}
