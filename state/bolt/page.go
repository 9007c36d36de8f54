package bolt

import (
	"bytes"
	"encoding/binary"
)

// elements returns the elements of a page, and the offset of their keys and values.
func (p *page) elements() (list []byte, data int64, err error) {
	data = pageHead + int64(p.count)*elementSize
	if data > p.size {
		return nil, 0, damaged(p.number, "it counts %d elements, and has no room for so many", p.count)
	}
	list, err = p.part(pageHead, data-pageHead)
	return list, data, err
}

// key returns the key of an element. It must begin where the data before it ends, and be above
// last, the previous key, or nil.
func (p *page) key(i int, stands uint32, size uint32, data int64, last []byte, b *bounds) ([]byte, error) {
	from := int64(stands) + pageHead + int64(i)*elementSize
	switch {
	case from != data:
		return nil, damaged(p.number, "element %d has its key at byte %d instead of %d", i, from, data)
	case size == 0 || size > maxKey:
		return nil, damaged(p.number, "element %d has a key of %d bytes", i, size)
	case data+int64(size) > p.size:
		return nil, damaged(p.number, "the key of element %d ends behind the page", i)
	}
	key, err := p.part(data, int64(size))
	switch {
	case err != nil:
		return nil, err
	case last != nil && bytes.Compare(key, last) <= 0:
		return nil, damaged(p.number, "the key of element %d is not above the one before it", i)
	case i == 0 && b.least != nil && !bytes.Equal(key, b.least):
		return nil, damaged(p.number, "its first key is another than the page above it says")
	case b.end != nil && bytes.Compare(key, b.end) >= 0:
		return nil, damaged(p.number, "the key of element %d is not below those of the next page", i)
	}
	return key, nil
}

// checkSize checks that a page has the overflow that its data needs. If the data ends with a page,
// one more is allowed: older versions of bbolt took it.
func (p *page) checkSize(end int64) error {
	if most := uint64(end / p.tree.page); p.overflow != most && p.overflow != uint64((end-1)/p.tree.page) {
		return damaged(p.number, "it takes %d pages more, and its %d bytes need %d", p.overflow, end, most)
	}
	return nil
}

// checkBranch checks a branch page and the pages below it.
func (p *page) checkBranch(b bounds) error {
	list, data, err := p.elements()
	if err != nil {
		return err
	}
	if p.count == 0 {
		return damaged(p.number, "it leads nowhere")
	}
	keys, next := make([][]byte, p.count+1), make([]uint64, p.count)
	keys[p.count] = b.end
	var last []byte
	for i := range p.count {
		element := list[i*elementSize:]
		stands, size := binary.NativeEndian.Uint32(element), binary.NativeEndian.Uint32(element[4:])
		if keys[i], err = p.key(i, stands, size, data, last, &b); err != nil {
			return err
		}
		next[i], last, data = binary.NativeEndian.Uint64(element[8:]), keys[i], data+int64(size)
	}
	if err := p.checkSize(data); err != nil {
		return err
	}
	return p.followAll(next, keys, b)
}

// followAll follows the pages below a branch; keys[i] leads to next[i]. With lazy it reads the
// first one only, if that is a leaf: all leaves of a bucket lie at the same depth.
func (p *page) followAll(next []uint64, keys [][]byte, b bounds) error {
	p.kept = p.tree.unread != nil // the notes of unread leaves refer to keys in data
	for i, number := range next {
		flags, err := p.tree.follow(number, b.below(keys, i))
		if err != nil {
			return err
		}
		if flags == flagLeaf && p.tree.unread != nil && b.levels == 0 {
			return p.tree.leave(&unreadLeaves{keys: keys, next: next, bounds: b})
		}
	}
	return nil
}

// below returns the bounds of the i-th page below a branch.
func (b *bounds) below(keys [][]byte, i int) bounds {
	return bounds{keys[i], keys[i+1], b.levels, b.depth + 1, b.bucket}
}

