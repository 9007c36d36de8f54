package bot

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/mcp/sdk"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// connectMCP starts `bot mcp` in a folder and connects a client.
func connectMCP(t *testing.T, folder string) *mcp.ClientSession {
	t.Chdir(folder)
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	var says bytes.Buffer
	var served sync.WaitGroup
	code := -1
	served.Go(func() {
		defer fromServer.Close()
		code = Run(t.Context(), Process{Args: []string{"mcp"}, Stdin: toServer, Stdout: fromServer, Stderr: &says,
			Getenv:      func(string) string { return "SECRET of the environment" },
			Definitions: shipped.Definitions(), Assistant: sdk.Server{}})
	})
	client := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = session.Close()
		_ = fromClient.Close()
		served.Wait()
		require.Zero(t, code, says.String())
	})
	return session
}

// callTool returns the document of a tool, or its error.
func callTool(t *testing.T, s *mcp.ClientSession, name string, arguments map[string]any) (text string, failed bool) {
	t.Helper()
	answer, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	require.NoError(t, err)
	require.Len(t, answer.Content, 1)
	return answer.Content[0].(*mcp.TextContent).Text, answer.IsError
}

func TestAnAssistantGetsDocumentsThatFitTheirSchemas(t *testing.T) {
	folder := t.TempDir()
	s := connectMCP(t, folder)
	list, err := s.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, list.Tools, len(mcpTools()))
	outputs := map[string]*jsonschema.Schema{}
	for _, tool := range list.Tools {
		require.NotEmpty(t, tool.Description)
		if tool.OutputSchema == nil {
			continue
		}
		compiler := jsonschema.NewCompiler()
		require.NoError(t, compiler.AddResource(tool.Name, tool.OutputSchema))
		outputs[tool.Name], err = compiler.Compile(tool.Name)
		require.NoError(t, err, tool.Name)
	}
	for _, call := range []struct {
		name      string
		arguments map[string]any
	}{
		{"backtest", nil},
		{"backtest", map[string]any{"set": []string{"strategies.trend.params.fast=5"}}},
		{"sweep", map[string]any{"vary": []string{"strategies.trend.params.fast=5,10"}, "out": "s.sweep"}},
		{"strategies", nil}, {"strategies", map[string]any{"kind": "smacross"}},
		{"trials", nil},
	} {
		text, failed := callTool(t, s, call.name, call.arguments)
		require.False(t, failed, "%s: %s", call.name, text)
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		require.NoError(t, err, text)
		if outputs[call.name] != nil {
			require.NoError(t, outputs[call.name].Validate(value), call.name)
		}
	}
}

func TestAnAssistantReachesNothingOutsideOfTheFolder(t *testing.T) {
	top := t.TempDir()
	folder := filepath.Join(top, "in")
	require.NoError(t, os.Mkdir(folder, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(top, "secret.toml"), []byte("secret = \"TOP\"\n"), 0o600))
	require.NoError(t, os.Symlink(top, filepath.Join(folder, "up")))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "bad.toml"), []byte("[bot]\nstate = \"../out\"\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "live.toml"),
		[]byte("[bot]\nstate = \"bots\"\n[exchange]\nkey_file = \"/etc/tidemark/key\"\n"), 0o600))
	s := connectMCP(t, folder)
	const outside = "is outside of the folder"
	for _, call := range []struct {
		name      string
		arguments map[string]any
		want      string
	}{
		{"status", map[string]any{"config": "../secret.toml"}, outside},
		{"status", map[string]any{"config": filepath.Join(top, "secret.toml")}, outside},
		{"status", map[string]any{"config": "up/secret.toml"}, outside},
		{"status", map[string]any{"state": "up/bots"}, outside},
		{"status", map[string]any{"config": "bad.toml"}, outside},
		{"status", map[string]any{"config": "live.toml"}, "bots"}, // there is no bot; the key is not read
		{"candles_list", map[string]any{"db": "/etc/passwd"}, outside},
		{"backtest", map[string]any{"set": []string{"data.file=/etc/passwd"}}, outside},
		{"backtest", map[string]any{"set": []string{`data.file="../x.db"`}}, outside},
		{"sweep", map[string]any{"out": "../s.sweep"}, outside},
		{"rules_check", map[string]any{"file": "../secret.toml"}, outside},
		{"backtest", map[string]any{"out": "x"}, "no argument"},
		{"status", map[string]any{"json": true}, "no argument"},
		{"explain", map[string]any{"order": map[string]any{"a": 1}}, "want a text"},
	} {
		text, failed := callTool(t, s, call.name, call.arguments)
		require.True(t, failed, "%s %v: %s", call.name, call.arguments, text)
		require.Contains(t, text, call.want, "%s %v", call.name, call.arguments)
		require.NotContains(t, text, "TOP")
		require.NotContains(t, text, "SECRET")
	}
}

// A tool is a command that looks or computes. None of those that act, or that ask the exchange,
// may become one.
func TestNoToolActs(t *testing.T) {
	for _, row := range mcpTools() {
		for _, acts := range []string{"run", "halt", "resume", "cancel", "flatten", "resolve", "reload", "adopt",
			"exchange", "record", "chat", "dashboard", "watch", "seal", "state", "doctor", "init", "candles fetch",
			"candles import", "worker", "canary"} {
			require.False(t, row.command == acts || strings.HasPrefix(row.command, acts+" "), row.command)
		}
	}
	raw, err := json.Marshal(mcpTools()[0].flags)
	require.NoError(t, err)
	require.NotContains(t, string(raw), "direct")
}
