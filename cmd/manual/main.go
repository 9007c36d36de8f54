// Command manual writes the manual page of each command of bot to a folder: go run ./cmd/manual
// DIR. It is a program of its own because the library behind it would slow every start of bot.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra/doc"

	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./cmd/manual DIR")
		os.Exit(64)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "manual pages: %v\n", err)
		os.Exit(1)
	}
}

// write writes the pages to a folder, which is made where it is missing.
func write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	header := &doc.GenManHeader{Section: "1", Source: "Tidemark", Manual: "Tidemark"}
	root := bot.Command(shipped.Definitions()...)
	root.DisableAutoGenTag = true
	return doc.GenManTree(root, header, dir)
}
