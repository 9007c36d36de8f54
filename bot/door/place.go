package door

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/osfile"
	"github.com/tidemark-trading/tidemark/state/signals"
)

// tailBytes is how much before its place shows that a file is still the one that was read.
const tailBytes = 1 << 10

// placeVersion is the version of a place on disk.
const placeVersion = 1

// place is how far a file was read.
type place struct {
	Version int    `json:"version"`
	Offset  int64  `json:"offset"`
	Tail    string `json:"tail"` // digest of the tailBytes before Offset
	// Newest is the latest time of the rows that were heard, and At are the ids of those of that
	// time. A file that was written again goes on behind them.
	Newest market.Time `json:"newest"`
	At     []string    `json:"at,omitempty"`
	Again  bool        `json:"again,omitempty"` // it was written again, and no newer row has come

	newer bool // a newer row has come
}

// load reads a place. known is false where there is none: it is the first start.
func (p *place) load(name string) (known bool, err error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, p)
	}
	if err == nil && p.Version != placeVersion {
		err = fmt.Errorf("its version is %d, and this program knows %d", p.Version, placeVersion)
	}
	if err != nil {
		return false, fmt.Errorf("%s, which keeps how far a file of signals was read: %w; without it, the rows in the "+
			"file are history", name, err)
	}
	return true, nil
}

// save writes the place in a file. of is the file that was read; nil: it is not there yet.
func (p *place) save(name string, of *os.File) (err error) {
	if p.Version = placeVersion; of != nil {
		if p.Tail, err = p.tailOf(of); err != nil {
			return err
		}
	}
	return osfile.Replace(name, func(file *os.File) error {
		return errors.Join(json.NewEncoder(file).Encode(p), file.Sync())
	})
}

// again sets the place to the start of a file that was rotated or written again.
func (p *place) again() { p.Offset, p.Tail, p.Again, p.newer = 0, "", true, false }

// end is called when everything in the file was read.
func (p *place) end() { p.Again, p.newer = p.Again && !p.newer, false }

// fits reports whether a file is the one that was read, with nothing taken away.
func (p *place) fits(file *os.File) (bool, error) {
	info, err := file.Stat()
	if err != nil || info.Size() < p.Offset {
		return false, err
	}
	tail, err := p.tailOf(file)
	return tail == p.Tail || p.Offset == 0, err
}

func (p *place) tailOf(file *os.File) (string, error) {
	tail := make([]byte, min(tailBytes, p.Offset))
	if _, err := file.ReadAt(tail, p.Offset-int64(len(tail))); err != nil {
		return "", err
	}
	sum := sha256.Sum256(tail)
	return hex.EncodeToString(sum[:]), nil
}

// has reports whether a row is of the newest time and was heard.
func (p *place) has(a *signals.Arrival) bool {
	return a.Sent == p.Newest && slices.Contains(p.At, a.ID)
}

// mark remembers a row that was heard.
func (p *place) mark(a *signals.Arrival) {
	switch {
	case a.Sent > p.Newest:
		p.Newest, p.At, p.newer = a.Sent, []string{a.ID}, true
	case a.Sent == p.Newest:
		p.At = append(p.At, a.ID)
	}
}
