package bot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/mcp"
	"github.com/tidemark-trading/tidemark/bot/schema"
	"github.com/tidemark-trading/tidemark/bot/version"
)

const mcpHelp = `Serve documents of other commands as tools of the Model Context Protocol over standard input and
output, for an assistant that is a program. The tools look at bots, results and candles, and run backtests, sweeps and
checks of rules over local data. None sends an order, reads a key or a variable of the environment, or opens a path
outside of the folder in which the command was started.`

func mcpCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "mcp", Short: "Serve documents to an assistant (Model Context Protocol)", Args: onlyFlags, Long: mcpHelp,
		Example: "  cd ~/trading && bot mcp\n  claude mcp add tidemark -- bot mcp",
		RunE:    a.enter(func(ctx context.Context, _ []string) error { return a.mcp(ctx) }),
	}
}

// mcpTool is a command that a client may call: a row of mcpTools.
type mcpTool struct {
	command string   // its words
	flags   []string // that may be given
	fixed   []string // that are always given, beside --json
	args    string   // name of the argument behind the words; empty: there is none
}

// mcpTools are the commands that look, and those that compute over local data. A command that acts,
// or asks the exchange, has no row.
func mcpTools() []mcpTool {
	bot := []string{"config", "state"}
	curve := append(slices.Clone(bot), "since", "until", "strategy", "zone")
	books := append(slices.Clone(curve), "market")
	run := []string{"config", "set", "from", "to", "db"}
	return []mcpTool{
		{command: "status", flags: bot},
		{command: "orders", flags: append(slices.Clone(bot), "all")},
		{command: "positions", flags: bot},
		{command: "risk", flags: bot},
		{command: "journal", flags: append(slices.Clone(bot), "kind", "strategy", "market", "order", "since", "until",
			"before", "latest")},
		{command: "explain", flags: append(slices.Clone(bot), "refused", "since"), args: "order"},
		{command: "trades", flags: books},
		{command: "profit", flags: append(slices.Clone(books), "by")},
		{command: "equity", flags: append(slices.Clone(curve), "every")},
		{command: "verify", flags: bot},
		{command: "strategies", args: "kind"},
		{command: "candles list", flags: []string{"db"}},
		{command: "candles verify", flags: []string{"db"}},
		{command: "trials", flags: []string{"config", "db", "market", "strategy"}},
		{command: "backtest", flags: run, fixed: []string{"--no-files"}},
		{command: "sweep", flags: append(slices.Clone(run), "vary", "method", "sets", "seed", "objective", "require",
			"workers", "out")},
		{command: "rules check", flags: []string{"set"}, args: "file"},
	}
}

// mcp serves the tools until the client leaves, or ctx ends.
func (a *app) mcp(ctx context.Context) error {
	if a.Assistant == nil {
		return a.handOver()
	}
	root, err := os.Getwd()
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return err
	}
	var tools []mcp.Tool
	for _, row := range mcpTools() {
		tools = append(tools, a.mcpToolOf(row, fence{root}))
	}
	in, is := a.Stdin.(io.ReadCloser)
	if !is {
		in = io.NopCloser(a.Stdin)
	}
	return a.Assistant.Serve(ctx, version.Of(debug.ReadBuildInfo()), tools, in, a.Stdout)
}

// mcpToolOf makes the tool of a command: its arguments are flags, with the texts of the help.
func (a *app) mcpToolOf(row mcpTool, inside fence) mcp.Tool {
	c := a.mcpCommandOf(row.command)
	properties := schema.Object{}
	for _, name := range row.flags {
		flag := c.Flag(name)
		kind, usage := pflag.UnquoteUsage(flag)
		one := schema.Object{"type": "string", "description": usage}
		switch flag.Value.Type() {
		case "bool":
			one["type"] = "boolean"
		case "int", "int64":
			one["type"] = "integer"
		case "stringArray", "stringSlice":
			one["type"], one["items"] = "array", schema.Object{"type": "string"}
		}
		if isPath(kind) {
			one["description"] = usage + "; a path inside of the folder"
		}
		properties[name] = one
	}
	input := schema.Object{"type": "object", "properties": properties, "additionalProperties": false}
	if row.args != "" {
		properties[row.args] = schema.Object{"type": "string", "description": "behind the command: " + c.Use}
	}
	t := mcp.Tool{Name: strings.ReplaceAll(row.command, " ", "_"), Doc: c.Short, Input: input}
	if of := documents()[row.command]; of != nil && of.Kind() == reflect.Struct {
		t.Output = schema.Document(of, "bot "+row.command)
	}
	t.Run = func(ctx context.Context, arguments map[string]json.RawMessage) ([]byte, error) {
		args, err := row.arguments(c, arguments, inside)
		if err != nil {
			return nil, err
		}
		return a.runTool(ctx, args)
	}
	return t
}

// mcpCommandOf is a command by its words.
func (a *app) mcpCommandOf(words string) *cobra.Command {
	c, _, err := (&app{Process: Process{Definitions: a.Definitions}}).root().Find(strings.Fields(words))
	if err != nil {
		panic("bot mcp: " + err.Error()) // a row of mcpTools; a test makes all
	}
	return c
}

