package trials

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"sort"

	"github.com/tidemark-trading/tidemark/state/osfile"
)

// sizes are numbers of tries that decide when the index is written.
type sizes struct {
	first int // without an index
	tail  int // behind the index
	chunk int // that are in memory at once
}

// errUnindexed means that a glance needs an index that cannot be written, as on Windows.
var errUnindexed = errors.New("the ledger has no index")

// errEnough ends a pass over the ledger.
var errEnough = errors.New("enough")

// glance is a ledger as its index and the tries behind that show it. It counts as a View does, in a
// time that does not grow with the ledger.
type glance struct {
	*index
	view    View          // of the frames behind the index, with all seals
	family  []int         // by origin of the view
	keys    map[item]bool // of the tries behind the index
	series  map[item]bool
	tries   int   // behind the index
	covered int64 // bytes that were read
	joins   bool  // a try belongs to several families: they are one now
	full    bool  // a chunk was read, and there is more
}

// item is the hash of a key or of a series in a family.
type item struct {
	hash   uint64
	family int
}

// itemOf hashes a number as counter does.
func itemOf(x uint64, family int) item { return item{mixed(x + mixed(uint64(family))), family} }

// glance reads the index, and the frames behind it. It writes the index anew when there are many.
// The caller closes the index.
func (l *Ledger) glance() (*glance, error) {
	if !osfile.Locks {
		return nil, errUnindexed
	}
	x, err := l.openIndex()
	if err != nil {
		x = &index{indexText: indexText{Covered: headSize}}
	}
	for related := false; ; {
		g, err := l.behind(x)
		if err != nil {
			x.close()
			return nil, err
		}
		limit := l.sizes.tail
		if x.file == nil {
			limit = l.sizes.first
		}
		switch {
		case g.joins && related:
			x.close()
			return nil, errUnindexed
		case g.joins:
			x.close()
			if x, err = l.related(); err != nil {
				return nil, err
			}
			related = true
		case g.full || g.tries > limit:
			written, err := l.replace(g)
			if errors.Is(err, errDamaged) {
				_ = os.Remove(l.indexPath()) // the next glance makes it anew
			}
			if err != nil && !g.full {
				return g, nil // as it is: the next one tries again
			}
			x.close()
			if err != nil {
				return nil, errUnindexed
			}
			x = written
		default:
			return g, nil
		}
	}
}

// related is an index of nothing yet, with the families of the whole ledger.
func (l *Ledger) related() (*index, error) {
	v, err := l.View()
	if err != nil {
		return nil, err
	}
	x := &index{indexText: indexText{Covered: headSize, Families: make([]counts, v.families)}}
	numbers := make([]int, len(v.origins))
	for i := range numbers {
		numbers[i] = i
	}
	slices.SortFunc(numbers, func(a, b int) int { return cmp.Compare(v.origins[a].From, v.origins[b].From) })
	for _, i := range numbers {
		x.place(&v.origins[i], v.family[i])
	}
	return x, nil
}

