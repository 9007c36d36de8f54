package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

// The layout of a head, which follows the head of its page: magic, version, page size, flags; root
// page and sequence of the root bucket; page of the list of free pages; number of pages; number of
// the commit; FNV-1a checksum of all these.
const (
	headMagic  = 0xED0CDAED
	headSize   = 64
	headSum    = 56 // offset of the checksum
	noFreeList = ^uint64(0)

	minPageSize, maxPageSize = 512, 16 << 20 // bytes
)

// head is one of the two heads of a file. bbolt uses the one of the later commit among those with a
// valid checksum.
type head struct {
	raw               [headSize]byte
	magic, version    uint32
	pageSize          uint32
	root, free, pages uint64
	commit            uint64
	valid             bool
}

// readHeads returns the head that bbolt uses.
func readHeads(file io.ReaderAt, size int64) (*head, error) {
	first, err := headAt(file, 0)
	if err != nil {
		return nil, err
	}
	var second *head
	if first.valid {
		second, err = headAt(file, int64(first.pageSize))
	} else {
		for page := int64(1024); page <= maxPageSize && (second == nil || !second.valid); page *= 2 {
			if second, err = headAt(file, page); err != nil {
				break
			}
		}
	}
	if err != nil && (!errors.Is(err, io.EOF) || first.valid) {
		return nil, err
	}
	switch {
	case !first.valid && (second == nil || !second.valid):
		return nil, damaged(0, "neither head of the file can be read")
	case !first.valid:
		return second, checkBadHead(second, first, 0, size)
	case !second.valid:
		return first, checkBadHead(first, second, 1, size)
	case second.commit > first.commit:
		return second, second.check(size)
	}
	return first, first.check(size)
}

func headAt(file io.ReaderAt, at int64) (*head, error) {
	var raw [headSize]byte
	if _, err := file.ReadAt(raw[:], at+pageHead); err != nil {
		return nil, fmt.Errorf("read the head at byte %d: %w", at, err)
	}
	return parseHead(raw), nil
}

func parseHead(raw [headSize]byte) *head {
	h := &head{raw: raw, magic: binary.NativeEndian.Uint32(raw[:]), version: binary.NativeEndian.Uint32(raw[4:]),
		pageSize: binary.NativeEndian.Uint32(raw[8:]),
		root:     binary.NativeEndian.Uint64(raw[16:]), free: binary.NativeEndian.Uint64(raw[32:]),
		pages: binary.NativeEndian.Uint64(raw[40:]), commit: binary.NativeEndian.Uint64(raw[48:])}
	sum := fnv.New64a()
	_, _ = sum.Write(raw[:headSum])
	h.valid = h.magic == headMagic && h.version == 2 && binary.NativeEndian.Uint64(raw[headSum:]) == sum.Sum64()
	return h
}

// check checks that a head fits the file.
func (h *head) check(size int64) error {
	number := h.commit % 2
	switch {
	case h.pageSize < minPageSize || h.pageSize > maxPageSize || h.pageSize&(h.pageSize-1) != 0:
		return damaged(number, "it has a page size of %d bytes", h.pageSize)
	case h.pages < 3 || h.pages > uint64(size)/uint64(h.pageSize):
		return damaged(number, "the file is cut off: %d bytes of %d pages are there", size, h.pages)
	case h.free != noFreeList && h.free >= h.pages, h.root >= h.pages:
		return damaged(number, "it leads to pages %d and %d, and the file has %d", h.root, h.free, h.pages)
	}
	return nil
}

// checkBadHead judges a head with a wrong checksum, which bbolt ignores. A power cut damages the
// head of the unfinished commit, and nothing is lost. But if correcting one byte makes it the head
// of a later commit, that commit was finished, and bbolt would silently continue from the commit
// before it.
func checkBadHead(good, bad *head, number uint64, size int64) error {
	if err := good.check(size); err != nil {
		return err
	}
	raw := bad.raw
	for at := range raw {
		for change := 1; change < 256; change++ {
			raw[at] ^= byte(change)
			h := parseHead(raw)
			raw[at] ^= byte(change)
			switch {
			case h.valid && h.commit > good.commit:
				return damaged(number, "byte %d of this head is damaged, and with it the last commit is lost",
					pageHead+at)
			case h.valid:
				return nil // the older head is not needed
			}
		}
	}
	// no commit changes these fields
	if bad.magic != good.magic || bad.version != good.version || bad.pageSize != good.pageSize {
		return damaged(number, "this head is destroyed, and the last commit may have been in it")
	}
	return nil
}
