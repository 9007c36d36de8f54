package trials

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"math/bits"
	"os"
	"sort"
)

// IndexVersion is the version of the format of the index. An index of another version is made anew.
const IndexVersion = 1

const (
	indexMagic = "TIDETRX\n"
	blockSize  = 4096
	blockRows  = (blockSize - 8) / 8
	indexTail  = 8 // length and checksum of the text
)

// errDamaged is an index that cannot be used.
var errDamaged = errors.New("the index is damaged")

// index is a part of the ledger, from its beginning on, as it is looked up: a file beside it, which
// is never changed, only replaced. It has the head of the ledger's file with another magic text,
// the sorted hashes of all keys, those of all series, a text, and the length and checksum of the
// text. Hashes are in blocks with checksums.
type index struct {
	indexText
	file         *os.File // nil: nothing is indexed
	keys, series column
}

// indexText is an index as JSON.
type indexText struct {
	Covered  int64       `json:"covered"` // bytes of the ledger
	Last     []byte      `json:"last"`    // head of the last frame among them
	Families []counts    `json:"families"`
	Spans    []place     `json:"spans"`
	Seals    []savedSeal `json:"seals"`
	Keys     int64       `json:"keys"` // in all families
	Series   int64       `json:"series"`
}

// counts are those of a family.
type counts struct {
	Tries  int64 `json:"tries"`
	Series int64 `json:"series"`
}

// place is a range of a market that a family has used.
type place struct {
	Market string `json:"market"`
	From   int64  `json:"from_ms"`
	To     int64  `json:"to_ms"`
	Family int    `json:"family"`
}

type savedSeal struct {
	Seal
	Opened *Opening `json:"opened,omitempty"`
}

// indexPath is the index's file.
func (l *Ledger) indexPath() string { return l.path + ".index" }

// openIndex opens the index, if it is one of the ledger as it is.
func (l *Ledger) openIndex() (x *index, err error) {
	file, err := os.Open(l.indexPath())
	if err != nil {
		return nil, err
	}
	x = &index{file: file}
	if err = x.read(); err == nil {
		err = x.belongs(l.path)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return x, nil
}

func (x *index) close() {
	if x.file != nil {
		_ = x.file.Close() // it was read alone
	}
}

// read reads what the index says.
func (x *index) read() error {
	info, err := x.file.Stat()
	if err != nil {
		return err
	}
	head, tail := make([]byte, headSize), make([]byte, indexTail)
	size := info.Size()
	if size < headSize+indexTail {
		return errDamaged
	}
	if _, err := x.file.ReadAt(head, 0); err != nil {
		return err
	}
	if _, err := x.file.ReadAt(tail, size-indexTail); err != nil {
		return err
	}
	length := int64(binary.LittleEndian.Uint32(tail))
	if string(head) != string(headOf(indexMagic, IndexVersion)) || length > size-headSize-indexTail {
		return errDamaged
	}
	text := make([]byte, length)
	if _, err := x.file.ReadAt(text, size-indexTail-length); err != nil {
		return err
	}
	if crc32.Checksum(text, crcTable) != binary.LittleEndian.Uint32(tail[4:]) ||
		json.Unmarshal(text, &x.indexText) != nil {
		return errDamaged
	}
	x.keys = column{x.file, headSize, x.Keys}
	x.series = column{x.file, headSize + x.keys.size(), x.Series}
	if headSize+x.keys.size()+x.series.size()+length+indexTail != size {
		return errDamaged
	}
	return nil
}

// belongs returns an error if the ledger does not begin with what is indexed.
func (x *index) belongs(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	last, err := lastHead(file, x.Covered)
	if err != nil {
		return err
	}
	if string(last) != string(x.Last) {
		return errDamaged
	}
	return nil
}

// lastHead is the head of the frame that ends at a place: mark, length and checksum.
func lastHead(file io.ReaderAt, end int64) ([]byte, error) {
	var tail [frameTail]byte
	if _, err := file.ReadAt(tail[:], end-frameTail); err != nil {
		return nil, err
	}
	head := make([]byte, frameHead)
	_, err := file.ReadAt(head, end-frameTail-int64(binary.LittleEndian.Uint32(tail[:]))-frameHead)
	return head, err
}

// column is a list of sorted hashes in blocks: a checksum, four bytes, and as many hashes as fit.
type column struct {
	from io.ReaderAt
	at   int64
	n    int64
}

func (c *column) blocks() int64 { return (c.n + blockRows - 1) / blockRows }

func (c *column) size() int64 { return c.blocks() * blockSize }

// block reads a block, and returns its hashes.
func (c *column) block(i int64, buffer []byte) ([]byte, error) {
	if _, err := c.from.ReadAt(buffer, c.at+i*blockSize); err != nil {
		return nil, err
	}
	return c.checked(i, buffer)
}

// checked returns the hashes of a block that was read.
func (c *column) checked(i int64, buffer []byte) ([]byte, error) {
	if crc32.Checksum(buffer[4:], crcTable) != binary.LittleEndian.Uint32(buffer) {
		return nil, errDamaged
	}
	return buffer[8 : 8+8*min(blockRows, c.n-i*blockRows)], nil
}

// has looks a hash up. Hashes are spread evenly, so that the hash says about where it is.
func (c *column) has(hash uint64, buffer []byte) (bool, error) {
	if c.n == 0 {
		return false, nil
	}
	about, _ := bits.Mul64(hash, uint64(c.n))
	for i, came := int64(about)/blockRows, int64(0); ; {
		b, err := c.block(i, buffer)
		if err != nil {
			return false, err
		}
		step := int64(0)
		if hash < binary.LittleEndian.Uint64(b) {
			step = -1
		} else if hash > binary.LittleEndian.Uint64(b[len(b)-8:]) {
			step = 1
		}
		if step == 0 {
			_, found := sort.Find(len(b)/8, func(k int) int {
				return cmp.Compare(hash, binary.LittleEndian.Uint64(b[8*k:]))
			})
			return found, nil
		}
		if i += step; i < 0 || i >= c.blocks() || step == -came {
			return false, nil
		}
		came = step
	}
}
