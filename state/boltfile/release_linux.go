package boltfile

import (
	"unsafe"

	"go.etcd.io/bbolt"
	"golang.org/x/sys/unix"
)

// writerMap is address space only: the file is not made larger.
const writerMap = 256 << 20

// faultAround is how far the kernel maps pages around one that is touched; a release reaches back
// as far.
const faultAround = 64 << 10

// releaseStep is how much is consumed between two releases.
const releaseStep = 1 << 20

// Releaser gives consumed pages of the database's mapping back, so that reading a large store does
// not look like using its size in memory. The mapping is of a file and read-only: a page that is
// needed again is read again.
type Releaser struct {
	base uintptr // start of the mapping; stays while a read transaction is open
	// end of what the transaction may read: a damaged page can name places behind it, where other
	// memory lies
	limit      uintptr
	page       uintptr
	start, end uintptr // consumed and not given back yet
}

// NewReleaser returns a releaser for the pages that a read transaction may read.
func NewReleaser(tx *bbolt.Tx) Releaser {
	base := tx.DB().Info().Data
	return Releaser{base: base, limit: base + uintptr(tx.Size()), page: uintptr(unix.Getpagesize())}
}

// Consumed tells that value, a slice of the mapping, is not needed any more.
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

// Flush gives back what was consumed and the pages just before it. The last page stays: what
// follows may share it.
func (p *Releaser) Flush() {
	if p.end == 0 {
		return
	}
	start := p.base
	if p.start-p.base > faultAround {
		start = (p.start - faultAround) &^ (p.page - 1)
	}
	if end := p.end &^ (p.page - 1); end > start {
		// Only a hint: without it the program is as right, and larger.
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, start, end-start, unix.MADV_DONTNEED)
	}
	p.start, p.end = 0, 0
}

// All gives back every page that the transaction may read.
func (p *Releaser) All() {
	if p.base != 0 {
		p.start, p.end = p.base, p.limit
		p.Flush()
	}
}
