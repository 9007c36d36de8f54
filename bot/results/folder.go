package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"sync"
	"time"

	"github.com/tidemark-trading/tidemark/research/compare"
	"github.com/tidemark-trading/tidemark/research/machines"
)

// Config says which folder a Folder reads.
type Config struct {
	Folder string           // of the results, such as out
	Ledger string           // file with the tries of all searches; empty: none
	Now    func() time.Time // of this machine
}

// Folder answers questions about a folder of results. It keeps what it has read of a file until the
// file changes. Several goroutines may use it.
type Folder struct {
	Config
	mu      sync.Mutex // held during a look: others wait for the same one
	seen    *seen
	until   time.Time // the look is fresh
	entries map[string]kept[Entry]
	sweeps  map[string]kept[watched]
	gaps    map[string]kept[Gap]
	tries   tries

	search sync.Mutex // one sweep is read at a time
	latest []searched
}

// kept is a document with the state of the file that it was read from.
type kept[T any] struct {
	size    int64
	changed time.Time
	value   T
}

// freshFor is how long a look at the folder is good for, for all pages that are open.
const freshFor = time.Second

// New returns a Folder. The folder on disk need not exist.
func New(c Config) *Folder {
	return &Folder{Config: c, entries: map[string]kept[Entry]{}, sweeps: map[string]kept[watched]{},
		gaps: map[string]kept[Gap]{}}
}

// Standing describes the folder in each list of documents.
type Standing struct {
	Folder  string `json:"folder"`
	Missing bool   `json:"missing"`       // there is no such folder
	Cut     string `json:"cut,omitempty"` // why not all of the folder was looked at; empty: all was
}

// NotFoundError says that the folder does not have something.
type NotFoundError struct{ text string }

// Error says what is not there.
func (e NotFoundError) Error() string { return e.text }

func notFound(format string, args ...any) error { return NotFoundError{fmt.Sprintf(format, args...)} }

// WrongError says that a question cannot be answered as it was asked.
type WrongError struct{ text string }

// Error says what to ask instead.
func (e WrongError) Error() string { return e.text }

// look walks the folder, unless another question has just done so. The caller holds the mutex.
func (s *Folder) look() (*seen, error) {
	now := s.Now()
	if s.seen != nil && now.Before(s.until) {
		return s.seen, nil
	}
	root, err := os.OpenRoot(s.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		s.seen = &seen{Standing: Standing{Folder: s.Folder, Missing: true}}
		s.until = now.Add(freshFor)
		return s.seen, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the folder of results: %w", err)
	}
	defer root.Close()
	w := walk{root: root, seen: &seen{Standing: Standing{Folder: s.Folder}, files: map[string]place{},
		crews: map[string][]machines.Worker{}}}
	if err := w.run(); err != nil {
		return nil, fmt.Errorf("read the folder of results %s: %w", s.Folder, err)
	}
	s.read(root, w.seen)
	s.seen, s.until = w.seen, s.Now().Add(freshFor)
	return s.seen, nil
}

// read reads what is new or has changed, and forgets what is gone.
func (s *Folder) read(root *os.Root, seen *seen) {
	entries := map[string]kept[Entry]{}
	for _, p := range seen.results {
		old, known := s.entries[p.path]
		if !known || old.size != p.size || !old.changed.Equal(p.changed) {
			old = kept[Entry]{p.size, p.changed, readEntry(root, p)}
		}
		old.value.Files = seen.beside(p.path, resultFiles)
		entries[p.path] = old
	}
	sweeps := map[string]kept[watched]{}
	for _, p := range seen.sweeps {
		old, known := s.sweeps[p.path]
		if !known || old.size != p.size || !old.changed.Equal(p.changed) {
			old = kept[watched]{p.size, p.changed, old.value.read(root, p, s.Now())}
		}
		sweeps[p.path] = old
	}
	gaps := map[string]kept[Gap]{}
	for _, p := range seen.gaps {
		old, known := s.gaps[p.path]
		if !known || old.size != p.size || !old.changed.Equal(p.changed) {
			old = kept[Gap]{p.size, p.changed, readGap(root, p)}
		}
		old.value.Files = seen.beside(p.path, gapFiles)
		gaps[p.path] = old
	}
	s.entries, s.sweeps, s.gaps = entries, sweeps, gaps
	s.tries.read(s.Ledger, entries)
}

// run reads a result folder whole.
func (s *Folder) run(name string) (*compare.Run, error) {
	if err := s.has(name); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(s.Folder)
	if err != nil {
		return nil, fmt.Errorf("read the folder of results: %w", err)
	}
	defer root.Close()
	return readRun(root, name)
}

// has checks that a name is that of a result in the folder.
func (s *Folder) has(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.look(); err != nil {
		return err
	}
	if _, known := s.entries[name]; !known {
		return notFound("there is no result %q in %s", name, s.Folder)
	}
	return nil
}

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
