package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"go.etcd.io/bbolt"
)

// The layout of a page of bbolt, in the byte order of the machine: its number, flags, count of elements and overflow; then the elements,
// 16 bytes each. Those of a branch end with the page they lead to; those of a leaf begin with flags, then say where key and value stand,
// and the value of a bucket begins with the page that is its root, 0 for one that lies in the value itself.
const (
	pageHead    = 16
	pageElement = 16
	pageBranch  = 0x01
	pageLeaf    = 0x02
	pageMeta    = 0x04
	pageFree    = 0x10 // the list of free pages
	leafBucket  = 0x01
)

// pageTree follows the pages of a file from the root, each once. The database layer follows them wherever they lead: round and round, where a
// damaged page is its own descendant, and its own look at every page is made only by who writes a file without a list of free pages. Of a
// page this reads the elements alone, and of a leaf that holds no bucket the head.
type pageTree struct {
	file io.ReaderAt
	page int64  // bytes
	end  uint64 // pages
	seen []bool
	room []byte
}

// checkTree wants no page of the file to be found twice: then every walk comes to an end. Whatever else is wrong with a page is left to who
// reads it. levels is how deep buckets lie in each other.
func checkTree(file io.ReaderAt, path string, db *bbolt.DB, levels int) error {
	return db.View(func(tx *bbolt.Tx) error {
		page := int64(db.Info().PageSize)
		t := pageTree{file: file, page: page, end: uint64(tx.Size() / page)}
		t.seen = make([]bool, t.end)
		if err := t.follow(uint64(tx.Cursor().Bucket().RootPage()), levels); err != nil {
			return fmt.Errorf("%s: %w: %w", path, ErrCorrupt, err)
		}
		return nil
	})
}

func (t *pageTree) follow(number uint64, levels int) error {
	if number >= t.end {
		return nil // the database layer fails there
	}
	if t.seen[number] {
		return fmt.Errorf("two ways lead to page %d", number)
	}
	t.seen[number] = true
	at := int64(number) * t.page
	head, err := t.read(at, pageHead)
	if err != nil {
		return err
	}
	flags, count := binary.NativeEndian.Uint16(head[8:]), int64(binary.NativeEndian.Uint16(head[10:]))
	if flags == pageMeta || flags == pageFree { // taken for a branch it would lead anywhere
		return fmt.Errorf("page %d is taken for one that holds keys", number)
	}
	if flags != pageBranch && (flags != pageLeaf || levels == 0) {
		return nil
	}
	elements, err := t.read(at+pageHead, count*pageElement)
	if err != nil {
		return err
	}
	next := make([]uint64, 0, count)
	for i := int64(0); i < int64(len(elements)); i += pageElement {
		element := elements[i : i+pageElement]
		if flags == pageBranch {
			next = append(next, binary.NativeEndian.Uint64(element[8:]))
		} else if root, err := t.bucket(at+pageHead+i, element); err != nil {
			return err
		} else if root != 0 {
			next = append(next, root)
		}
	}
	if flags == pageLeaf {
		levels--
	}
	for _, number := range next {
		if err := t.follow(number, levels); err != nil {
			return err
		}
	}
	return nil
}

// bucket is the root of the bucket that an element of a leaf stands for, 0 where it is none.
func (t *pageTree) bucket(at int64, element []byte) (root uint64, err error) {
	if binary.NativeEndian.Uint32(element)&leafBucket == 0 {
		return 0, nil
	}
	at += int64(binary.NativeEndian.Uint32(element[4:])) + int64(binary.NativeEndian.Uint32(element[8:]))
	var value [8]byte
	if n, err := t.file.ReadAt(value[:], at); n < len(value) {
		return 0, unlessEnd(err)
	}
	return binary.NativeEndian.Uint64(value[:]), nil
}

// read returns whole elements, as many as the file has. They are overwritten by the next call.
func (t *pageTree) read(at, size int64) ([]byte, error) {
	if int64(len(t.room)) < size {
		t.room = make([]byte, max(size, t.page))
	}
	n, err := t.file.ReadAt(t.room[:size], at)
	if int64(n) < size {
		clear(t.room[n:size])
	}
	return t.room[:size], unlessEnd(err)
}

func unlessEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
