package candles

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// File is CSV to import: a file, gzip of one, or a member of a zip.
type File struct {
	Name string                        // for errors; empty: the only one
	Open func() (io.ReadCloser, error) // may be called again
	once bool                          // Open may be called once only
}

// Stream is a stream as a file that can be read once.
func Stream(r io.Reader) File {
	return File{Open: func() (io.ReadCloser, error) { return io.NopCloser(r), nil }, once: true}
}

// Files lists the CSV files at a path: the file itself, the members of a zip, or the files of a
// folder and the members of its zips, by name. pattern chooses among the names of members and files
// (path.Match); an empty one takes the members and files that end in .csv, .tsv or .txt, with .gz
// too, or .zip. Of a zip without such a member it takes all that are not hidden.
func Files(name, pattern string) ([]File, error) {
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("pattern %q: %w; want one like *.csv.gz", pattern, err)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		files, err := filesOf(name, "", pattern)
		if err == nil && len(files) == 1 && files[0].Name == name {
			files[0].Name = ""
		}
		return files, err
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, err
	}
	var files []File
	var others []string
	for _, entry := range entries {
		if entry.IsDir() || !chosen(entry.Name(), pattern, folderEndings) {
			others = append(others, entry.Name())
			continue
		}
		more, err := filesOf(filepath.Join(name, entry.Name()), entry.Name(), "")
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: %w", name, noneChosen(pattern, others))
	}
	return files, nil
}

// folderEndings are the ends of names of CSV files.
var folderEndings = []string{".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz", ".zip"}

// hiddenMembers is a folder that macOS adds to a zip.
const hiddenMembers = "__MACOSX/"

// chosen reports whether a name matches a pattern, or without one has one of some endings. No
// endings: any name matches.
func chosen(name, pattern string, endings []string) bool {
	if strings.HasPrefix(path.Base(name), ".") {
		return false
	}
	if pattern != "" {
		matched, _ := path.Match(pattern, path.Base(name)) // Files checked the pattern
		return matched
	}
	return endings == nil || slices.ContainsFunc(endings, func(end string) bool {
		return strings.HasSuffix(strings.ToLower(name), end)
	})
}

// noneChosen says that no name was chosen, and which there are.
func noneChosen(pattern string, others []string) error {
	if pattern == "" {
		pattern = "*.csv, *.csv.gz or *.zip"
	}
	there := "it is empty"
	if len(others) > 0 {
		there = "in it are " + strings.Join(others[:min(len(others), 8)], ", ")
	}
	return fmt.Errorf("nothing in it matches %s (%s); choose with --pattern", pattern, there)
}

