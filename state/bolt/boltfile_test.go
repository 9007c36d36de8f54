package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
)

var lives = flag.Int("lives",
	2, "how many random lives of a file TestNoFileOfBboltIsCalledDamaged plays, by seeds from 1 on")

// live makes random changes to a file: large and small values, keys that come and go, buckets in
// buckets, and an end in between.
func live(t testing.TB, path string, seed uint64, commits int, each func()) {
	r := rand.New(rand.NewPCG(seed, 1))
	options := bbolt.Options{Timeout: time.Minute, NoSync: true, PageSize: 1024 << r.IntN(3),
		NoFreelistSync: r.IntN(2) == 0}
	if r.IntN(2) == 0 {
		options.FreelistType = bbolt.FreelistMapType
	}
	db, err := bbolt.Open(path, 0o600, &options)
	require.NoError(t, err)
	for range commits {
		require.NoError(t, db.Update(func(tx *bbolt.Tx) error { return change(tx, r) }), "seed %d", seed)
		each()
		if r.IntN(20) == 0 {
			require.NoError(t, db.Close())
			options.NoFreelistSync = options.NoFreelistSync != (r.IntN(3) == 0)
			db, err = bbolt.Open(path, 0o600, &options)
			require.NoError(t, err)
		}
	}
	require.NoError(t, db.Close())
}

func change(tx *bbolt.Tx, r *rand.Rand) error {
	for range 1 + r.IntN(3) {
		b, err := tx.CreateBucketIfNotExists(fmt.Appendf(nil, "bucket %d", r.IntN(6)))
		if err == nil && r.IntN(4) == 0 {
			b, err = b.CreateBucketIfNotExists(fmt.Appendf(nil, "inner %d", r.IntN(9)))
		}
		if err != nil {
			return err
		}
		b.FillPercent = 0.1 + 0.9*r.Float64()
		first, span := r.IntN(2000), 1+r.IntN(300)
		for range r.IntN(200) {
			key := fmt.Appendf(nil, "%0*d", 1+r.IntN(30), first+r.IntN(span))
			if r.IntN(5) < 2 {
				err = b.Delete(key)
			} else {
				err = b.Put(key, make([]byte, r.IntN(8)*r.IntN(8)*r.IntN(100)))
			}
			if err != nil {
				return err
			}
		}
	}
	if r.IntN(10) == 0 {
		_ = tx.DeleteBucket(fmt.Appendf(nil, "bucket %d", r.IntN(6)))
	}
	return nil
}

func checkPath(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return checkFile(context.Background(), file, 2)
}

func TestNoFileOfBboltIsCalledDamaged(t *testing.T) {
	for seed := range uint64(*lives) {
		path := filepath.Join(t.TempDir(), "x.db")
		live(t, path, seed+1, 60, func() { require.NoError(t, checkPath(path), "seed %d", seed+1) })
		again := filepath.Join(t.TempDir(), "compact.db")
		from, err := bbolt.Open(path, 0o600, nil)
		require.NoError(t, err)
		to, err := bbolt.Open(again, 0o600, nil)
		require.NoError(t, err)
		require.NoError(t, bbolt.Compact(to, from, 1<<14))
		require.NoError(t, from.Close())
		require.NoError(t, to.Close())
		require.NoError(t, checkPath(again), "seed %d, compact", seed+1)
	}
}

// TestEveryBitOfThePagesInUseIsChecked flips every bit of heads, elements and branches: each is
// damage, or bbolt reads the same as before.
func TestEveryBitOfThePagesInUseIsChecked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	live(t, path, 3, 12, func() {})
	sound, err := os.ReadFile(path)
	require.NoError(t, err)
	want := contents(t, path)
	r, unseen := rand.New(rand.NewPCG(1, 2)), 0
	for range 1500 {
		at, bit := r.IntN(len(sound)), r.IntN(8)
		sound[at] ^= 1 << bit
		if err := check(t.Context(), bytes.NewReader(sound), int64(len(sound)), 2); err == nil {
			unseen++
			if unseen%40 == 0 { // the rest would take long; check let bbolt read it without fear
				require.NoError(t, os.WriteFile(path, sound, 0o600))
				have := contents(t, path)
				require.Equal(t, len(want), len(have), "byte %d, bit %d", at, bit)
			}
		}
		sound[at] ^= 1 << bit
	}
	require.Greater(t, unseen, 100, "values and free pages are not looked at")
	require.Less(t, unseen, 1490)
}

