package candles

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// bucketListings has one record a UTC day of what an exchange listed. Programs that do not know it
// take no notice of it.
var bucketListings = []byte("listings")

// Listing is what an exchange listed at one moment: its markets, with their rules and their volumes
// of the 24 hours before.
type Listing struct {
	At       market.Time // the exchange's clock when it was asked
	Exchange string      // scheme and host
	Markets  []Listed
}

// Listed is a market of a Listing. Numbers are decimals as the exchange wrote them; "": it gave
// none.
type Listed struct {
	Market, Status                         string
	TickSize                               string
	MinOrderInBase, MinOrderInQuote        string
	MaxOrderInBase, MaxOrderInQuote        string
	QuantityDecimals, NotionalDecimals     uint8
	MaxOpenOrders                          uint32
	FeeCategory, Volume24h, VolumeQuote24h string
	Last                                   string // price
	MakerFee, TakerFee                     string // rates of the account that recorded; "": it did without a key
}

// Trading reports whether the market could be traded.
func (l *Listed) Trading() bool { return l.Status == market.Trading.String() }

// Named is the listed market of a name, or nil.
func (l *Listing) Named(name string) *Listed {
	for i := range l.Markets {
		if l.Markets[i].Market == name {
			return &l.Markets[i]
		}
	}
	return nil
}

const dayLength = market.Time(24 * 60 * 60 * 1e9)

// DayOf is the number of the UTC day of a time, counted from 1970-01-01.
func DayOf(t market.Time) int64 {
	day := int64(t / dayLength)
	if t < 0 && t%dayLength != 0 {
		day--
	}
	return day
}

// DayStart is the first moment of a UTC day.
func DayStart(day int64) market.Time { return market.Time(day) * dayLength }

// AddListing stores the record of its UTC day, in one transaction. A day that has a record keeps
// it: what was known then never changes. kept is the record that the store has afterwards, added
// says whether it is the given one.
func (s *Store) AddListing(l *Listing) (kept *Listing, added bool, err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	value, err := packListing(l)
	if err != nil {
		return nil, false, err
	}
	err = s.db.Update(func(tx *bbolt.Tx) error {
		listings, err := tx.CreateBucketIfNotExists(bucketListings)
		if err != nil {
			return err
		}
		key := chunkKey(DayOf(l.At))
		if have := listings.Get(key); have != nil {
			kept, err = unpackListing(have)
			return s.listingError(DayOf(l.At), err)
		}
		kept, added = l, true
		return listings.Put(key, value)
	})
	if err != nil {
		return nil, false, err
	}
	return kept, added, nil
}

// Listing is the record of the UTC day of a time, nil where there is none.
func (s *Store) Listing(at market.Time) (l *Listing, err error) {
	err = s.eachListing(DayOf(at), DayOf(at), func(_ int64, have *Listing) error {
		l = have
		return nil
	})
	return l, err
}

// Listings calls each with the records of the days that begin in [from, to), the oldest first; a to
// of 0 is no bound. A damaged record is an error that wraps ErrCorrupt.
func (s *Store) Listings(from, to market.Time, each func(*Listing) error) error {
	last := int64(math.MaxInt64)
	if to != 0 {
		last = DayOf(to - 1)
	}
	return s.eachListing(DayOf(from), last, func(_ int64, l *Listing) error { return each(l) })
}

// eachListing calls each with the records of the days from first to last.
func (s *Store) eachListing(first, last int64, each func(day int64, l *Listing) error) error {
	return s.db.View(func(tx *bbolt.Tx) error {
		listings, err := s.listings(tx)
		if listings == nil || err != nil {
			return err
		}
		cursor := listings.Cursor()
		for key, value := cursor.Seek(chunkKey(first)); key != nil; key, value = cursor.Next() {
			day, err := chunkNumber(key)
			if err != nil {
				return err
			}
			if day > last {
				return nil
			}
			l, err := unpackListingOf(day, value)
			if err != nil {
				return s.listingError(day, err)
			}
			if err := each(day, l); err != nil {
				return err
			}
		}
		return nil
	})
}