// filesOf lists the members of a zip, or the file itself. label is its name in a folder.
func filesOf(name, label, pattern string) ([]File, error) {
	archive, err := zip.OpenReader(name)
	if errors.Is(err, zip.ErrFormat) && !beginsAsZip(name) {
		if label == "" {
			label = name
		}
		return []File{{Name: label, Open: func() (io.ReadCloser, error) { return os.Open(name) }}}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; download it again, or unpack it", name, err)
	}
	defer archive.Close()
	var files []File
	var others []string
	var endings []string // nil: a zip without any CSV by its name may have it under another
	isCSV := func(member *zip.File) bool { return chosen(member.Name, "", folderEndings) }
	if slices.ContainsFunc(archive.File, isCSV) {
		endings = folderEndings
	}
	for _, member := range archive.File {
		switch {
		case member.Name == "xl/workbook.xml":
			return nil, fmt.Errorf("%s is an Excel workbook, not CSV; save the sheet as CSV", name)
		case strings.HasSuffix(member.Name, "/"), strings.HasPrefix(member.Name, hiddenMembers):
		case !chosen(member.Name, pattern, endings):
			others = append(others, member.Name)
		default:
			files = append(files, memberFile(name, member.Name, label))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: %w", name, noneChosen(pattern, others))
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}

// beginsAsZip reports whether a file has the first bytes of a zip.
func beginsAsZip(name string) bool {
	file, err := os.Open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	var magic [4]byte
	_, err = io.ReadFull(file, magic[:])
	return err == nil && string(magic[:]) == "PK\x03\x04"
}

// memberFile is a member of a zip; label is the name of the zip in a folder.
func memberFile(archive, member, label string) File {
	if label != "" {
		label += ": "
	}
	return File{Name: label + member, Open: func() (io.ReadCloser, error) {
		all, err := zip.OpenReader(archive)
		if err != nil {
			return nil, err
		}
		for _, one := range all.File {
			if one.Name != member {
				continue
			}
			in, err := one.Open()
			if err != nil {
				return nil, errors.Join(err, all.Close())
			}
			return &memberReader{in, all}, nil
		}
		return nil, errors.Join(fmt.Errorf("%s has no member %s any more", archive, member), all.Close())
	}}
}

// memberReader reads a member of a zip and closes both.
type memberReader struct {
	io.ReadCloser
	archive io.Closer
}

// Close closes the member and the zip.
func (r *memberReader) Close() error { return errors.Join(r.ReadCloser.Close(), r.archive.Close()) }

// startOf is the line that a file begins behind, counted through all files.
type startOf struct {
	name string
	line int64
}

// place turns a line of all files into one of its own file.
func (c *csvImport) place(line int64) (file string, own int64) {
	for _, start := range slices.Backward(c.files) {
		if line > start.line {
			return start.name, line - start.line
		}
	}
	return "", line
}

// readFiles reads all rows.
func (c *csvImport) readFiles(files []File) error {
	for i := range files {
		if err := c.readFile(&files[i]); err != nil {
			if files[i].Name != "" {
				err = fmt.Errorf("%s: %w", files[i].Name, err)
			}
			return err
		}
	}
	return nil
}

func (c *csvImport) readFile(f *File) error {
	in, err := f.Open()
	if err != nil {
		return err
	}
	c.files = append(c.files, startOf{f.Name, c.line})
	c.report.Files = len(c.files)
	text, err := plainText(in)
	if err == nil {
		err = c.readAll(text)
	}
	return errors.Join(err, in.Close())
}

// readHead finds the form of a file by its first lines and skips what stands above its rows.
func (c *csvImport) readHead(in *bufio.Reader) error {
	head, err := in.Peek(maxLine)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("line 1: %w", err)
	}
	lines, size, err := c.layout.detect(head, c.options)
	if err != nil {
		return err
	}
	c.layout.ownClock = c.options.OwnClock
	c.layout.prices, c.layout.roundPrices = c.options.PriceDigits, c.options.RoundPrices
	c.line += int64(lines)
	c.report.Above += int64(lines)
	c.report.Bytes += int64(size)
	_, err = in.Discard(size)
	return err
}

// plainText returns the text of a file as UTF-8 without a byte order mark: gzip is unpacked, UTF-16
// is converted.
func plainText(r io.Reader) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(r, maxLine)
	start, err := in.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	var isWide, bigEndian bool
	switch {
	case bytes.HasPrefix(start, []byte("\x1f\x8b")):
		unpacked, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("unpack gzip: %w", err)
		}
		return plainText(unpacked)
	case bytes.HasPrefix(start, []byte("\xef\xbb\xbf")):
		_, err := in.Discard(3)
		return in, err
	case bytes.HasPrefix(start, []byte("\xff\xfe")):
		isWide = true
	case bytes.HasPrefix(start, []byte("\xfe\xff")):
		isWide, bigEndian = true, true
	case len(start) == 4 && start[0] != 0 && start[1] == 0 && start[2] != 0 && start[3] == 0:
		isWide = true
	case len(start) == 4 && start[0] == 0 && start[1] != 0 && start[2] == 0 && start[3] != 0:
		isWide, bigEndian = true, true
	}
	if !isWide {
		return in, nil
	}
	return bufio.NewReaderSize(&wideReader{in: in, bigEndian: bigEndian}, maxLine), nil
}

// wideReader converts UTF-16 to UTF-8.
type wideReader struct {
	in        *bufio.Reader
	bigEndian bool
	text      []byte // converted and not yet read
	high      rune   // first half of a pair; 0: there is none
}

// Read converts a part of the text.
func (r *wideReader) Read(p []byte) (int, error) {
	r.text = r.text[:0]
	for len(r.text)+2*utf8.UTFMax <= len(p) {
		unit, err := r.unit()
		if err != nil {
			if len(r.text) > 0 && errors.Is(err, io.EOF) {
				break
			}
			return copy(p, r.text), err
		}
		switch {
		case unit == '\ufeff':
		case r.high != 0:
			r.text = utf8.AppendRune(r.text, utf16.DecodeRune(r.high, unit))
			r.high = 0
		case utf16.IsSurrogate(unit):
			r.high = unit
		default:
			r.text = utf8.AppendRune(r.text, unit)
		}
	}
	return copy(p, r.text), nil
}

func (r *wideReader) unit() (rune, error) {
	pair, err := r.in.Peek(2)
	if err != nil {
		return 0, err
	}
	unit := rune(pair[0]) | rune(pair[1])<<8
	if r.bigEndian {
		unit = rune(pair[1]) | rune(pair[0])<<8
	}
	_, err = r.in.Discard(2)
	return unit, err
}
