package boltfile

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
)

// The layout of a page of bbolt, in the byte order of the machine: its number, flags, count of
// elements and overflow, which is how many pages more belong to it; then the elements, 16 bytes
// each; then their keys and values in the same order, without a gap. An element of a branch is
// where its key stands, counted from the element on, the key's size and the page that it leads to;
// one of a leaf is flags, where its key stands, and the sizes of key and value. The value of a
// checkBucket begins with its root page, 0 where a page without number follows in the value itself.
const (
	pageHead    = 16
	elementSize = 16
	bucketHead  = 16

	flagBranch = 0x01
	flagLeaf   = 0x02
	flagFree   = 0x10 // the list of free pages
	leafBucket = 0x01 // an element of a leaf that is a bucket

	maxKey       = 32768 // bytes
	maxDepth     = 64    // of branches; the largest file that bbolt can map has far fewer
	contextEvery = 64    // pages between two looks at the context
)

// check reads the structure of a file of that many bytes and returns the first *Damage, or an error
// of ctx or of reading. Of values it reads those of inline buckets alone; what they mean is the
// caller's. It takes memory for one page and a byte for each page of the file.
func check(ctx context.Context, file io.ReaderAt, size int64, levels int) error {
	h, err := readHeads(file, size)
	if err != nil {
		return err
	}
	t := &tree{ctx: ctx, file: file, page: int64(h.pageSize), seen: make([]bool, h.pages)}
	t.seen[0], t.seen[1] = true, true
	if err := t.follow(h.root, bounds{levels: levels}); err != nil {
		return err
	}
	if h.free == noFreeList {
		return nil // bbolt takes for free what was not seen
	}
	return t.checkFreeList(h.free)
}

// tree follows the pages of a file from the root, each once.
type tree struct {
	ctx   context.Context
	file  io.ReaderAt
	page  int64 // bytes
	seen  []bool
	spare [][]byte // buffers of a page
	count int
}

// bounds are what the way to a page says of it.
type bounds struct {
	least, end []byte // its first key, and a key that all of its keys are below; nil: any
	levels     int    // of buckets that may still come
	depth      int
}

// page is one that was read: the first of its pages whole, the others a key at a time.
type page struct {
	tree     *tree
	number   uint64
	flags    uint16
	count    int
	overflow uint64
	data     []byte // of the first page
	size     int64  // with all pages of its overflow
}

func damaged(page uint64, format string, args ...any) error {
	return &Damage{page, fmt.Sprintf(format, args...)}
}

// follow checks a page and all below it.
func (t *tree) follow(number uint64, b bounds) error {
	p, err := t.open(number)
	if err != nil {
		return err
	}
	defer func() { t.spare = append(t.spare, p.data) }()
	switch {
	case b.depth > maxDepth:
		return damaged(number, "it lies deeper than any tree of this size")
	case p.flags == flagBranch:
		return p.checkBranch(b)
	case p.flags == flagLeaf:
		return p.checkLeaf(b)
	}
	return damaged(number, "a page of keys is marked %#x, neither branch nor leaf", p.flags)
}

// open reads a page and marks those that it covers.
func (t *tree) open(number uint64) (*page, error) {
	if t.count++; t.count%contextEvery == 0 && t.ctx.Err() != nil {
		return nil, t.ctx.Err()
	}
	end := uint64(len(t.seen))
	if number < 2 || number >= end {
		return nil, damaged(number, "a page leads there, and pages of keys are 2 to %d", end-1)
	}
	p := &page{tree: t, number: number, data: t.buffer()}
	if _, err := t.file.ReadAt(p.data, int64(number)*t.page); err != nil {
		return nil, fmt.Errorf("read page %d: %w", number, err)
	}
	if id := binary.NativeEndian.Uint64(p.data); id != number {
		return nil, damaged(number, "it says that it is page %d", id)
	}
	p.flags, p.count = binary.NativeEndian.Uint16(p.data[8:]), int(binary.NativeEndian.Uint16(p.data[10:]))
	p.overflow = uint64(binary.NativeEndian.Uint32(p.data[12:]))
	if p.overflow >= end-number {
		return nil, damaged(number, "it goes on for %d pages, and the file ends before", p.overflow)
	}
	for i := number; i <= number+p.overflow; i++ {
		if t.seen[i] {
			return nil, damaged(i, "two ways lead to it")
		}
		t.seen[i] = true
	}
	p.size = int64(p.overflow+1) * t.page
	return p, nil
}

func (t *tree) buffer() []byte {
	if n := len(t.spare); n > 0 {
		b := t.spare[n-1]
		t.spare = t.spare[:n-1]
		return b
	}
	return make([]byte, t.page)
}

// part returns some bytes of a page, which are in it. They may be those of its buffer.
func (p *page) part(at, size int64) ([]byte, error) {
	if at+size <= int64(len(p.data)) {
		return p.data[at : at+size], nil
	}
	part := make([]byte, size)
	if _, err := p.tree.file.ReadAt(part, int64(p.number)*p.tree.page+at); err != nil {
		return nil, fmt.Errorf("read page %d: %w", p.number, err)
	}
	return part, nil
}

// checkFreeList wants the list of free pages to have pages that nothing leads to, each once.
func (t *tree) checkFreeList(number uint64) error {
	p, err := t.open(number)
	if err != nil {
		return err
	}
	if p.flags != flagFree {
		return damaged(number, "the list of free pages is marked %#x", p.flags)
	}
	at, count := int64(pageHead), uint64(p.count)
	if count == 0xffff { // then the count stands in front of the list
		first, err := p.part(at, 8)
		if err != nil {
			return err
		}
		at, count = at+8, binary.NativeEndian.Uint64(first)
	}
	if count > uint64(p.size-at)/8 {
		return damaged(number, "it lists %d free pages, and has no room for so many", count)
	}
	list, err := p.part(at, int64(count)*8)
	if err != nil {
		return err
	}
	for ; len(list) > 0; list = list[8:] {
		switch free := binary.NativeEndian.Uint64(list); {
		case free >= uint64(len(t.seen)):
			return damaged(number, "page %d is in the list of free pages, and the file has %d", free, len(t.seen))
		case t.seen[free]:
			return damaged(number, "page %d is in the list of free pages, and it is in use or in the list twice", free)
		default:
			t.seen[free] = true
		}
	}
	return nil // bbolt itself loses sight of a page now and then, which costs its room and nothing else
}