// listings is the bucket of the records, whose pages are checked; nil where nothing was recorded.
func (s *Store) listings(tx *bbolt.Tx) (*bbolt.Bucket, error) {
	listings := tx.Bucket(bucketListings)
	if listings == nil {
		return nil, nil
	}
	if err := s.db.CheckKeys(listings, nil, nil); err != nil {
		return nil, explain(s.path, err)
	}
	return listings, nil
}

func (s *Store) listingError(day int64, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: markets of %s: %w", s.path, DayStart(day).Std().Format("2006-01-02"), err)
}

// Markets are the names of all markets that were ever stored, sorted.
func (s *Store) Markets() (names []string, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketMarkets).ForEach(func(name, _ []byte) error {
			names = append(names, string(name))
			return nil
		})
	})
	return names, err
}

// ListingRange describes the records of a store.
type ListingRange struct {
	First, Last market.Time // moments of the oldest and the newest record
	Days        int64
	Markets     int // of the newest one
	Bytes       int64
}

// ListingRange describes the records; Days is 0 where there are none. It reads the heads of all and
// unpacks two.
func (s *Store) ListingRange() (r ListingRange, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		listings, err := s.listings(tx)
		if listings == nil || err != nil {
			return err
		}
		cursor := listings.Cursor()
		for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
			r.Days++
			r.Bytes += int64(len(value))
		}
		for _, end := range [...]struct {
			move func() (key, value []byte)
			into *market.Time
		}{{cursor.First, &r.First}, {cursor.Last, &r.Last}} {
			key, value := end.move()
			if key == nil {
				return nil
			}
			l, err := unpackListing(value)
			if err != nil {
				return fmt.Errorf("%s: markets: %w", s.path, err)
			}
			*end.into, r.Markets = l.At, len(l.Markets)
		}
		return nil
	})
	return r, err
}

// A record is listingMagic, the version of its format, the CRC-32C of the rest, and a deflated
// body: the moment as a varint, the exchange, the number of markets, and each market's fields;
// texts with their length before them.
const (
	listingMagic  = 'M' // records of programs before format 1 begin with 1 or 2
	listingFormat = 1
	listingHead   = 6
	maxListing    = 64 << 20 // bytes of a body
)

func packListing(l *Listing) ([]byte, error) {
	body := binary.AppendVarint(nil, int64(l.At))
	body = appendText(body, l.Exchange)
	body = binary.AppendUvarint(body, uint64(len(l.Markets)))
	for i := range l.Markets {
		m := &l.Markets[i]
		for _, text := range m.texts() {
			body = appendText(body, *text)
		}
		body = append(body, m.QuantityDecimals, m.NotionalDecimals)
		body = binary.AppendUvarint(body, uint64(m.MaxOpenOrders))
	}
	if len(body) > maxListing {
		return nil, fmt.Errorf("a record of %d markets has %d bytes, more than %d", len(l.Markets), len(body),
			maxListing)
	}
	out := bytes.NewBuffer(make([]byte, listingHead, 1024))
	w, err := flate.NewWriter(out, flate.DefaultCompression)
	if err == nil {
		_, err = w.Write(body)
	}
	if err == nil {
		err = w.Close()
	}
	value := out.Bytes()
	value[0], value[1] = listingMagic, listingFormat
	binary.LittleEndian.PutUint32(value[2:], crc32.Checksum(value[listingHead:], bolt.Castagnoli))
	return value, err
}

