package market

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Rename is a key of a JSON text that gets another name.
type Rename struct {
	Path string // the key behind those around it, joined by dots; places in lists do not count
	To   string // its new last part
}

// RenameKeys appends a JSON text to dst with other names for some keys; everything else stays as it
// is, to the byte. An object that has a key under both names is an error that names them.
func RenameKeys(dst, text []byte, renames []Rename) ([]byte, error) {
	w := keyWalk{text: text, decoder: json.NewDecoder(bytes.NewReader(text)), to: map[string]string{}}
	for _, r := range renames {
		w.to[r.Path] = r.To
	}
	if err := w.value("", &dst); err != nil {
		return nil, err
	}
	return append(dst, text[w.copied:]...), nil
}

// keyWalk walks a JSON text value by value and copies it behind the walk.
type keyWalk struct {
	text    []byte
	decoder *json.Decoder
	to      map[string]string // new names by path
	copied  int               // bytes of text that are in the copy
}

// value copies one value. path is that of the key it belongs to.
func (w *keyWalk) value(path string, dst *[]byte) error {
	token, err := w.decoder.Token()
	if err != nil {
		return err
	}
	open, nested := token.(json.Delim)
	if !nested {
		return nil
	}
	seen := map[string]bool{}
	for w.decoder.More() {
		at := path
		if open == '{' {
			if at, err = w.key(path, seen, dst); err != nil {
				return err
			}
		}
		if err := w.value(at, dst); err != nil {
			return err
		}
	}
	_, err = w.decoder.Token()
	return err
}

// key copies a key of the object at path, under its new name if it has one, and returns its path.
func (w *keyWalk) key(path string, seen map[string]bool, dst *[]byte) (string, error) {
	token, err := w.decoder.Token()
	if err != nil {
		return "", err
	}
	name := token.(string)
	at := strings.TrimPrefix(path+"."+name, ".")
	to, renamed := w.to[at]
	if !renamed {
		to = name
	}
	if (renamed || w.isNew(path, name)) && seen[to] {
		return "", fmt.Errorf("%s stands there under its old and its new name", at)
	}
	seen[to] = true
	end := int(w.decoder.InputOffset()) - 1 // of the closing quote
	if start := end - len(name); renamed && start >= 0 && string(w.text[start:end]) == name {
		*dst = append(append(*dst, w.text[w.copied:start]...), to...)
		w.copied = end
	}
	return at, nil
}

// isNew reports whether a key of the object at path has a name that another one gets.
func (w *keyWalk) isNew(path, name string) bool {
	for old, to := range w.to {
		parent, _ := splitPath(old)
		if to == name && parent == path {
			return true
		}
	}
	return false
}

func splitPath(path string) (parent, last string) {
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		return path[:i], path[i+1:]
	}
	return "", path
}

// Renamed is a key of a saved part whose name changed.
type Renamed struct {
	Path  string // since then
	Was   string // its last part before
	Since int    // the first version that has the new name
}

// renamesSince are the renames that make a text of an older version one with the new names.
func renamesSince(version int, all []Renamed) (renames []Rename) {
	for _, r := range all {
		if version < r.Since {
			parent, last := splitPath(r.Path)
			renames = append(renames, Rename{Path: strings.TrimPrefix(parent+"."+r.Was, "."), To: last})
		}
	}
	return renames
}
