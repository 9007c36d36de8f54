package journal

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// The table of bookings holds rows in packs. The key of a pack is the number of its last booking.
// Its row is
//
//	1  version: bookingVersion
//	…  how many bookings, as a Uint
//	…  their records, one after the other; of more than one booking compressed with zstd
//	4  checksum of the row
//
// A commit writes each booking as a pack of one. As soon as bookingPack of them stand alone, the
// commit makes one pack of them: names repeat, so a booking keeps less than 60 bytes.
const (
	bookingVersion = 1
	bookingPack    = 256
)

// packedBookings returns the row of a pack.
func packedBookings(s squeezer, key []byte, count int, raw []byte) []byte {
	row := binary.AppendUvarint([]byte{bookingVersion}, uint64(count))
	if count == 1 {
		row = append(row, raw...)
	} else {
		row = s.in.EncodeAll(raw, row)
	}
	return sealRow(row, key, 0)
}

// unpackedBookings returns how many bookings a pack has, and their records.
func unpackedBookings(s squeezer, dst, key, row []byte) (count int, raw []byte, err error) {
	body, err := openRow(key, row)
	if err == nil && (len(key) != 8 || len(body) < 2) {
		err = fmt.Errorf("%w: %d bytes", bolt.ErrCorrupt, len(body))
	}
	if err == nil && body[0] != bookingVersion {
		err = fmt.Errorf("%w: bookings of version %d, this program reads %d; update the program", bolt.ErrNewer,
			body[0], bookingVersion)
	}
	if err != nil {
		return 0, nil, err
	}
	n, size := binary.Uvarint(body[1:])
	if size <= 0 || n == 0 || n > bookingPack || n > binary.BigEndian.Uint64(key) {
		return 0, nil, fmt.Errorf("%w: a pack of %d bookings", bolt.ErrCorrupt, n)
	}
	if raw = body[1+size:]; n > 1 {
		if raw, err = s.out.DecodeAll(raw, dst[:0]); err != nil {
			return 0, nil, fmt.Errorf("%w: %w", bolt.ErrCorrupt, err)
		}
	}
	return int(n), raw, nil
}

// bookingReader reads packs of bookings.
type bookingReader struct {
	names    *codec.Names
	squeezer squeezer
	raw      []byte
	booking  Booking // the latest one
}

// pack calls visit with each booking of a pack, which is valid during the call.
func (r *bookingReader) pack(key, row []byte, visit func(*Booking) error) error {
	count, raw, err := unpackedBookings(r.squeezer, r.raw, key, row)
	if err != nil {
		return fmt.Errorf("bookings %s: %w", bolt.FormatKey(key), err)
	}
	if count > 1 {
		r.raw = raw
	}
	var d recordDecoder
	d.Open(r.names, raw)
	first := binary.BigEndian.Uint64(key) - uint64(count) + 1
	b := &r.booking
	for i := range uint64(count) {
		d.booking(b)
		b.Number = first + i
		if i == uint64(count)-1 {
			err = d.End()
		} else {
			err = d.Err()
		}
		if err != nil {
			return fmt.Errorf("booking %d: %w", b.Number, err)
		}
		if err := visit(b); err != nil {
			return err
		}
	}
	return nil
}

// Bookings calls visit with every booking from a number on, in order, until visit returns an error,
// which Bookings returns. A booking is valid during the call.
func (s *Store) Bookings(from uint64, visit func(*Booking) error) error {
	return s.db.View(func(tx *bbolt.Tx) error {
		r := bookingReader{names: s.names, squeezer: s.packer.squeezer}
		return walkUntil(s.reading, tx.Bucket(bucketBookings), key64(from), func(key, row []byte) error {
			return s.wrap(r.pack(key, row, func(b *Booking) error {
				if b.Number < from {
					return nil
				}
				return visit(b)
			}))
		})
	})
}

// booker adds bookings to the table.
type booker struct {
	table    *bbolt.Bucket
	squeezer squeezer
	last     uint64 // number of the last booking
	alone    uint64 // packs of one booking at the end of the table
}

// bookerOf continues the table of a file. known is the booker of the last commit, nil for none:
// after a commit that failed, the table does not end with its last booking.
func bookerOf(tx *bbolt.Tx, s squeezer, known *booker) (*booker, error) {
	k := &booker{table: tx.Bucket(bucketBookings), squeezer: s}
	k.table.FillPercent = journalFill
	cursor := bolt.NewCursor(k.table)
	key, row := cursor.Last()
	if key == nil {
		return k, nil
	}
	if len(key) != 8 {
		return nil, fmt.Errorf("bookings: %w: key %s", bolt.ErrCorrupt, bolt.FormatKey(key))
	}
	if k.last = binary.BigEndian.Uint64(key); known != nil && k.last == known.last {
		k.alone = known.alone
		return k, nil
	}
	for ; key != nil && k.alone < bookingPack && len(row) > 1 && row[1] == 1; key, row = cursor.Prev() {
		k.alone++
	}
	return k, nil
}

// add writes a booking, as a record, and packs the bookings that stand alone where there are
// enough. A damaged one among them stays, and so do the others.
func (k *booker) add(record []byte) error {
	k.last++
	key := key64(k.last)
	if err := k.table.Put(key, packedBookings(k.squeezer, key, 1, record)); err != nil {
		return err
	}
	if k.alone++; k.alone < bookingPack {
		return nil
	}
	k.alone = 0
	var raw []byte
	for number := k.last - bookingPack + 1; number <= k.last; number++ {
		key := key64(number)
		count, one, err := unpackedBookings(k.squeezer, nil, key, k.table.Get(key))
		if err != nil || count != 1 {
			return nil
		}
		raw = append(raw, one...)
	}
	for number := k.last - bookingPack + 1; number < k.last; number++ {
		if err := k.table.Delete(key64(number)); err != nil {
			return err
		}
	}
	return k.table.Put(key, packedBookings(k.squeezer, bytes.Clone(key), bookingPack, raw))
}

// write returns a function that adds bookings.
func (k *booker) write(n *codec.Names) func(*Booking) error {
	e := recordEncoder{Encoder: codec.Encoder{Names: n}}
	return func(b *Booking) error {
		e.Cut(0)
		e.booking(b)
		return cmp.Or(e.Err(), k.add(e.Buf))
	}
}

// book adds a booking to the table, about the journal's last entry.
func (c *committer) book(b *Booking) (err error) {
	if c.books == nil {
		if c.books, err = bookerOf(c.tx, c.packer.squeezer, c.packer.books); err != nil {
			return err
		}
		c.packer.books = c.books
	}
	b.Entry = c.head.number
	return c.books.write(c.enc.Names)(b)
}

// tagOf returns the tag of an own order, empty where the table of orders lacks the order.
func tagOf(n *codec.Names, orders *bbolt.Bucket, order []byte) (string, error) {
	key := part(order, partRow, nil)
	value := orders.Get(key)
	if value == nil {
		return "", nil
	}
	row, err := readOrder(n, key, value)
	return row.Tag, err
}
