package bolt

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
)

// The layout of a page of bbolt, in the byte order of the machine: number, flags, count of
// elements, overflow (the number of further pages that belong to it); then the elements, 16 bytes
// each; then their keys and values in the same order, without a gap. An element of a branch is the
// offset of its key from the element, the size of the key, and the page below. An element of a leaf
// is flags, the offset of its key, and the sizes of key and value. The value of a bucket begins
// with its root page; if that is 0, the page itself follows in the value, without a number.
const (
	pageHead    = 16
	elementSize = 16
	bucketHead  = 16

	flagBranch = 0x01
	flagLeaf   = 0x02
	flagFree   = 0x10 // the list of free pages
	leafBucket = 0x01 // an element of a leaf that is a bucket

	maxKey       = 32768 // bytes
	maxDepth     = 64    // of branches; the largest file has far fewer
	contextEvery = 64    // pages between two checks of the context
)

// check reads the structure of a file of size bytes and returns the first *Damage, or an error of
// ctx or of reading. It reads no values except inline buckets. It takes memory for one page and a
// byte for each page of the file.
func check(ctx context.Context, file io.ReaderAt, size int64, levels int) error {
	t, err := checkTree(ctx, file, size, levels, false)
	if err != nil {
		return err
	}
	return t.checkFreeList()
}

// checkTree is check without the list of free pages. With lazy the tree has unread leaves.
func checkTree(ctx context.Context, file io.ReaderAt, size int64, levels int, lazy bool) (*tree, error) {
	h, err := readHeads(file, size)
	if err != nil {
		return nil, err
	}
	t := &tree{ctx: ctx, file: file, page: int64(h.pageSize), seen: make([]bool, h.pages), free: h.free}
	if lazy {
		t.unread = map[uint64][]*unreadLeaves{}
	}
	t.seen[0], t.seen[1] = true, true
	_, err = t.follow(h.root, bounds{levels: levels})
	return t, err
}

// tree follows the pages of a file from the root, each once.
type tree struct {
	ctx    context.Context
	file   io.ReaderAt
	page   int64 // bytes
	free   uint64
	seen   []bool
	spare  [][]byte // buffers of a page
	count  int
	unread map[uint64][]*unreadLeaves // by the root page of their bucket, sorted; nil: every leaf is read
}

// bounds are the limits that the pages above set to the keys of a page.
type bounds struct {
	least, end []byte // its first key, and a key above all its keys; nil: any
	levels     int    // of buckets that are allowed below
	depth      int
	bucket     uint64 // root page of its bucket; 0: the root of the file
}

// page is a page in use. Its first page is in memory; of its overflow single keys are read.
type page struct {
	tree     *tree
	number   uint64
	flags    uint16
	count    int
	overflow uint64
	data     []byte // of the first page
	size     int64  // with all pages of its overflow
	kept     bool   // something refers to data, which must not be used again
}

func damaged(page uint64, format string, args ...any) error {
	return &Damage{page, fmt.Sprintf(format, args...)}
}

// follow checks a page and all pages below it, and returns the page's flags.
func (t *tree) follow(number uint64, b bounds) (flags uint16, err error) {
	p, err := t.open(number)
	if err != nil {
		return 0, err
	}
	defer p.release()
	switch {
	case b.depth > maxDepth:
		return 0, damaged(number, "it lies deeper than any tree of this size")
	case p.flags == flagBranch:
		return p.flags, p.checkBranch(b)
	case p.flags == flagLeaf:
		return p.flags, p.checkLeaf(b)
	}
	return 0, damaged(number, "a page of keys is marked %#x, neither branch nor leaf", p.flags)
}

// release gives the page's buffer to the next page.
func (p *page) release() {
	if !p.kept {
		p.tree.spare = append(p.tree.spare, p.data)
	}
}

// mark checks that a page of keys may have this number, and notes that one way leads to it.
func (t *tree) mark(number uint64) error {
	switch end := uint64(len(t.seen)); {
	case number < 2 || number >= end:
		return damaged(number, "a page leads there, and pages of keys are 2 to %d", end-1)
	case t.seen[number]:
		return damaged(number, "two ways lead to it")
	}
	t.seen[number] = true
	return nil
}

// open reads a page and marks it and its overflow as seen.
func (t *tree) open(number uint64) (*page, error) {
	if t.count++; t.count%contextEvery == 0 && t.ctx.Err() != nil {
		return nil, t.ctx.Err()
	}
	if err := t.mark(number); err != nil {
		return nil, err
	}
	p := &page{tree: t, number: number, data: t.buffer()}
	if _, err := t.file.ReadAt(p.data, int64(number)*t.page); err != nil {
		return nil, fmt.Errorf("read page %d: %w", number, err)
	}
	if id := binary.NativeEndian.Uint64(p.data); id != number {
		return nil, damaged(number, "its bytes are those of page %d", id)
	}
	p.flags, p.count = binary.NativeEndian.Uint16(p.data[8:]), int(binary.NativeEndian.Uint16(p.data[10:]))
	p.overflow = uint64(binary.NativeEndian.Uint32(p.data[12:]))
	if p.overflow >= uint64(len(t.seen))-number {
		return nil, damaged(number, "it goes on for %d pages, and the file ends before", p.overflow)
	}
	for i := number + 1; i <= number+p.overflow; i++ {
		if err := t.mark(i); err != nil {
			return nil, err
		}
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

// part returns bytes of a page. They may be a part of the page's buffer.
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

// checkFreeList checks that the list of free pages has only unused pages, each once. A file may
// have no list: bbolt treats every page that it does not reach as free.
func (t *tree) checkFreeList() error {
	number := t.free
	if number == noFreeList {
		return nil
	}
	p, err := t.open(number)
	if err != nil {
		return err
	}
	if p.flags != flagFree {
		return damaged(number, "the list of free pages is marked %#x", p.flags)
	}
	at, count := int64(pageHead), uint64(p.count)
	if count == 0xffff { // the count is in front of the list
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
	return nil // a page that is neither in use nor free only wastes space; bbolt leaves one now and then
}
