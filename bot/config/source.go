// Package config reads the configs of the commands: TOML to sections, errors with file, line and
// nearest key, secrets from files and variables, and the kinds of values. It never decides whether
// a strategy or an amount makes sense: package plan does. Start at Source, then at Backtest, Run
// and Sandbox, which list every setting.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// Source is the text of a config with the overrides from the command line. It locates errors.
type Source struct {
	File      string // as the user named it; empty: the built-in config
	Text      string
	Overrides []Override

	tree map[string]any // text and overrides, once the config is loaded
}

// Override is a setting from the command line.
type Override struct {
	Flag string // as the user wrote it
	Path []string
	Text string
	Word bool // the text is a name: its first character never makes it a list, table or quoted text
}

// LoadBacktest reads a config of `bot backtest`: the defaults, the text over them, the overrides
// over the text. Its errors are Error or KeyError.
func LoadBacktest(source *Source) (*Backtest, error) {
	c := DefaultBacktest()
	c.Source = source
	return c, source.decode(&binder{config: c, other: reflect.TypeFor[Run]()}, c)
}

// decode writes the text, then the overrides, over the defaults in config.
func (s *Source) decode(b *binder, config any) error {
	tree := map[string]any{}
	if _, err := toml.Decode(s.Text, &tree); err != nil {
		return s.syntax(err)
	}
	for _, o := range s.Overrides {
		if err := override(tree, o); err != nil {
			return s.Place(err)
		}
	}
	s.tree = tree
	return s.Place(b.bind(nil, reflect.ValueOf(config).Elem(), tree))
}

// Sets reports whether the loaded config sets a key, by its text or from the command line.
func (s *Source) Sets(path ...string) bool {
	var at any = s.tree
	for _, name := range path {
		table, is := at.(map[string]any)
		if at, is = table[name]; !is {
			return false
		}
	}
	return true
}

// HasTable reports whether the text has one of these tables. Overrides do not count.
func (s *Source) HasTable(names ...string) (bool, error) {
	tree := map[string]any{}
	if _, err := toml.Decode(s.Text, &tree); err != nil {
		return false, s.syntax(err)
	}
	return slices.ContainsFunc(names, func(name string) bool { return tree[name] != nil }), nil
}

func (s *Source) syntax(err error) error {
	var parse toml.ParseError
	if errors.As(err, &parse) {
		return Errorf("%s:%d: %s", s.Name(), parse.Position.Line, syntaxText(parse.Message))
	}
	return Errorf("%s: it is no TOML", s.Name())
}

// Name is the file as the user named it, or "built-in config".
func (s *Source) Name() string {
	if s.File == "" {
		return "built-in config"
	}
	return s.File
}

// ReadSource reads a config file.
func ReadSource(file string, overrides []Override) (*Source, error) {
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, Errorf("config: %w; %s", err, otherConfigs(filepath.Dir(file)))
	case err != nil:
		return nil, Errorf("config: %w", err)
	}
	return &Source{File: file, Text: string(text), Overrides: overrides}, nil
}

// otherConfigs says which configs a folder has, or how to get one.
func otherConfigs(folder string) string {
	const most = 5
	files, _ := filepath.Glob(filepath.Join(folder, "*.toml")) // an odd name of a folder: none
	switch {
	case len(files) == 0:
		return "`bot init DIR` writes a config, `bot help backtest.toml` and `bot help live.toml` show all settings"
	case len(files) > most:
		files = append(files[:most], "…")
	}
	return "there are " + strings.Join(files, ", ")
}

// Label is the file's name without folder and extension, else "run".
func (s *Source) Label() string {
	base := filepath.Base(s.File)
	return cmp.Or(strings.TrimSuffix(base, filepath.Ext(base)), "run")
}

