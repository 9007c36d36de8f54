package bolt

import (
	"unsafe"

	"go.etcd.io/bbolt"
	"golang.org/x/sys/unix"
)

// writerMap is address space only: the file is not made larger.
const writerMap = 256 << 20

// faultAround is how far around a touched page the kernel maps pages; a release reaches back as
// far.
const faultAround = 64 << 10

// releaseStep is the number of bytes consumed between two releases.
const releaseStep = 1 << 20

// Releaser gives consumed pages of the mapping back to the system, so that reading a large file
// does not count as memory of its size. The mapping is read-only and of a file: a page that is
// needed again is read again.
type Releaser struct {
	base       uintptr // start of the mapping, constant during a read transaction
	limit      uintptr // end of the file: a damaged page may point at other memory after it
	page       uintptr
	start, end uintptr // consumed and not released yet
}

// NewReleaser returns a releaser for the pages that a read transaction may read. Of a file smaller
// than a step it gives nothing back: the call would cost more than the memory.
func NewReleaser(tx *bbolt.Tx) Releaser {
	if tx.Size() < releaseStep {
		return Releaser{}
	}
	base := tx.DB().Info().Data
	return Releaser{base: base, limit: base + uintptr(tx.Size()), page: uintptr(unix.Getpagesize())}
}

// Consumed says that value, a slice of the mapping, is not needed any more.
func (p *Releaser) Consumed(value []byte) {
	first := uintptr(unsafe.Pointer(unsafe.SliceData(value)))
	if len(value) == 0 || p.base == 0 || first < p.base || first+uintptr(len(value)) > p.limit {
		return
	}
	if p.end == 0 || first < p.end || first > p.end+faultAround {
		p.Flush()
		p.start = first
	}
	p.end = first + uintptr(len(value))
	if p.end-p.start >= releaseStep {
		p.Flush()
	}
}

// Flush releases the consumed pages and those just before. It keeps the last page, which the next
// value may share.
func (p *Releaser) Flush() {
	if p.end == 0 {
		return
	}
	start := p.base
	if p.start-p.base > faultAround {
		start = (p.start - faultAround) &^ (p.page - 1)
	}
	if end := p.end &^ (p.page - 1); end > start {
		// a hint: on an error the program only needs more memory
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, start, end-start, unix.MADV_DONTNEED)
	}
	p.start, p.end = 0, 0
}

// All releases every page that the transaction may read.
func (p *Releaser) All() {
	if p.base != 0 {
		p.start, p.end = p.base, p.limit
		p.Flush()
	}
}
