package placebo

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark-trading/tidemark/research"
)

// fileVersion is the version of a test's file.
const fileVersion = 1

// The file is lines of text, each with the CRC-32C of what stands before it at its end. The first
// line is the magic word with the Identity in JSON, each further one the number of a surrogate with
// its theta, in the order of the numbers. A kill tears at most the last line.
const fileMagic = "TMPLACEBO "

// Identity names the test that a file belongs to. Another test has another file.
type Identity struct {
	Version int    `json:"version"`
	Code    string `json:"code"`   // the program's version
	Config  string `json:"config"` // a hash of the settings that are not varied
	Data    string `json:"data"`   // a hash of the candles
	// Procedure is the tested search: space, method, objective, and whatever else leads to a
	// winner.
	Procedure []string `json:"procedure"`
	Rules     Rules    `json:"rules"`
}

// hash is a hash of all fields, in hexadecimal digits.
func (id *Identity) hash() string {
	text, _ := json.Marshal(id) // of texts and numbers
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// differences names the fields in which two identities differ.
func (id *Identity) differences(other *Identity) (names []string) {
	for _, f := range [...]struct {
		name string
		same bool
	}{
		{"the version of the program", id.Code == other.Code}, {"the config", id.Config == other.Config},
		{"the candles", id.Data == other.Data}, {"the search", slices.Equal(id.Procedure, other.Procedure)},
		{"the seed", id.Rules.Seed == other.Rules.Seed}, {"what is kept", id.Rules.Keep == other.Rules.Keep &&
			id.Rules.SeasonalDrift == other.Rules.SeasonalDrift},
		{"what surrogates alter", id.Rules.Signals == other.Rules.Signals},
	} {
		if !f.same {
			names = append(names, f.name)
		}
	}
	return names
}

// file is the file of a test, opened for appending by one process.
type file struct {
	path   string
	on     *os.File
	thetas []float64 // by surrogate
	torn   string    // what was wrong behind the last whole line; empty: nothing
}

// openFile opens the file of a test, or begins it. What follows the last whole line is cut off.
func openFile(path string, id *Identity) (f *file, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("open the placebo's file: %w", err)
	}
	on, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the placebo's file: %w", err)
	}
	f = &file{path: path, on: on}
	if err = research.Lock(on); err == nil {
		err = f.read(id)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), on.Close())
	}
	return f, nil
}

// read reads what an earlier start has left.
func (f *file) read(id *Identity) error {
	content, err := io.ReadAll(f.on)
	if err != nil {
		return err
	}
	first, _, whole := bytes.Cut(content, []byte("\n"))
	if !whole { // empty, or torn in its first line
		if text := string(content); !strings.HasPrefix(text, fileMagic) && !strings.HasPrefix(fileMagic, text) {
			return errors.New("this is no file of a placebo that this program reads; move it away, or write elsewhere")
		}
		if err := f.cut(0); err != nil {
			return err
		}
		text, err := json.Marshal(id)
		if err != nil {
			return err
		}
		return f.write(fileMagic + string(text))
	}
	if err := belongs(first, id); err != nil {
		return err
	}
	thetas, good := thetasOf(content, len(first)+1)
	if f.thetas = thetas; good < len(content) {
		f.torn = fmt.Sprintf("%d bytes behind surrogate %d are damaged or torn; what they held is computed again",
			len(content)-good, len(f.thetas))
	}
	return f.cut(int64(good))
}

// thetasOf reads the whole lines from a place on, and returns where they end.
func thetasOf(content []byte, from int) (thetas []float64, good int) {
	for good = from; good < len(content); {
		line, _, whole := bytes.Cut(content[good:], []byte("\n"))
		theta, ok := parse(line, len(thetas)+1)
		if !whole || !ok {
			break
		}
		thetas = append(thetas, theta)
		good += len(line) + 1
	}
	return thetas, good
}

// Glance reads the content of a test's file, which the test may still be writing: to which test it
// belongs, and the thetas of the surrogates that have been searched.
func Glance(content []byte) (id Identity, thetas []float64, err error) {
	first, _, whole := bytes.Cut(content, []byte("\n"))
	if !whole {
		return id, nil, errors.New("this is no file of a placebo that this program reads, or it has hardly begun")
	}
	if err = identify(first, &id); err == nil {
		thetas, _ = thetasOf(content, len(first)+1)
	}
	return id, thetas, err
}

// belongs checks that the first line is that of this test.
func belongs(line []byte, id *Identity) error {
	var have Identity
	if err := identify(line, &have); err != nil {
		return err
	}
	if others := id.differences(&have); len(others) > 0 {
		return fmt.Errorf("it belongs to another placebo, which differs in %s; write to another file, or move "+
			"this one away", strings.Join(others, ", "))
	}
	return nil
}

// identify reads the first line.
func identify(line []byte, have *Identity) error {
	if !bytes.HasPrefix(line, []byte(fileMagic)) {
		return errors.New("this is no file of a placebo that this program reads; move it away, or write elsewhere")
	}
	text, ok := checked(line)
	if !ok {
		return errors.New("the first line is damaged: nothing says to which placebo the file belongs; move it away")
	}
	if err := json.Unmarshal(text[len(fileMagic):], have); err != nil {
		return fmt.Errorf("the identity is no JSON: %w", err)
	}
	if have.Version != fileVersion {
		return fmt.Errorf("the format is %d, and this program reads up to %d; use the newer program", have.Version,
			fileVersion)
	}
	return nil
}

// crcTable is that of the checksum: Castagnoli, which processors compute.
var crcTable = crc32.MakeTable(crc32.Castagnoli)

// checked is a line without its checksum, if that is right.
func checked(line []byte) (text []byte, ok bool) {
	at := bytes.LastIndexByte(line, ' ')
	if at < 0 {
		return nil, false
	}
	return line[:at], string(line[at+1:]) == sum(string(line[:at]))
}

func sum(text string) string { return fmt.Sprintf("%08x", crc32.Checksum([]byte(text), crcTable)) }

// parse reads the line of a surrogate.
func parse(line []byte, number int) (theta float64, ok bool) {
	text, ok := checked(line)
	if !ok {
		return 0, false
	}
	n, value, _ := strings.Cut(string(text), " ")
	theta, err := strconv.ParseFloat(value, 64)
	return theta, err == nil && n == strconv.Itoa(number)
}

// append writes the result of a surrogate. It does not wait for the disk: a line that a power cut
// has torn is computed again.
func (f *file) append(number int, theta float64) error {
	return f.write(strconv.Itoa(number) + " " + strconv.FormatFloat(theta, 'g', -1, 64))
}

// write writes a line at the end. After an error the file ends where it did.
func (f *file) write(text string) error {
	at, err := f.on.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	if _, err := f.on.WriteString(text + " " + sum(text) + "\n"); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", f.path, err), f.cut(at))
	}
	return nil
}

// cut ends the file at a place.
func (f *file) cut(at int64) error {
	if err := f.on.Truncate(at); err != nil {
		return fmt.Errorf("cut %s: %w", f.path, err)
	}
	return nil
}

// Close closes the file and gives its lock back.
func (f *file) Close() error { return f.on.Close() }