// runTool runs a command in this process, without the environment and without input.
func (a *app) runTool(ctx context.Context, args []string) ([]byte, error) {
	var out, says bytes.Buffer
	code := Run(ctx, Process{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &says,
		Getenv: func(string) string { return "" }, Definitions: a.Definitions})
	if code == exitDone || out.Len() > 0 && json.Valid(out.Bytes()) {
		return bytes.TrimSpace(out.Bytes()), nil
	}
	return nil, errors.New(strings.TrimSpace(says.String()))
}

// arguments are the words of the command line for a call.
func (row *mcpTool) arguments(c *cobra.Command, given map[string]json.RawMessage, inside fence) ([]string, error) {
	args := append(strings.Fields(row.command), row.fixed...)
	if c.Flag("json") != nil {
		args = append(args, "--json")
	}
	var behind, sets []string
	file := ""
	for _, name := range slices.Sorted(maps.Keys(given)) {
		words, err := wordsOf(given[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		kind := ""
		switch {
		case name == row.args && row.args != "":
			behind = words
			if name == "file" {
				kind, file = "FILE", strings.Join(words, "")
			}
		case slices.Contains(row.flags, name):
			kind, _ = pflag.UnquoteUsage(c.Flag(name))
		default:
			return nil, fmt.Errorf("no argument %q; %s has %q", config.Clip(name), row.command, row.flags)
		}
		for _, word := range words {
			if isPath(kind) {
				if err := inside.check(name, word); err != nil {
					return nil, err
				}
			}
			if name != row.args {
				args = append(args, "--"+name+"="+word)
			}
		}
		switch name {
		case "config":
			file = strings.Join(words, "")
		case "set", "vary":
			sets = append(sets, words...)
		}
	}
	if len(behind) > 0 {
		args = append(append(args, "--"), behind...)
	}
	return args, inside.checkConfig(file, sets)
}

// wordsOf are the texts of an argument: one, or those of a list.
func wordsOf(raw json.RawMessage) ([]string, error) {
	var many []any
	if json.Unmarshal(raw, &many) != nil {
		many = []any{json.RawMessage(raw)}
	}
	var words []string
	for _, one := range many {
		text, err := json.Marshal(one)
		if err != nil {
			return nil, err
		}
		var word string
		if json.Unmarshal(text, &word) != nil {
			if word = string(text); strings.ContainsAny(word, "{[") || word == "null" {
				return nil, errors.New("want a text, a number, true, false, or a list of texts")
			}
		}
		words = append(words, word)
	}
	return words, nil
}

// isPath reports whether the placeholder of a flag is a path.
func isPath(kind string) bool { return kind == "FILE" || kind == "FOLDER" || kind == "DIR" }

// fence keeps paths inside of a folder.
type fence struct{ root string }

// check refuses a path that leads out of the folder, also over a link.
func (f fence) check(name, path string) error {
	outside := fmt.Errorf("%s: %q is outside of the folder in which bot mcp was started", name, config.Clip(path))
	if !filepath.IsLocal(path) {
		return outside
	}
	for at := path; ; at = filepath.Dir(at) { // what is not there yet is made in the last folder that is
		real, err := filepath.EvalSymlinks(filepath.Join(f.root, at))
		if err == nil {
			if rest, err := filepath.Rel(f.root, real); err != nil || !filepath.IsLocal(rest) {
				return outside
			}
			return nil
		}
		if at == "." {
			return outside
		}
		if _, err := os.Lstat(filepath.Join(f.root, at)); err == nil {
			return outside // a link to what is not there
		}
	}
}

// unread are the keys of a config that no tool opens: of the exchange, of servers, of logs.
var unread = []string{"exchange", "alerts", "telegram", "dashboard", "metrics", "log_file", "door", "path_file",
	"secret_file"}

// checkConfig refuses a config whose values lead out of the folder.
func (f fence) checkConfig(file string, sets []string) error {
	all := map[string]any{}
	if file != "" {
		text, err := os.ReadFile(filepath.Join(f.root, file))
		if err != nil {
			return err
		}
		if _, err := toml.Decode(string(text), &all); err != nil {
			return nil // the command says what is wrong with it
		}
	}
	for _, set := range sets {
		key, value, _ := strings.Cut(set, "=")
		path := strings.Split(key, ".")
		one := map[string]any{}
		if _, err := toml.Decode("value = "+value, &one); err != nil {
			one["value"] = value
		}
		if err := f.checkValue(path, one["value"]); err != nil {
			return err
		}
	}
	return f.checkValue(nil, all)
}

// checkValue refuses texts that are paths out of the folder.
func (f fence) checkValue(at []string, value any) error {
	if len(at) > 0 && slices.Contains(unread, at[len(at)-1]) {
		return nil
	}
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if err := f.checkValue(append(slices.Clone(at), key), v[key]); err != nil {
				return err
			}
		}
	case []map[string]any:
		for _, one := range v {
			if err := f.checkValue(at, one); err != nil {
				return err
			}
		}
	case []any:
		for _, one := range v {
			if err := f.checkValue(at, one); err != nil {
				return err
			}
		}
	case string:
		if v != "" && !strings.Contains(v, "://") {
			return f.check(strings.Join(at, "."), v)
		}
	}
	return nil
}
