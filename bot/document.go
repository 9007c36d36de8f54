package bot

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/view"
)

// document answers a command: it writes the page with its folder, and prints the outcome as JSON,
// or the document with more lines at the end. Without a path there is no page.
func (a *app) document(d *view.Doc, path string, outcome any, json bool, more ...string) error {
	var err error
	if path != "" {
		if err = writePage(path, d); err == nil {
			more = append(more, "open "+path)
		}
	}
	if json {
		return errors.Join(console.PrintJSON(a.Stdout, outcome), err)
	}
	text := d.Text(a.terminal().Width)
	if len(more) > 0 {
		text += "\n" + strings.Join(more, "\n") + "\n"
	}
	_, failed := fmt.Fprint(a.Stdout, text)
	return errors.Join(failed, err)
}

// writePage writes a document as a page, and its folder.
func writePage(path string, d *view.Doc) error {
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = console.WriteTo(nil, path, d.Write)
	}
	if err != nil {
		return fmt.Errorf("write the page %s: %w", path, err)
	}
	return nil
}
