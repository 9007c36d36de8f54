package journal

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// An excerpt is a part of a journal that stands for itself: others check its chain and read it
// without the state file. It is
//
//	4   magic: excerptMagic
//	…   compressed with zstd: the length of the head as a varint, the head as JSON, and of each
//	    entry the length as a varint and its bytes from the time on; last a 0
//
// The hashes are not in it, but for the first and the last one: they follow from the entries.
const excerptMagic = "TMX1"

// Excerpt is the head of an excerpt.
type Excerpt struct {
	From    uint64         `json:"from"` // the number of the first entry
	To      uint64         `json:"to"`   // of the last one
	Before  []byte         `json:"before"`
	Last    []byte         `json:"last"` // hash of the last entry
	Assets  []excerptAsset `json:"assets"`
	Markets []excerptUnits `json:"markets"`
}

type excerptAsset struct {
	Symbol string `json:"symbol"`
	Digits uint8  `json:"digits"`
}

type excerptUnits struct {
	Name   string `json:"name"`
	Digits uint8  `json:"price_digits"`
	Volume uint8  `json:"volume_digits"`
}

// maxExcerptHead is the most bytes of a head: that of all markets of a large exchange is shorter.
const maxExcerptHead = 1 << 20

// WriteExcerpt writes the journal from an entry on, or from the first one behind what Prune
// removed.
func (s *Store) WriteExcerpt(w io.Writer, from uint64) (x Excerpt, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		if x, err = s.excerptOf(tx, max(from, 1)); err != nil {
			return s.wrap(err)
		}
		if _, err := io.WriteString(w, excerptMagic); err != nil {
			return err
		}
		out, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return err
		}
		head, err := json.Marshal(&x)
		if err != nil {
			return err
		}
		err = writeLong(out, head)
		if err == nil {
			err = s.entriesOf(tx).forward(s.reading, x.From, func(_, value []byte) error {
				return writeLong(out, value[sha256.Size:])
			})
		}
		if err == nil {
			err = writeLong(out, nil)
		}
		return errors.Join(err, out.Close())
	})
	return x, err
}

// excerptOf is the head of an excerpt from an entry on.
func (s *Store) excerptOf(tx *bbolt.Tx, from uint64) (x Excerpt, err error) {
	removed, err := cutOf(tx)
	if err != nil {
		return x, err
	}
	end, err := headOf(tx)
	if err != nil {
		return x, err
	}
	x.From, x.To, x.Last = max(from, removed.number+1), end.number, end.hash[:]
	if x.From > x.To {
		return x, fmt.Errorf("the journal ends with entry %d", x.To)
	}
	if x.Before = make([]byte, sha256.Size); x.From == removed.number+1 {
		copy(x.Before, removed.hash[:])
	} else {
		stored, err := s.entriesOf(tx).get(x.From - 1)
		if err != nil {
			return x, err
		}
		if len(stored) < entryHead {
			return x, fmt.Errorf("%w: the journal lacks entry %d", bolt.ErrCorrupt, x.From-1)
		}
		copy(x.Before, stored)
	}
	for _, a := range s.Catalog().Assets() {
		x.Assets = append(x.Assets, excerptAsset{a.Symbol, a.Digits})
	}
	for _, m := range s.Catalog().Markets() {
		x.Markets = append(x.Markets, excerptUnits{m.Name, m.PriceDigits, m.VolumeDigits})
	}
	return x, nil
}

func writeLong(w io.Writer, text []byte) error {
	if _, err := w.Write(binary.AppendUvarint(nil, uint64(len(text)))); err != nil {
		return err
	}
	_, err := w.Write(text)
	return err
}

// ReadExcerpt calls visit with the entries of an excerpt, and with the catalog in whose units they
// are, until visit returns an error, which ReadExcerpt returns. It checks the chain from the first
// entry to the last; damage wraps ErrCorrupt.
func ReadExcerpt(r io.Reader, visit func(*market.Catalog, *Entry) error) (x Excerpt, err error) {
	var magic [len(excerptMagic)]byte
	if _, err := io.ReadFull(r, magic[:]); err != nil || string(magic[:]) != excerptMagic {
		if err == nil && bytes.HasPrefix(magic[:], []byte(excerptMagic[:3])) {
			return x, fmt.Errorf("%w: %q, this program reads %s; update the program", bolt.ErrNewer, magic[:],
				excerptMagic)
		}
		return x, fmt.Errorf("%w: it is no excerpt of a journal", bolt.ErrCorrupt)
	}
	stream, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxSegment))
	if err != nil {
		return x, err
	}
	defer stream.Close()
	in := bufio.NewReader(stream)
	text, err := readLong(in, maxExcerptHead)
	if err == nil {
		err = json.Unmarshal(text, &x)
	}
	if err == nil && (len(x.Before) != sha256.Size || len(x.Last) != sha256.Size || x.From == 0) {
		err = errors.New("its head lacks a hash")
	}
	if err != nil {
		return x, fmt.Errorf("%w: head of the excerpt: %w", bolt.ErrCorrupt, err)
	}
	catalog, err := x.catalog()
	if err != nil {
		return x, fmt.Errorf("%w: head of the excerpt: %w", bolt.ErrCorrupt, err)
	}
	return x, x.read(in, catalog, visit)
}

// read reads the entries.
func (x *Excerpt) read(in *bufio.Reader, catalog *market.Catalog, visit func(*market.Catalog, *Entry) error) error {
	links := head{number: x.From - 1, hash: [sha256.Size]byte(x.Before)}
	s := &Store{names: codec.NewNames(catalog, nil), path: "excerpt"}
	for {
		text, err := readLong(in, maxSegment)
		if err != nil {
			return fmt.Errorf("%w: entry %d: %w", bolt.ErrCorrupt, links.number+1, err)
		}
		if len(text) == 0 {
			break
		}
		if links.number == x.To {
			return fmt.Errorf("%w: entries follow the last one, %d", bolt.ErrCorrupt, x.To)
		}
		entry, err := s.readEntry(key64(links.number+1), links.seal(append(make([]byte, entryFront), text...)))
		if err != nil {
			return err
		}
		if err := visit(catalog, &entry); err != nil {
			return err
		}
	}
	if links.number != x.To || !bytes.Equal(links.hash[:], x.Last) {
		return fmt.Errorf("%w: its entries do not lead from its first hash to its last", bolt.ErrCorrupt)
	}
	return nil
}

// readLong reads bytes of which writeLong wrote the length; most is their limit.
func readLong(in *bufio.Reader, most uint64) ([]byte, error) {
	length, err := binary.ReadUvarint(in)
	if err == nil && length > most {
		err = fmt.Errorf("%d bytes", length)
	}
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if _, err := io.CopyN(&text, in, int64(length)); err != nil { // damage may name any length
		return nil, io.ErrUnexpectedEOF
	}
	return text.Bytes(), nil
}

// catalog has the markets and assets of an excerpt.
func (x *Excerpt) catalog() (*market.Catalog, error) {
	c := &market.Catalog{}
	for _, a := range x.Assets {
		if a.Digits > market.MaxDigits {
			return nil, fmt.Errorf("%s has %d decimals", a.Symbol, a.Digits)
		}
		if _, err := c.AddAsset(a.Symbol, a.Digits); err != nil {
			return nil, err
		}
	}
	for _, m := range x.Markets {
		if max(m.Digits, m.Volume) > market.MaxDigits {
			return nil, fmt.Errorf("%s has %d decimals", m.Name, m.Digits)
		}
		if err := extendMarket(c, m.Name, m.Digits, m.Volume); err != nil {
			return nil, err
		}
	}
	return c, nil
}
