// Package renamed holds the names of the commands' JSON that have changed, by document. It writes a
// document under its older names (--json=v1) and reads one that an older bot wrote. It never
// decodes a value. Start at V1 and Today.
package renamed

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// name is a key whose name changed: path is that of today.
type name struct{ path, was string }

// report is the answer to a command that acts.
var report = []name{{"held.value", "worth"}}

// documents are the names that changed, by document: the command that prints it. A document that is
// missing has the names that it always had. The older names are written and read until the next
// release.
var documents = map[string][]name{
	"status":     {{"unallocated", "nobodys"}},
	"positions":  {{"positions.value", "worth"}},
	"explain":    {{"steps.details", "says"}},
	"doctor":     {{"hint", "mend"}},
	"halt":       report,
	"resume":     report,
	"cancel":     report,
	"cancel-all": report,
	"flatten":    report,
	"resolve":    report,
}

// V1 is a document of today under the names of version 1.
func V1(document string, text []byte) ([]byte, error) {
	var renames []market.Rename
	for _, n := range documents[document] {
		renames = append(renames, market.Rename{Path: n.path, To: n.was})
	}
	return rename(document, text, renames)
}

// Today is a document of version 1 under the names of today. One that has a key under both names is
// an error.
func Today(document string, text []byte) ([]byte, error) {
	var renames []market.Rename
	for _, n := range documents[document] {
		around, last := "", n.path
		if i := strings.LastIndexByte(n.path, '.'); i >= 0 {
			around, last = n.path[:i+1], n.path[i+1:]
		}
		renames = append(renames, market.Rename{Path: around + n.was, To: last})
	}
	return rename(document, text, renames)
}

func rename(document string, text []byte, renames []market.Rename) ([]byte, error) {
	if len(renames) == 0 {
		return slices.Clone(text), nil
	}
	renamed, err := market.RenameKeys(nil, text, renames)
	if err != nil {
		return nil, fmt.Errorf("names of %s: %w", document, err)
	}
	return renamed, nil
}
