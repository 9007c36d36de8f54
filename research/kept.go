package research

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// Kept is the file of a sweep as a reader finds it while the sweep may still write it: the groups
// that are whole. A reader takes no lock and changes nothing.
type Kept struct {
	Identity Identity
	Space    *Space
	Groups   int // whole ones
	Sets     int // of them, over the whole range
	Parts    int // of them, over a part of it: see Halving

	file *file
}

// The longest identity that a reader takes, and the most dimensions.
const (
	maxIdentity = 4 << 20
	maxDims     = 1000
)

// Glance counts the sets of a file without reading them. before is what an earlier Glance has found
// in the same file, which goes on from there; nil: none. The file stays the caller's.
func Glance(on *os.File, before *Kept) (*Kept, error) {
	size, err := on.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", on.Name(), err)
	}
	k := &Kept{file: &file{path: on.Name(), on: on}}
	begin, err := k.identify(size)
	if err != nil {
		return nil, err
	}
	k.file.ends = []int64{begin}
	if before != nil && before.file.ends[0] == begin && before.file.end() <= size &&
		before.Identity.hash() == k.Identity.hash() {
		k.Groups, k.Sets, k.Parts, k.file.ends = before.Groups, before.Sets, before.Parts, before.file.ends
	}
	return k, k.count(size)
}

// identify reads the beginning of the file, and returns where the groups begin.
func (k *Kept) identify(size int64) (begin int64, err error) {
	var magic [len(fileMagic)]byte
	if _, err := k.file.on.ReadAt(magic[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("read %s: %w", k.file.path, err)
	}
	if string(magic[:]) != fileMagic {
		return 0, fmt.Errorf("%s is no file of a sweep that this program reads, or has hardly begun", k.file.path)
	}
	length, _, err := k.head(int64(len(magic)), size)
	if err == nil && length > maxIdentity {
		err = errDamaged
	}
	var text []byte
	if err == nil {
		text, err = k.file.frame(int64(len(magic)), size)
	}
	if err == nil {
		err = json.Unmarshal(text, &k.Identity)
	}
	if err == nil {
		err = k.file.known(k.Identity.Version)
	}
	if err == nil {
		k.Space, err = k.Identity.space()
	}
	if err != nil {
		return 0, fmt.Errorf("%s: its beginning: %w", k.file.path, err)
	}
	return int64(len(magic)) + frameHead + length, nil
}

// head reads the length of the frame at a place, and the first bytes of its payload: the number of
// rows and the beginning of the first one.
func (k *Kept) head(at, size int64) (length int64, first []byte, err error) {
	var b [frameHead + 4 + rowHead]byte
	n, err := k.file.on.ReadAt(b[:min(int64(len(b)), max(size-at, 0))], at)
	if err != nil {
		return 0, nil, fmt.Errorf("read %s: %w", k.file.path, err)
	}
	if n < frameHead {
		return 0, nil, errDamaged
	}
	if length = int64(binary.LittleEndian.Uint32(b[:])); length > largeFrame || at+frameHead+length > size {
		return 0, nil, errDamaged
	}
	return length, b[frameHead:n], nil
}

// count counts the whole groups from the end of those that are known.
func (k *Kept) count(size int64) error {
	for at := k.file.end(); ; {
		length, first, err := k.head(at, size)
		if errors.Is(err, errDamaged) || err == nil && length < 4 {
			return nil // the sweep is writing it, or a kill has torn it
		}
		if err != nil {
			return err
		}
		sets := int(binary.LittleEndian.Uint32(first))
		if int64(sets) > length/rowHead || sets > 0 && len(first) < 4+rowHead {
			return nil
		}
		if sets > 0 && first[4+8] != 0 {
			k.Parts += sets
		} else {
			k.Sets += sets
		}
		at += frameHead + length
		k.Groups, k.file.ends = k.Groups+1, append(k.file.ends, at)
	}
}

// Bytes is the size of the whole groups.
func (k *Kept) Bytes() int64 { return k.file.end() }

// Total is the number of sets to try over the whole range; atMost: it may be less, because the
// file does not tell which sets the parameters' own rules leave out.
func (k *Kept) Total() (sets int, atMost bool) {
	id := &k.Identity
	all := int(min(k.Space.size, maxGrid))
	if id.Method == Grid {
		return all, true
	}
	sets = id.Sets
	if sets == 0 {
		sets = usualSets
	}
	if id.Method == Halving {
		for range rungs(sets) - 1 {
			sets /= halvingPart
		}
	}
	return min(sets, all), true
}

// Found reads the sets, and ranks them by an objective. What only the sweep itself knows is
// missing: which sets are left out, SPA and PBO, and Found.From is the midnight before the first
// return.
// Do not Close it.
func (k *Kept) Found(objective *Formula, require ...*Formula) (*Found, error) {
	s := &sweep{job: Job{Space: k.Space, Method: k.Identity.Method, Sets: k.Identity.Sets, Seed: k.Identity.Seed,
		Objective: objective, Require: require, File: k.file.path, Identity: k.Identity},
		chooser: &chooser{space: k.Space}, store: k.file, glanced: true}
	for group := range k.Groups {
		rows, err := k.file.group(group)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			if rows[i].Set >= k.Space.size || len(rows[i].Figures) != len(figureTable) {
				return nil, fmt.Errorf("group %d of %s has a set that the sweep does not have", group+1, k.file.path)
			}
			if at := market.Time(rows[i].First-1) * day; s.from == 0 || at < s.from {
				s.from = at
			}
		}
		places := make([]int, len(rows))
		for i := range places {
			places[i] = i
		}
		s.add(rows, places, make([]float64, len(rows)))
	}
	return s.found(func() error { return nil }), nil
}

// space is the space of the sweep.
func (id *Identity) space() (*Space, error) {
	if len(id.Space) > maxDims {
		return nil, fmt.Errorf("%d dimensions are more than %d", len(id.Space), maxDims)
	}
	var dims []Dimension
	for _, text := range id.Space {
		key, values, is := strings.Cut(text, "=")
		if !is {
			return nil, fmt.Errorf("%q is no dimension", text)
		}
		dims = append(dims, Dimension{Key: key, Values: strings.Split(values, ",")})
	}
	return NewSpace(dims...)
}

// Around is the mean of the objective over the sets one step away from a set, along one parameter
// each, and how many of them have a value; NaN and 0: none ran.
func (f *Found) Around(tries ...*Try) (means []float64, counts []int) {
	values := make(map[uint64]float64, len(f.Tries))
	for _, t := range f.Tries {
		if t.Valued() {
			values[t.Set] = t.Value
		}
	}
	space := f.sweep.job.Space
	for _, t := range tries {
		sum, n, stride := 0.0, 0, uint64(1)
		places := space.Places(t.Set)
		for i := len(places) - 1; i >= 0; i-- {
			steps := len(space.dims[i].Values)
			for _, step := range [...]int{-1, 1} {
				value, ran := values[t.Set+uint64(step)*stride]
				if at := places[i] + step; ran && at >= 0 && at < steps {
					sum, n = sum+value, n+1
				}
			}
			stride *= uint64(steps)
		}
		means, counts = append(means, sum/float64(n)), append(counts, n)
	}
	return means, counts
}