// checkLeaf checks a leaf page and the buckets in it.
func (p *page) checkLeaf(b bounds) error {
	list, data, err := p.elements()
	if err != nil {
		return err
	}
	if p.count == 0 && b.least != nil {
		return damaged(p.number, "it is empty, and the page above it says that it is not")
	}
	var last []byte
	var buckets []uint64
	for i := range p.count {
		element := list[i*elementSize:]
		flags, size := binary.NativeEndian.Uint32(element), binary.NativeEndian.Uint32(element[8:])
		value := int64(binary.NativeEndian.Uint32(element[12:]))
		if last, err = p.key(i, binary.NativeEndian.Uint32(element[4:]), size, data, last, &b); err != nil {
			return err
		}
		data += int64(size)
		if data+value > p.size {
			return damaged(p.number, "the value of element %d ends behind the page", i)
		}
		if root, err := p.checkBucket(i, flags, data, value, b.levels); err != nil {
			return err
		} else if root != 0 {
			buckets = append(buckets, root)
		}
		data += value
	}
	if err := p.checkSize(data); err != nil {
		return err
	}
	for _, root := range buckets {
		below := bounds{levels: b.levels - 1, depth: b.depth + 1, bucket: root}
		if _, err := p.tree.follow(root, below); err != nil {
			return err
		}
	}
	return nil
}

// checkBucket checks an element of a leaf: if it is a bucket, it returns the root page; 0 for an
// inline bucket or none.
func (p *page) checkBucket(i int, flags uint32, at, size int64, levels int) (root uint64, err error) {
	switch {
	case flags == 0:
		return 0, nil
	case flags != leafBucket:
		return 0, damaged(p.number, "element %d is marked %#x", i, flags)
	case levels == 0:
		return 0, damaged(p.number, "element %d is a bucket, where none belongs", i)
	case size < bucketHead:
		return 0, damaged(p.number, "element %d is a bucket of %d bytes", i, size)
	}
	value, err := p.part(at, size)
	if err != nil {
		return 0, err
	}
	root = binary.NativeEndian.Uint64(value)
	switch sequence := binary.NativeEndian.Uint64(value[8:]); {
	case sequence != 0:
		return 0, damaged(p.number, "bucket %d has sequence %d instead of 0", i, sequence)
	case root == 0:
		return 0, p.checkInline(i, value[bucketHead:])
	case size != bucketHead:
		return 0, damaged(p.number, "bucket %d has %d bytes beside its root page", i, size-bucketHead)
	}
	return root, nil
}

// checkInline checks the page of an inline bucket.
func (p *page) checkInline(i int, data []byte) error {
	if len(data) < pageHead {
		return damaged(p.number, "bucket %d ends in the middle of its page", i)
	}
	in := &page{tree: p.tree, number: p.number, count: int(binary.NativeEndian.Uint16(data[10:])), data: data,
		size: int64(len(data))}
	if binary.NativeEndian.Uint64(data) != 0 || binary.NativeEndian.Uint16(data[8:]) != flagLeaf ||
		binary.NativeEndian.Uint32(data[12:]) != 0 {
		return damaged(p.number, "bucket %d begins with %x, which is no page of a bucket", i, data[:pageHead])
	}
	list, end, err := in.elements()
	if err != nil {
		return err
	}
	var last []byte
	for n := range in.count {
		element := list[n*elementSize:]
		if flags := binary.NativeEndian.Uint32(element); flags != 0 {
			return damaged(p.number, "element %d of bucket %d is marked %#x", n, i, flags)
		}
		size := binary.NativeEndian.Uint32(element[8:])
		if last, err = in.key(n, binary.NativeEndian.Uint32(element[4:]), size, end, last, &bounds{}); err != nil {
			return err
		}
		if end += int64(size) + int64(binary.NativeEndian.Uint32(element[12:])); end > in.size {
			return damaged(p.number, "the value of element %d of bucket %d ends behind it", n, i)
		}
	}
	if end != in.size {
		return damaged(p.number, "bucket %d has %d bytes too many", i, in.size-end)
	}
	return nil
}