func appendText(dst []byte, text string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

// texts are the fields that are texts, in the order of the format.
func (l *Listed) texts() *[13]*string {
	return &[...]*string{&l.Market, &l.Status, &l.TickSize, &l.MinOrderInBase, &l.MinOrderInQuote, &l.MaxOrderInBase,
		&l.MaxOrderInQuote, &l.FeeCategory, &l.Volume24h, &l.VolumeQuote24h, &l.Last, &l.MakerFee, &l.TakerFee}
}

// unpackListingOf is unpackListing of the record of a day.
func unpackListingOf(day int64, value []byte) (*Listing, error) {
	l, err := unpackListing(value)
	if err == nil && DayOf(l.At) != day {
		err = fmt.Errorf("%w: it was made at %s", bolt.ErrCorrupt, l.At)
	}
	return l, err
}

// unpackListing reads a record. A later format wraps ErrNewer, all else that is wrong ErrCorrupt.
func unpackListing(value []byte) (*Listing, error) {
	switch {
	case len(value) < listingHead:
		return nil, fmt.Errorf("%w: a record of %d bytes", bolt.ErrCorrupt, len(value))
	case value[0] == 1 || value[0] == 2:
		return nil, errors.New("an older program wrote the record; begin a new store: import its candles, and " +
			"record the markets with bot candles markets")
	case value[0] == listingMagic && value[1] > listingFormat:
		return nil, fmt.Errorf("%w: record format %d, this program reads %d; update the program", bolt.ErrNewer,
			value[1], listingFormat)
	case value[0] != listingMagic || value[1] == 0:
		return nil, fmt.Errorf("%w: record format %x", bolt.ErrCorrupt, value[:2])
	case binary.LittleEndian.Uint32(value[2:]) != crc32.Checksum(value[listingHead:], bolt.Castagnoli):
		return nil, fmt.Errorf("%w: the checksum of the record differs", bolt.ErrCorrupt)
	}
	r := flate.NewReader(bytes.NewReader(value[listingHead:]))
	body, err := io.ReadAll(io.LimitReader(r, maxListing+1))
	if err != nil || len(body) > maxListing {
		return nil, fmt.Errorf("%w: unpack the record: %d bytes: %v", bolt.ErrCorrupt, len(body), err)
	}
	d := listingDecoder{rest: body, all: string(body)}
	l := d.listing()
	if d.err == nil && len(d.rest) > 0 {
		d.err = fmt.Errorf("%d bytes after its end", len(d.rest))
	}
	if d.err != nil {
		return nil, fmt.Errorf("%w: record: %w", bolt.ErrCorrupt, d.err)
	}
	return l, nil
}

// listingDecoder reads a body. After an error it reads zeros.
type listingDecoder struct {
	rest []byte
	all  string // the body, of which the texts are parts: one piece of memory for all
	err  error
}

var errShortListing = errors.New("it ends too early")

func (d *listingDecoder) listing() *Listing {
	at, n := binary.Varint(d.rest)
	d.skip(n)
	l := &Listing{At: market.Time(at), Exchange: d.text()}
	count := d.number()
	if count > uint64(len(d.rest)) { // each market has some bytes
		d.err = errShortListing
		return l
	}
	l.Markets = make([]Listed, count)
	for i := range l.Markets {
		m := &l.Markets[i]
		for _, text := range m.texts() {
			*text = d.text()
		}
		m.QuantityDecimals, m.NotionalDecimals = d.byte(), d.byte()
		open := d.number()
		if open > math.MaxUint32 {
			d.err = fmt.Errorf("%d open orders", open)
		}
		m.MaxOpenOrders = uint32(open)
		if d.err != nil {
			break
		}
	}
	return l
}

func (d *listingDecoder) skip(n int) {
	if n <= 0 || d.err != nil {
		d.rest, d.err = nil, errShortListing
		return
	}
	d.rest = d.rest[n:]
}

func (d *listingDecoder) number() uint64 {
	value, n := binary.Uvarint(d.rest)
	d.skip(n)
	if d.err != nil {
		return 0
	}
	return value
}

func (d *listingDecoder) byte() uint8 {
	if len(d.rest) == 0 {
		d.skip(0)
		return 0
	}
	value := d.rest[0]
	d.skip(1)
	return value
}

func (d *listingDecoder) text() string {
	n := d.number()
	if n > uint64(len(d.rest)) {
		d.err = errShortListing
	}
	if n == 0 || d.err != nil {
		return ""
	}
	from := len(d.all) - len(d.rest)
	text := d.all[from : from+int(n)]
	d.skip(int(n))
	return text
}