// behind reads the frames behind an index.
func (l *Ledger) behind(x *index) (*glance, error) {
	g := &glance{index: x, keys: map[item]bool{}, series: map[item]bool{}, covered: x.Covered}
	for _, s := range x.Seals {
		s.Seal.Opened = s.Opened
		if s.Opened != nil {
			opened := *s.Opened
			s.Seal.Opened = &opened
		}
		g.view.Seals = append(g.view.Seals, s.Seal)
	}
	_, err := l.visitFrom(&g.view.reader, x.Covered, func(f *frame) error {
		if f.kind != kindTries {
			g.view.seal(f)
		} else if !g.add(f, l.sizes.chunk) {
			return errEnough
		}
		g.covered = g.view.after
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	return g, nil
}

// add adds a group, unless it joins families or a chunk is full.
func (g *glance) add(f *frame, chunk int) bool {
	if f.origin == len(g.family) {
		o := &g.view.origins[f.origin]
		near := g.near(&Span{o.Markets, o.From, o.To})
		if len(near) > 1 {
			g.joins = true
			return false
		}
		if len(near) == 0 {
			near = []int{len(g.Families)}
			g.Families = append(g.Families, counts{})
		}
		g.family = append(g.family, near[0])
		g.place(o, near[0])
	}
	if g.tries > 0 && g.tries+f.tries() > chunk {
		g.full = true
		return false
	}
	g.view.look(f)
	g.tries += f.tries()
	family := g.family[f.origin]
	for i := range f.tries() {
		t := f.try(i)
		g.keys[itemOf(t.Key, family)] = true
		g.series[itemOf(t.Series, family)] = true
	}
	return true
}

// place notes the markets and the range of an origin of a family.
func (t *indexText) place(o *Origin, family int) {
	for _, m := range o.Markets {
		span, found := Span{[]string{m}, o.From, o.To}, false
		for i := range t.Spans {
			p := &t.Spans[i]
			if p.Family == family && span.overlaps([]string{p.Market}, p.From, p.To) {
				p.From, p.To, found = min(p.From, o.From), max(p.To, o.To), true
				break
			}
		}
		if !found {
			t.Spans = append(t.Spans, place{m, o.From, o.To, family})
		}
	}
}

// near are the families that a span overlaps.
func (t *indexText) near(span *Span) (families []int) {
	for i := range t.Spans {
		p := &t.Spans[i]
		if span.overlaps([]string{p.Market}, p.From, p.To) && !slices.Contains(families, p.Family) {
			families = append(families, p.Family)
		}
	}
	return families
}

// standing counts the tries of a family and an own one.
func (g *glance) standing(family int, own *Try) (st Standing, err error) {
	st = Standing{Tries: g.Families[family].Tries, Series: g.Families[family].Series}
	buffer := make([]byte, blockSize)
	count := func(c *column, x item, n *int64) (fresh bool) {
		has, failed := c.has(x.hash, buffer)
		if err = errors.Join(err, failed); !has {
			*n++
		}
		return !has
	}
	for x := range g.keys {
		if x.family == family {
			count(&g.index.keys, x, &st.Tries)
		}
	}
	for x := range g.series {
		if x.family == family {
			count(&g.index.series, x, &st.Series)
		}
	}
	if own == nil {
		return st, err
	}
	if x := itemOf(own.Key, family); !g.keys[x] {
		st.New = count(&g.index.keys, x, &st.Tries)
	}
	if x := itemOf(own.Series, family); !g.series[x] {
		count(&g.index.series, x, &st.Series)
	}
	return st, err
}

// Standing counts as View.Standing does, mostly in a time that does not grow with the ledger. A
// span that joins families, and a ledger without an index, take a pass over the file.
func (l *Ledger) Standing(span Span, own *Try) (Standing, error) {
	g, err := l.glance()
	if err == nil {
		defer g.close()
		near := g.near(&span)
		if len(near) == 0 && own == nil {
			return Standing{}, nil
		}
		if len(near) == 0 {
			return Standing{Tries: 1, Series: 1, New: true}, nil
		}
		if len(near) == 1 {
			st, err := g.standing(near[0], own)
			if err == nil {
				return st, nil
			}
			_ = os.Remove(l.indexPath()) // it is damaged; the next glance makes it anew
		}
	} else if !errors.Is(err, errUnindexed) {
		return Standing{}, err
	}
	v, err := l.View()
	if err != nil {
		return Standing{}, err
	}
	return v.Standing(span, own)
}

// Seals are all seals in their order, opened ones too.
func (l *Ledger) Seals() ([]Seal, error) {
	g, err := l.glance()
	if errors.Is(err, errUnindexed) {
		v, err := l.View()
		if err != nil {
			return nil, err
		}
		return v.Seals, nil
	}
	if err != nil {
		return nil, err
	}
	g.close()
	return g.view.Seals, nil
}

// replace writes the index with what came behind it, and opens it. A second process that writes it
// at the same time waits, and takes the file of the first.
func (l *Ledger) replace(g *glance) (*index, error) {
	path := l.indexPath() + ".new"
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := osfile.Lock(file, true); err != nil {
		return nil, err
	}
	mine, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if now, err := os.Stat(path); err != nil || !os.SameFile(mine, now) {
		return l.openIndex() // the other has renamed it
	}
	if err := file.Truncate(0); err != nil {
		return nil, err
	}
	if err := g.write(file, l.path); err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	if err := os.Rename(path, l.indexPath()); err != nil {
		return nil, err
	}
	return l.openIndex()
}

// write writes an index of all that was read.
func (g *glance) write(file *os.File, ledger string) error {
	text := g.indexText
	text.Covered, text.Seals, text.Families = g.covered, nil, slices.Clone(g.Families)
	for _, s := range g.view.Seals {
		text.Seals = append(text.Seals, savedSeal{s, s.Opened})
	}
	from, err := os.Open(ledger)
	if err != nil {
		return err
	}
	defer from.Close()
	if text.Last, err = lastHead(from, g.covered); err != nil {
		return err
	}
	to := bufio.NewWriterSize(file, 1<<18)
	to.Write(headOf(indexMagic, IndexVersion)) // the writer keeps its error for Flush
	text.Keys, err = merged(to, &g.index.keys, g.keys, func(family int) { text.Families[family].Tries++ })
	if err != nil {
		return err
	}
	text.Series, err = merged(to, &g.index.series, g.series, func(family int) { text.Families[family].Series++ })
	if err != nil {
		return err
	}
	b, err := json.Marshal(&text)
	if err != nil {
		return err
	}
	sum := crc32.Checksum(b, crcTable)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(b)))
	to.Write(binary.LittleEndian.AppendUint32(b, sum))
	if err := to.Flush(); err != nil {
		return fmt.Errorf("write %s: %w", file.Name(), err)
	}
	return nil
}