// contents are the keys of a file, and how long their values are.
func contents(t *testing.T, path string) (all []string) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: time.Minute})
	require.NoError(t, err)
	defer db.Close()
	var walk func(name string, b *bbolt.Bucket) error
	walk = func(name string, b *bbolt.Bucket) error {
		return b.ForEach(func(key, value []byte) error {
			all = append(all, fmt.Sprintf("%s %q %d", name, key, len(value)))
			if value == nil {
				return walk(name+"/"+string(key), b.Bucket(key))
			}
			return nil
		})
	}
	require.NoError(t, db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error { return walk(string(name), b) })
	}))
	return all
}

// small is a file with a branch, leaves, an inline bucket, an overflow and a list of free pages.
func small(t *testing.T) []byte {
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := bbolt.Open(path, 0o600, nil)
	require.NoError(t, err)
	for i := range 3 {
		require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
			big, err := tx.CreateBucketIfNotExists([]byte("big"))
			for n := range 400 {
				if err == nil {
					err = big.Put(fmt.Appendf(nil, "%04d", n), make([]byte, 20+i))
				}
			}
			inline, err2 := tx.CreateBucketIfNotExists([]byte("inline"))
			if err == nil && err2 == nil {
				err = inline.Put([]byte("key"), []byte("value"))
			}
			if err == nil {
				err = big.Put([]byte("9"), make([]byte, 10000))
			}
			return err
		}))
	}
	require.NoError(t, db.Close())
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return data
}

// pageOf finds a page with these flags that is in use, by what a change of it does.
func pageOf(t *testing.T, data []byte, flags uint16, fits func(page []byte) bool) int {
	for at := 2 * os.Getpagesize(); at < len(data); at += os.Getpagesize() {
		if binary.NativeEndian.Uint16(data[at+8:]) == flags && fits(data[at:]) {
			damaged := bytes.Clone(data)
			damaged[at+8] = 0x7f
			if check(t.Context(), bytes.NewReader(damaged), int64(len(data)), 1) != nil {
				return at
			}
		}
	}
	t.Fatalf("no page with flags %d is in use", flags)
	return 0
}

