package trials

import (
	"cmp"
	"math/bits"
	"slices"
)

const (
	// passRows is how many tries are counted in one pass over the file, so that the memory does not
	// grow with the file.
	passRows = 1 << 21
	// bucketSize is about how many numbers a bucket has: their table fits into the first caches.
	bucketSize = 1 << 11
	maxBuckets = 1 << 10
)

// counter finds different numbers. Each pass over the same numbers finds a part of them, which
// their bits choose. It collects the numbers in buckets, again by their bits, and compares those of
// a bucket.
type counter struct {
	first, all uint64 // number of the pass's first bucket, and of all buckets of all passes
	buckets    [][]counted
	table      []uint64 // open addressing, at most half full; 0: free
}

// counted is a number with something that belongs to it.
type counted struct{ hash, value uint64 }

// passesOf is how many passes so many numbers need.
func passesOf(numbers int64) int { return int(numbers/passRows) + 1 }

// newCounter makes a counter for so many numbers.
func newCounter(numbers int64) *counter {
	size := min(max(numbers, 1), passRows)
	buckets := min(1<<bits.Len64(uint64(size/bucketSize)), maxBuckets)
	c := &counter{buckets: make([][]counted, buckets)}
	room := int(size)/buckets + int(size)/buckets/8 + 8
	all := make([]counted, room*buckets)
	for i := range c.buckets {
		c.buckets[i] = all[i*room : i*room : (i+1)*room]
	}
	return c
}

// begin begins a pass, from 0.
func (c *counter) begin(pass, passes int) {
	c.first, c.all = uint64(pass*len(c.buckets)), uint64(passes*len(c.buckets))
	for i := range c.buckets {
		c.buckets[i] = c.buckets[i][:0]
	}
}

// add adds a number, if it belongs to the pass. Numbers of different salt are different. Equal ones
// have one value.
func (c *counter) add(x, salt, value uint64) {
	hash := max(mixed(x+mixed(salt)), 1)
	bucket, _ := bits.Mul64(hash, c.all) // ascending with the hash
	if bucket -= c.first; bucket < uint64(len(c.buckets)) {
		c.buckets[bucket] = append(c.buckets[bucket], counted{hash, value})
	}
}

// sort lets end call each in an order that depends on the numbers alone.
func (c *counter) sort() {
	for _, b := range c.buckets {
		slices.SortFunc(b, func(x, y counted) int { return cmp.Compare(x.hash, y.hash) })
	}
}

// end calls each with the value of each different number of the pass.
func (c *counter) end(each func(value uint64)) {
	for _, b := range c.buckets {
		if len(b) == 0 {
			continue
		}
		size := 1 << bits.Len64(uint64(2*len(b)))
		if len(c.table) < size {
			c.table = make([]uint64, size)
		}
		table := c.table[:size]
		clear(table)
		for i := range b {
			if put(table, b[i].hash) {
				each(b[i].value)
			}
		}
	}
}

// put reports whether a hash was not in a table.
func put(table []uint64, hash uint64) bool {
	mask := uint64(len(table) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		switch table[at] {
		case hash:
			return false
		case 0:
			table[at] = hash
			return true
		}
	}
}

// mixed spreads the bits of a number, one to one.
// Source: the finaliser of SplitMix64.
func mixed(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
