package results

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/research/machines"
)

// The bounds of a walk, so that a page answers whatever is in the folder.
const (
	maxDepth   = 8
	maxEntries = 60_000 // files and folders
	maxFound   = 5_000  // results; as many searches, and gaps
)

// The largest files that are read whole.
const (
	maxResult = 16 << 20 // result.json
	maxTable  = 64 << 20 // a CSV file of a result
	maxPage   = 64 << 20 // a page
	maxGap    = 4 << 20  // gap.csv
	maxRoster = 1 << 20  // the workers of a sweep
)

// The files of a result, and those of a gap, that can be fetched. config.json is none of them: it
// has the config's text.
var (
	resultFiles = []string{"report.html", "walkforward.html", "stress.html", "result.json", "trades.csv", "fills.csv",
		"orders.csv", "equity.csv", "days.csv"}
	gapFiles = []string{"gap.html", "gap.csv", "episodes.csv"}
)

// place is a file or a folder of interest.
type place struct {
	path    string // below the folder, with slashes; of a result and a gap that of its folder
	size    int64
	changed time.Time
}

// seen has the files that a walk has found.
type seen struct {
	Standing
	results, sweeps, gaps []place
	// of searches that have no file of their own: stress and comparisons
	pages []place
	files map[string]place             // that can be fetched, by path
	crews map[string][]machines.Worker // of a sweep that a coordinator runs, by path
}

// beside are those of some files that a folder has, by their paths.
func (s *seen) beside(folder string, names []string) []string {
	list := []string{}
	for _, name := range names {
		if _, there := s.files[path.Join(folder, name)]; there {
			list = append(list, path.Join(folder, name))
		}
	}
	return list
}

// walk looks through the folder, level by level: a result that is far down costs no other one its
// place.
type walk struct {
	root    *os.Root
	seen    *seen
	html    map[string]place // all pages, by path
	entries int
}

func (w *walk) run() error {
	w.html = map[string]place{}
	defer w.publish()
	level := []string{"."}
	for depth := 0; len(level) > 0; depth++ {
		if depth > maxDepth {
			w.cut("folders more than %d levels down are left out", maxDepth)
			return nil
		}
		var next []string
		for _, dir := range level {
			below, err := w.folder(dir)
			if err != nil && dir == "." {
				return err
			}
			next = append(next, below...)
			if w.entries >= maxEntries {
				w.cut("only the first %d files and folders were looked at; move older results elsewhere", maxEntries)
				return nil
			}
		}
		level = next
	}
	return nil
}

func (w *walk) cut(format string, args ...any) {
	if w.seen.Cut == "" {
		w.seen.Cut = fmt.Sprintf(format, args...)
	}
}

// folder notes the files of a folder, and returns the folders in it. Links are left out, and what
// begins with a dot: files that are being written.
func (w *walk) folder(dir string) (below []string, err error) {
	on, err := w.root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer on.Close()
	list, err := on.ReadDir(maxEntries - w.entries)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	w.entries += len(list)
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, entry := range list {
		switch name := entry.Name(); {
		case strings.HasPrefix(name, ".farm-"):
			w.crew(dir, name)
		case strings.HasPrefix(name, "."):
		case entry.IsDir():
			below = append(below, path.Join(dir, name))
		case entry.Type().IsRegular():
			w.file(dir, name, entry)
		}
	}
	return below, nil
}

// crew reads which workers a sweep has. A coordinator that has just begun has written nothing yet.
func (w *walk) crew(dir, name string) {
	text, err := readFile(w.root, path.Join(dir, name, machines.RosterFile), maxRoster)
	if err != nil {
		return
	}
	if r, err := machines.ReadRoster(text); err == nil {
		w.seen.crews[path.Join(dir, r.Sweep)] = r.Workers
	}
}

// file notes a file by its name.
func (w *walk) file(dir, name string, entry fs.DirEntry) {
	known := slices.Contains(resultFiles, name) || slices.Contains(gapFiles, name)
	ext := path.Ext(name)
	if !known && ext != ".html" && ext != ".sweep" && ext != ".placebo" {
		return
	}
	info, err := entry.Info()
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	p := place{path.Join(dir, name), info.Size(), info.ModTime()}
	own := p
	own.path = dir
	s := w.seen
	switch {
	case name == "result.json":
		w.note(&s.results, own)
	case name == "gap.csv":
		w.note(&s.gaps, own)
	case ext == ".sweep" || ext == ".placebo":
		w.note(&s.sweeps, p)
	case ext == ".html" && (strings.HasPrefix(name, "stress") || strings.HasPrefix(name, "compare-")):
		w.note(&s.pages, p)
	}
	if known {
		s.files[p.path] = p
	}
	if ext == ".html" {
		w.html[p.path] = p
	}
}

// publish lets the pages of searches be fetched.
func (w *walk) publish() {
	for _, p := range w.seen.pages {
		w.seen.files[p.path] = p
	}
	for _, p := range w.seen.sweeps {
		if html, there := w.html[pageOf(p.path)]; there {
			w.seen.files[html.path] = html
		}
	}
}

// pageOf is the page that a search writes beside its file.
func pageOf(file string) string { return strings.TrimSuffix(file, path.Ext(file)) + ".html" }

func (w *walk) note(list *[]place, p place) {
	if len(*list) >= maxFound {
		w.cut("more than %d results or searches; move older ones elsewhere", maxFound)
		return
	}
	*list = append(*list, p)
}

// readFile reads a regular file of the folder, of at most so many bytes.
func readFile(root *os.Root, name string, most int64) ([]byte, error) {
	on, info, err := openFile(root, name)
	if err != nil {
		return nil, err
	}
	defer on.Close()
	if info.Size() > most {
		return nil, fmt.Errorf("%s has %d MB, and a page reads at most %d", name, info.Size()>>20, most>>20)
	}
	text, err := io.ReadAll(io.LimitReader(on, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s grows while it is read", name)
	}
	return text, err
}

// openFile opens a regular file of the folder. It opens no link, and nothing that would wait for
// another process.
func openFile(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	before, err := root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is no file", name)
	}
	on, err := root.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := on.Stat()
	if err == nil && !os.SameFile(before, info) {
		err = fmt.Errorf("%s was replaced while it was opened", name)
	}
	if err != nil {
		return nil, nil, errors.Join(err, on.Close())
	}
	return on, info, nil
}
