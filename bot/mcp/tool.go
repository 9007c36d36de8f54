// Package mcp is the agreement with a program that asks for documents over the Model Context
// Protocol: what a tool is. It never speaks the protocol: package sdk does. Start at Tool.
package mcp

import (
	"context"
	"encoding/json"
	"io"
)

// Tool is a document that a client may ask for.
type Tool struct {
	Name, Doc string
	Input     map[string]any // schema of the arguments: an object
	Output    map[string]any // schema of the document; nil: the document is no object
	// Run writes the document. Its error is for the client to read.
	Run func(ctx context.Context, arguments map[string]json.RawMessage) (document []byte, err error)
}

// Server answers a client.
type Server interface {
	// Serve answers until in ends or ctx does.
	Serve(ctx context.Context, version string, tools []Tool, in io.ReadCloser, out io.Writer) error
}
