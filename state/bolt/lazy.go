package bolt

import (
	"bytes"
	"context"
	"maps"
	"os"
	"slices"

	"go.etcd.io/bbolt"
)

// unreadLeaves are the leaves below a checked branch. The first one is checked.
type unreadLeaves struct {
	keys   [][]byte // at which the leaves begin, and the end of the last one, nil for no end
	next   []uint64 // their pages, 0 for a checked one
	bounds bounds   // of the branch
	err    error    // of a check
}

// checkLazily checks everything but most leaves of nested buckets and the list of free pages.
func checkLazily(ctx context.Context, file *os.File, levels int) (*tree, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return checkTree(ctx, file, info.Size(), levels, true)
}

// leave notes leaves for CheckKeys, without the first one.
func (t *tree) leave(leaves *unreadLeaves) error {
	leaves.next[0] = 0
	for _, number := range leaves.next[1:] {
		if err := t.mark(number); err != nil {
			return err
		}
	}
	t.unread[leaves.bounds.bucket] = append(t.unread[leaves.bounds.bucket], leaves)
	return nil
}

// CheckKeys checks the leaves of a bucket that a walk from the key from to the first key above to
// reads. Nil is no bound. Call it before such a walk over a file that was opened with Lazy; each
// leaf is read once. Otherwise everything is checked already, and CheckKeys does nothing.
// Goroutines may share it. The error is a *Damage, or that of reading; Explain puts it into words.
func (f *File) CheckKeys(b *bbolt.Bucket, from, to []byte) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.tree == nil {
		return nil
	}
	for _, leaves := range f.tree.unread[uint64(b.RootPage())] {
		if past, err := f.tree.read(leaves, from, to); err != nil || past {
			return err
		}
	}
	return nil
}

// CheckRest checks everything that an opening with Lazy and CheckKeys left out: all other leaves
// and the list of free pages. The error is that of CheckKeys.
func (f *File) CheckRest() error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.tree == nil {
		return nil
	}
	for _, bucket := range slices.Sorted(maps.Keys(f.tree.unread)) {
		for _, leaves := range f.tree.unread[bucket] {
			if _, err := f.tree.read(leaves, nil, nil); err != nil {
				return err
			}
		}
	}
	if err := f.tree.checkFreeList(); err != nil {
		return err
	}
	f.tree = nil
	return nil
}

// read checks the leaves with keys in from to to that are not checked yet, and the leaf after them.
// It reports whether that one begins past to.
func (t *tree) read(leaves *unreadLeaves, from, to []byte) (past bool, err error) {
	for i, number := range leaves.next {
		if end := leaves.keys[i+1]; from != nil && end != nil && bytes.Compare(end, from) <= 0 {
			continue
		}
		if leaves.err == nil && number != 0 {
			leaves.err = t.readLeaf(number, leaves.bounds.below(leaves.keys, i))
			leaves.next[i] = 0
		}
		if leaves.err != nil {
			return false, leaves.err
		}
		if begin := leaves.keys[i]; to != nil && bytes.Compare(begin, to) > 0 && bytes.Compare(begin, from) > 0 {
			return true, nil
		}
	}
	return false, nil
}

func (t *tree) readLeaf(number uint64, b bounds) error {
	t.seen[number] = false // follow marks it again
	flags, err := t.follow(number, b)
	if err == nil && flags != flagLeaf {
		return damaged(number, "it is no leaf, and the pages beside it are")
	}
	return err
}