// ParseSets reads the values of --set. Its errors are UsageError.
func ParseSets(args []string) (list []Override, err error) {
	for i, arg := range args {
		o, err := parseSet(i+1, arg)
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, nil
}

// parseSet reads the a.b.c=value of the nth --set. Its errors repeat neither key nor value, because
// both may hold a secret.
func parseSet(nth int, arg string) (Override, error) {
	key, text, found := strings.Cut(arg, "=")
	o := Override{Text: strings.TrimSpace(text)}
	if !found || strings.ContainsAny(key, "\r\n#") {
		return o, Usagef("--set number %d: there is no key and value; want a.b.c=value, like "+
			"strategies.trend.params.fast=20", nth)
	}
	meta, err := toml.Decode(key+" = 0", &map[string]any{})
	if err != nil || len(meta.Keys()) == 0 {
		return o, Usagef("--set number %d: the part before = is no key; want a.b.c=value, like "+
			"strategies.trend.params.fast=20", nth)
	}
	o.Path = meta.Keys()[len(meta.Keys())-1]
	o.Flag = "--set " + shownPath(o.Path)
	return o, nil
}

// override lays a setting over the tree.
func override(tree map[string]any, o Override) error {
	value, err := o.value()
	if err != nil {
		return At(o.Path, err)
	}
	return put(tree, o.Path, value)
}

// put writes a value into a tree and makes the tables that are missing on its way.
func put(tree map[string]any, path []string, value any) error {
	last := len(path) - 1
	for i, part := range path[:last] {
		if tree[part] == nil {
			tree[part] = map[string]any{}
		}
		next, ok := tree[part].(map[string]any)
		if !ok {
			return Keyf(path, "%s is a value, not a table", shownPath(path[:i+1]))
		}
		tree = next
	}
	tree[path[last]] = value
	return nil
}

// value decodes a text that begins like a TOML list, table or quoted text. Any other text gets its
// type from its key.
func (o Override) value() (any, error) {
	if o.Text == "" || o.Word || strings.IndexByte("[{\"'", o.Text[0]) < 0 {
		return flagText(o.Text), nil
	}
	var holder struct{ V any }
	if _, err := toml.Decode("V = "+o.Text, &holder); err != nil {
		return nil, errors.New("the value is no TOML; write a list like [\"a\", \"b\"], a table like {a = 1}, a text " +
			"as it stands")
	}
	return holder.V, nil
}

// Place adds file and line, or the flag, to a KeyError. Any other error stays as it is.
func (s *Source) Place(err error) error {
	var key *KeyError
	if !errors.As(err, &key) || key.where != "" {
		return err
	}
	key.where = s.WhereOf(key.path)
	return err
}

// WhereOf returns the place of a key: the first that exists of the flag that set the key or a table
// around it, the key's line, the flag that set a key below it, and the line of a table around it.
func (s *Source) WhereOf(path []string) string {
	if flag := s.flagOf(func(set []string) bool { return begins(path, set) }); flag != "" {
		return flag
	}
	for n := len(path); n > 0; n-- {
		if line := lineOfKey(s.Text, path[:n]); line > 0 {
			return fmt.Sprintf("%s:%d: ", s.Name(), line)
		}
		if flag := s.flagOf(func(set []string) bool { return n == len(path) && begins(set, path) }); flag != "" {
			return flag
		}
	}
	return s.Name() + ": "
}

// flagOf returns the last flag whose path matches; empty: none.
func (s *Source) flagOf(matches func(path []string) bool) string {
	for _, o := range slices.Backward(s.Overrides) {
		if matches(o.Path) {
			return o.Flag + ": "
		}
	}
	return ""
}

// begins reports whether a path begins with a table's path.
func begins(path, table []string) bool {
	return len(path) >= len(table) && slices.Equal(path[:len(table)], table)
}

// RefuseTables refuses an override in a table that the built-in config does not write out: the
// table would hold the override alone.
func (s *Source) RefuseTables(names ...string) error {
	for _, o := range s.Overrides {
		if slices.Contains(names, o.Path[0]) {
			return Usagef("%s: without -c there is no [%s] to change; begin with configs/exchange.toml", o.Flag,
				o.Path[0])
		}
	}
	return nil
}
