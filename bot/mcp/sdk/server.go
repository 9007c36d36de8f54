// Package sdk serves tools over the Model Context Protocol, with its official SDK. It knows no bot:
// package bot hands the tools in. A program that links it takes longer to start. Start at Server.
package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	protocol "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tidemark-trading/tidemark/bot/mcp"
)

// Server is an mcp.Server.
type Server struct{}

// Serve answers a client until in ends or ctx does.
func (Server) Serve(ctx context.Context, version string, tools []mcp.Tool, in io.ReadCloser, out io.Writer) error {
	server := protocol.NewServer(&protocol.Implementation{Name: "tidemark", Version: version}, nil)
	for i := range tools {
		t := &tools[i]
		tool := &protocol.Tool{Name: t.Name, Description: t.Doc, InputSchema: t.Input}
		if t.Output != nil {
			tool.OutputSchema = t.Output
		}
		server.AddTool(tool, func(ctx context.Context, r *protocol.CallToolRequest) (*protocol.CallToolResult, error) {
			return call(ctx, t, r.Params.Arguments), nil
		})
	}
	err := server.Run(ctx, &protocol.IOTransport{Reader: in, Writer: kept{out}})
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return err
}

// kept is a writer that is left open.
type kept struct{ io.Writer }

// Close does nothing.
func (kept) Close() error { return nil }

// call answers a call: the document, or what is wrong.
func call(ctx context.Context, t *mcp.Tool, raw json.RawMessage) *protocol.CallToolResult {
	arguments := map[string]json.RawMessage{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &arguments); err != nil {
			return failed(fmt.Errorf("the arguments are no JSON object: %w", err))
		}
	}
	document, err := t.Run(ctx, arguments)
	if err != nil {
		return failed(err)
	}
	answer := &protocol.CallToolResult{Content: []protocol.Content{&protocol.TextContent{Text: string(document)}}}
	if t.Output != nil {
		answer.StructuredContent = json.RawMessage(document)
	}
	return answer
}

func failed(err error) *protocol.CallToolResult {
	return &protocol.CallToolResult{IsError: true,
		Content: []protocol.Content{&protocol.TextContent{Text: err.Error()}}}
}
