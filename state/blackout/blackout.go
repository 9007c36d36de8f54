// Package blackout makes what a power cut can leave of a file that bbolt writes to. It never writes
// a file itself and knows nothing of what is in one. Start at Cut.
//
// bbolt commits in two steps: it writes the pages that are new, to places that the last commit does
// not use, and syncs; then it writes one of the two head pages, and syncs again. Of what was
// written since the last sync a disk may have any part when the power fails, down to sectors of 512
// bytes; what was synced it has. A test of package journal holds a recording of the system calls
// against that order.
package blackout

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// Step is where in a commit the power fails.
type Step int

// The steps.
const (
	Pages Step = iota + 1 // before the sync of the pages: some sectors of them are there, and no head
	Head                  // between the syncs: all pages are there, and the head up to some byte
	Done                  // after both
)

// String names the step.
func (s Step) String() string {
	return [...]string{Pages: "before the pages were synced", Head: "before the head was synced",
		Done: "after the commit"}[s]
}

// Sizes of a page of bbolt where the operating system has pages of 4 KiB, and of what a disk writes
// whole.
const (
	page   = 4096
	sector = 512
	heads  = 2 * page
)

// Cut returns what is left of a file when the power fails at a step of a commit, by chance where
// there is a choice: before and after are the file as of the commits on both sides. A head is torn
// within a sector too, which is more than disks do. Cut panics where after cannot have followed
// before in one commit: both heads have changed.
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
	}
	return image
}

// changed is where the head page stands that a commit has written; −1: none was.
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
