package bot

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// configSource is where a config came from, for the errors about it.
type configSource struct {
	file      string // as the user named it; empty: the built-in config
	text      string
	overrides []override
	hints     []string // about retired keys, with their places; set by decode
}

// override is a setting from the command line.
type override struct {
	flag string // as the user wrote it
	path []string
	text string
	word bool // the text is a name as it stands, whatever it begins with
}

// loadConfig reads a config: the defaults, the text over them, the overrides over that. Its errors are of the usage kind.
func loadConfig(source *configSource) (*backtestConfig, error) {
	c := defaultConfig()
	c.source = source
	return c, source.decode(&binder{config: c}, c)
}

// decode lays the text, and the overrides over it, over the defaults that a config holds already.
func (s *configSource) decode(b *binder, config any) error {
	tree := map[string]any{}
	if _, err := toml.Decode(s.text, &tree); err != nil {
		return s.syntax(err)
	}
	for _, o := range s.overrides {
		if err := o.apply(tree); err != nil {
			return s.place(err)
		}
	}
	s.retire(tree)
	return s.place(b.bind(nil, reflect.ValueOf(config).Elem(), tree))
}

func (s *configSource) syntax(err error) error {
	var parse toml.ParseError
	if errors.As(err, &parse) {
		return configf("%s:%d: %s", s.name(), parse.Position.Line, syntaxText(parse.Message))
	}
	return configf("%s: it is no TOML", s.name())
}

func (s *configSource) name() string {
	if s.file == "" {
		return "built-in config"
	}
	return s.file
}

// readSource reads a config file.
func readSource(file string, overrides []override) (*configSource, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, configf("config: %w", err)
	}
	return &configSource{file: file, text: string(text), overrides: overrides}, nil
}

// label is the config's name for folders: its file's without folder and extension.
func (s *configSource) label() string {
	base := filepath.Base(s.file)
	return orElse(strings.TrimSuffix(base, filepath.Ext(base)), "run")
}

// parseSets reads what --set was given.
func parseSets(args []string) (list []override, err error) {
	for i, arg := range args {
		o, err := parseSet(i+1, arg)
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, nil
}

// parseSet reads the a.b.c=value of the nth --set. Its errors repeat neither the value, which may be a secret, nor what is no key.
func parseSet(nth int, arg string) (override, error) {
	key, text, found := strings.Cut(arg, "=")
	o := override{text: strings.TrimSpace(text)}
	if !found || strings.ContainsAny(key, "\r\n#") {
		return o, usagef("--set number %d: there is no key and value; want a.b.c=value, like strategies.trend.params.fast=20", nth)
	}
	meta, err := toml.Decode(key+" = 0", &map[string]any{})
	if err != nil || len(meta.Keys()) == 0 {
		return o, usagef("--set number %d: the part before = is no key; want a.b.c=value, like strategies.trend.params.fast=20", nth)
	}
	o.path = meta.Keys()[len(meta.Keys())-1]
	o.flag = "--set " + shownPath(o.path)
	return o, nil
}

// apply writes the setting into the tree and makes the tables that are missing on its way.
func (o override) apply(tree map[string]any) error {
	value, err := o.value()
	if err != nil {
		return at(o.path, err)
	}
	last := len(o.path) - 1
	for i, part := range o.path[:last] {
		if tree[part] == nil {
			tree[part] = map[string]any{}
		}
		next, ok := tree[part].(map[string]any)
		if !ok {
			return at(o.path, fmt.Errorf("%s is a value, not a table", shownPath(o.path[:i+1])))
		}
		tree = next
	}
	tree[o.path[last]] = value
	return nil
}

// value is the text as TOML where it begins like a list, a table or a text in quotes, else a text whose key gives it a type.
func (o override) value() (any, error) {
	if o.text == "" || o.word || strings.IndexByte("[{\"'", o.text[0]) < 0 {
		return flagText(o.text), nil
	}
	var holder struct{ V any }
	if _, err := toml.Decode("V = "+o.text, &holder); err != nil {
		return nil, errors.New("the value is no TOML; write a list like [\"a\", \"b\"], a table like {a = 1}, a text as it stands")
	}
	return holder.V, nil
}

// errorf is an error about a key.
func (c *backtestConfig) errorf(path []string, format string, args ...any) error {
	return c.place(at(path, fmt.Errorf(format, args...)))
}

// place adds file and line, or the flag, to an error about a key.
func (c *backtestConfig) place(err error) error { return c.source.place(err) }

func (s *configSource) place(err error) error {
	var key *keyError
	if !errors.As(err, &key) || key.where != "" {
		return err
	}
	key.where = s.whereOf(key.path)
	return err
}

// whereOf is the flag that set a key or a table around it, or the key's line, or the flag that set something in it, or the line
// of the table where it should stand.
func (s *configSource) whereOf(path []string) string {
	if flag := s.flagOf(func(set []string) bool { return begins(path, set) }); flag != "" {
		return flag
	}
	lines := indexLines(s.text)
	for n := len(path); n > 0; n-- {
		if line := lines[lineKey(path[:n])]; line > 0 {
			return fmt.Sprintf("%s:%d: ", s.name(), line)
		}
		if flag := s.flagOf(func(set []string) bool { return n == len(path) && begins(set, path) }); flag != "" {
			return flag
		}
	}
	return s.name() + ": "
}

// flagOf is the last flag whose key is one of these.
func (s *configSource) flagOf(matches func(path []string) bool) string {
	for _, o := range slices.Backward(s.overrides) {
		if matches(o.path) {
			return o.flag + ": "
		}
	}
	return ""
}

// begins reports whether a path leads through a table.
func begins(path, table []string) bool {
	return len(path) >= len(table) && slices.Equal(path[:len(table)], table)
}
