package filetest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// Step is the place in a commit where the power fails.
type Step int

// The steps.
const (
	Pages Step = iota + 1 // before the sync of the pages: some of their sectors are written, the head is not
	Head                  // between the syncs: all pages are written, and the head up to some byte
	Done                  // after both
)

// String names the step.
func (s Step) String() string {
	return [...]string{Pages: "before the pages were synced", Head: "before the head was synced",
		Done: "after the commit"}[s]
}

// Sizes of a page of bbolt, on a system with pages of 4 KiB, and of the unit that a disk writes
// whole.
const (
	page   = 4096
	sector = 512
	heads  = 2 * page

	headEnd = 80 // bytes of a page up to the end of its head
)

// Cut returns the content of a file after a power cut at a step of a commit, by chance among the
// possible ones. before and after are the file at the commits on both sides. A head may be torn
// within a sector, which is worse than real disks, but not so that one byte of it is missing: that
// is what a damaged byte looks like, and boltfile refuses it. Cut panics if both heads have
// changed: then more than one commit lies between before and after.
func Cut(before, after []byte, at Step, chance *rand.Rand) []byte {
	size := len(after)
	if at == Pages && chance.IntN(2) == 0 {
		size = len(before) // the file has not grown yet
	}
	image := make([]byte, size)
	copy(image, before)
	for from := heads; from < size; from += sector {
		if at != Pages || chance.IntN(2) == 0 {
			copy(image[from:min(from+sector, size)], after[from:])
		}
	}
	head := changed(before, after)
	switch {
	case head < 0 || at == Pages:
	case at == Done:
		copy(image[head:head+page], after[head:])
	default:
		torn := [...]int{page, sector, 128}[chance.IntN(3)]
		copy(image[head:head+chance.IntN(torn+1)], after[head:])
		if differing(image[head:head+headEnd], after[head:]) == 1 {
			copy(image[head:head+page], after[head:])
		}
	}
	return image
}

// differing counts the bytes of a that differ from those of b.
func differing(a, b []byte) (n int) {
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

// changed returns the offset of the head page that the commit wrote, -1 for none.
func changed(before, after []byte) int {
	head := -1
	for at := 0; at < heads; at += page {
		if bytes.Equal(before[at:at+page], after[at:at+page]) {
			continue
		}
		if head >= 0 {
			panic(fmt.Sprintf("blackout: both heads have changed, of %d and %d bytes", len(before), len(after)))
		}
		head = at
	}
	return head
}