func TestDamageIsNamedInWords(t *testing.T) {
	sound := small(t)
	require.NoError(t, check(t.Context(), bytes.NewReader(sound), int64(len(sound)), 1))
	any := func([]byte) bool { return true }
	branch, free := pageOf(t, sound, flagBranch, any), pageOf(t, sound, flagFree, any)
	leaf := pageOf(t, sound, flagLeaf, func(p []byte) bool { return binary.NativeEndian.Uint16(p[10:]) > 20 })
	long := pageOf(t, sound, flagLeaf, func(p []byte) bool { return binary.NativeEndian.Uint32(p[12:]) > 0 })
	root := pageOf(t, sound, flagLeaf, func(p []byte) bool { return bytes.Contains(p[:4096], []byte("inline")) })
	inline := root + bytes.Index(sound[root:], []byte("inline")) + len("inline")
	put16, put32, put64 := binary.NativeEndian.PutUint16, binary.NativeEndian.PutUint32, binary.NativeEndian.PutUint64
	self := binary.NativeEndian.Uint64(sound[branch:])
	for _, c := range []struct {
		name, want string
		damage     func(b []byte)
	}{
		{"a branch that leads to itself", "two ways lead to it", func(b []byte) { put64(b[branch+pageHead+8:], self) }},
		{"a branch that leads out of the file", "a page leads there",
			func(b []byte) { put64(b[branch+pageHead+8:], 1<<40) }},
		{"a branch that leads to a head", "page 1: a page leads there",
			func(b []byte) { put64(b[branch+pageHead+8:], 1) }},
		{"a branch with another key", "another than the page above it says",
			func(b []byte) { b[branch+int(binary.NativeEndian.Uint32(b[branch+pageHead:]))+pageHead+2] = '/' }},
		{"a page with another number", "its bytes are those of page", func(b []byte) { b[leaf] ^= 1 }},
		{"a leaf that is marked twice", "neither branch nor leaf", func(b []byte) { b[leaf+8] |= flagBranch }},
		{"a leaf with fewer elements", "has its key at byte", func(b []byte) { put16(b[leaf+10:], 3) }},
		{"a leaf with more elements than fit", "no room for so many", func(b []byte) { put16(b[leaf+10:], 0xfff0) }},
		{"a key that stands elsewhere", "element 1 has its key at byte",
			func(b []byte) { b[leaf+pageHead+elementSize+4] ^= 8 }},
		{"a key that does not rise", "not above the one before it", func(b []byte) {
			second := leaf + pageHead + elementSize
			b[second+int(binary.NativeEndian.Uint32(b[second+4:]))] = '+'
		}},
		{"a value that is too long", "ends behind the page", func(b []byte) { put32(b[leaf+pageHead+12:], 1<<30) }},
		{"an overflow that is too short", "page", func(b []byte) { put32(b[long+12:], 0) }},
		{"an overflow that is too long", "", func(b []byte) { b[long+12]++ }},
		{"an overflow out of the file", "the file ends before", func(b []byte) { put32(b[long+12:], 1<<31) }},
		{"an element with flags", "is marked", func(b []byte) { b[leaf+pageHead] = 4 }},
		{"an element that became a bucket", "a bucket, where none belongs",
			func(b []byte) { b[leaf+pageHead] = leafBucket }},
		{"an inline bucket with another key's place", "has its key at byte",
			func(b []byte) { b[inline+bucketHead+pageHead+7] = 0x40 }},
		{"an inline bucket that counts more", "no room for so many", func(b []byte) { b[inline+bucketHead+10] = 200 }},
		{"an inline bucket that is a branch", "no page of a bucket",
			func(b []byte) { b[inline+bucketHead+8] = flagBranch }},
		{"an inline bucket that leads to a page", "bytes beside its root page", func(b []byte) { b[inline] = 3 }},
		{"a bucket that counts", "has sequence", func(b []byte) { b[inline+8] = 1 }},
		{"a free page that is in use", "in use or in the list twice",
			func(b []byte) { put64(b[free+pageHead:], self) }},
		{"a free page out of the file", "is in the list of free pages, and the file has",
			func(b []byte) { put64(b[free+pageHead:], 1<<50) }},
		{"more free pages than the list has", "", func(b []byte) { b[free+11] = 1 }},
	} {
		b := bytes.Clone(sound)
		c.damage(b)
		err := check(t.Context(), bytes.NewReader(b), int64(len(b)), 1)
		require.ErrorContains(t, err, c.want, c.name)
		require.ErrorAs(t, err, new(*Damage), c.name)
	}
}

func TestAHeadThatLostTheLastCommitIsDamageAndATornOneIsNot(t *testing.T) {
	sound := small(t)
	page := os.Getpagesize()
	newer, older := 0, page
	commit := func(at int) uint64 { return binary.NativeEndian.Uint64(sound[at+pageHead+48:]) }
	if commit(page) > commit(0) {
		newer, older = page, 0
	}
	for at := range headSize * 8 {
		b := bytes.Clone(sound)
		b[newer+pageHead+at/8] ^= 1 << (at % 8)
		require.ErrorAs(t, check(t.Context(), bytes.NewReader(b), int64(len(b)), 1), new(*Damage),
			"bit %d of the newer head", at)
		b = bytes.Clone(sound)
		b[older+pageHead+at/8] ^= 1 << (at % 8)
		require.NoError(t, check(t.Context(), bytes.NewReader(b), int64(len(b)), 1),
			"bit %d of the older head, which nothing needs", at)
	}
	torn := bytes.Clone(sound)
	// of a commit that was being written: its root, and no more
	binary.NativeEndian.PutUint64(torn[older+pageHead+16:], 77)
	require.NoError(t, check(t.Context(), bytes.NewReader(torn), int64(len(torn)), 1))
	clear(torn[older : older+512])
	require.ErrorContains(t, check(t.Context(), bytes.NewReader(torn), int64(len(torn)), 1), "destroyed")
	clear(torn[newer : newer+512])
	require.ErrorContains(t, check(t.Context(), bytes.NewReader(torn), int64(len(torn)), 1), "neither head")
	require.ErrorContains(t, check(t.Context(), bytes.NewReader(sound[:len(sound)/2]), int64(len(sound)/2), 1),
		"cut off")
}

func TestACheckEndsWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	live(t, path, 5, 60, func() {})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Open(ended, path, Options{ReadOnly: true})
	require.ErrorIs(t, err, context.Canceled)
}