// merged writes a column with more hashes, and calls fresh for each that it did not have. It
// returns their number.
func merged(to io.Writer, old *column, more map[item]bool, fresh func(family int)) (int64, error) {
	list := make([]item, 0, len(more))
	for x := range more {
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b item) int { return cmp.Compare(a.hash, b.hash) })
	w, buffer := blockWriter{to: to}, make([]byte, blockSize)
	from := bufio.NewReaderSize(io.NewSectionReader(old.from, old.at, old.size()), 1<<18)
	for i := range old.blocks() {
		if _, err := io.ReadFull(from, buffer); err != nil {
			return 0, err
		}
		b, err := old.checked(i, buffer)
		if err != nil {
			return 0, err
		}
		for len(b) > 0 {
			below := len(b) / 8
			if len(list) > 0 {
				below = sort.Search(below,
					func(k int) bool { return binary.LittleEndian.Uint64(b[8*k:]) >= list[0].hash })
			}
			w.copy(b[:8*below])
			if b = b[8*below:]; len(b) == 0 {
				break
			}
			if binary.LittleEndian.Uint64(b) != list[0].hash {
				fresh(list[0].family)
				w.put(list[0].hash)
			}
			list = list[1:]
		}
	}
	for _, x := range list {
		fresh(x.family)
		w.put(x.hash)
	}
	w.end()
	return w.n, nil
}

// blockWriter writes the blocks of a column. Its writer keeps the first error.
type blockWriter struct {
	to    io.Writer
	block [blockSize]byte
	rows  int
	n     int64
}

func (w *blockWriter) put(hash uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], hash)
	w.copy(b[:])
}

// copy writes hashes as they are.
func (w *blockWriter) copy(hashes []byte) {
	w.n += int64(len(hashes) / 8)
	for len(hashes) > 0 {
		n := copy(w.block[8+8*w.rows:8+8*blockRows], hashes)
		hashes = hashes[n:]
		if w.rows += n / 8; w.rows == blockRows {
			w.end()
		}
	}
}

// end writes the block, if it has rows.
func (w *blockWriter) end() {
	if w.rows == 0 {
		return
	}
	clear(w.block[8+8*w.rows:])
	binary.LittleEndian.PutUint32(w.block[:], crc32.Checksum(w.block[4:], crcTable))
	_, _ = w.to.Write(w.block[:])
	w.rows = 0
}
