package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"time"
)

// File is a file of a result, a search or a gap.
type File struct {
	Name    string // the last part of its path
	Kind    string // the media type
	Changed time.Time
	Text    []byte
	// Policy is the content security policy under which a page is shown: that of the page itself,
	// in a sandbox of its own. Empty: the file is no page, and is not to be shown by a browser.
	Policy string
}

// mediaTypes are those of the files that can be fetched.
var mediaTypes = map[string]string{".html": "text/html; charset=utf-8", ".csv": "text/csv; charset=utf-8",
	".json": "application/json"}

// File reads a file by its path, one of those that the lists name. Any other path is not found.
func (s *Folder) File(name string) (*File, error) {
	s.mu.Lock()
	seen, err := s.look()
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if _, known := seen.files[name]; !known {
		return nil, notFound("there is no file %q among the results in %s", name, s.Folder)
	}
	root, err := os.OpenRoot(s.Folder)
	if err != nil {
		return nil, fmt.Errorf("read the folder of results: %w", err)
	}
	defer root.Close()
	f := &File{Name: path.Base(name), Kind: mediaTypes[path.Ext(name)]}
	if f.Text, err = readFile(root, name, maxPage); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, notFound("%s is gone", name)
		}
		return nil, err
	}
	f.Changed = seen.files[name].changed
	if path.Ext(name) == ".html" {
		f.Policy = policyOf(f.Text)
	}
	return f, nil
}

// ownPolicy finds the policy that a page of this program has in its head, before any text that is
// not the program's own. Its hashes are those of the style and the script of the version that wrote
// the page.
const ownPolicy = `\A<!DOCTYPE html>\s*<html lang="en">\s*<head>\s*<meta charset="utf-8">\s*` +
	`<meta http-equiv="Content-Security-Policy" content="(default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]{44}'; ` +
	`script-src 'sha256-[A-Za-z0-9+/=]{44}'; img-src data:; base-uri 'none'; form-action 'none')">`

// policyOf is the policy for a page: its own script and style, no address, and an origin of its
// own, which has no cookie of the dashboard. A page that this program has not written runs no
// script.
func policyOf(text []byte) string {
	const alone = "; frame-ancestors 'none'; sandbox"
	if own := regexp.MustCompile(ownPolicy).FindSubmatch(text); own != nil {
		return string(own[1]) + alone + " allow-scripts"
	}
	return "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'" + alone
}
