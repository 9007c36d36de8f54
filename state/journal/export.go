package journal

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"go.etcd.io/bbolt"
)

// exports are the tables that Export can write.
var exports = map[string]func(s *Store, row func(Fields) error) error{
	"journal":   exportJournal,
	"orders":    exportOrders,
	"fills":     exportFills,
	"positions": exportPositions,
	"halts":     exportHalts,
	"runs":      exportRuns,
	"kept":      exportKept,
	"equity":    exportEquity,
	"bookings":  exportBookings,
}

// ExportTables lists the tables that Export can write, sorted.
func ExportTables() []string { return slices.Sorted(maps.Keys(exports)) }

// Export writes a table as JSON, one object of texts a line: plain decimals, RFC 3339 times, the
// specification's names. It returns the number of rows.
func (s *Store) Export(w io.Writer, table string) (rows int64, err error) {
	export := exports[table]
	if export == nil {
		return 0, fmt.Errorf("no table %q; there are %s", table, strings.Join(ExportTables(), ", "))
	}
	out := bufio.NewWriterSize(w, 1<<16)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	err = export(s, func(f Fields) error {
		rows++
		return lines.Encode(f)
	})
	return rows, cmp.Or(err, out.Flush())
}

func exportJournal(s *Store, row func(Fields) error) error {
	return s.Entries(0, func(e *Entry) error { return row(s.describeEntry(e)) })
}

func exportOrders(s *Store, row func(Fields) error) error {
	return s.Orders(0, func(o *OrderRow) error { return row(s.describeOrder(o)) })
}

func exportFills(s *Store, row func(Fields) error) error {
	return s.Fills(0, 0, func(f *FillRow) error { return row(s.DescribeFill(f)) })
}

func exportPositions(s *Store, row func(Fields) error) error {
	list, err := s.Positions()
	return cmp.Or(err, eachRow(list, row, s.describePosition))
}

func exportHalts(s *Store, row func(Fields) error) error {
	list, err := s.Halts()
	return cmp.Or(err, eachRow(list, row, s.describeHalt))
}

func exportRuns(s *Store, row func(Fields) error) error {
	list, err := s.Runs()
	return cmp.Or(err, eachRow(list, row, s.describeRun))
}

func exportKept(s *Store, row func(Fields) error) error {
	list, err := s.Kept()
	return cmp.Or(err, eachRow(list, row, s.describeKept))
}

func exportBookings(s *Store, row func(Fields) error) error {
	return s.Bookings(0, func(b *Booking) error { return row(s.describeBooking(b)) })
}

func eachRow[T any](list []T, row func(Fields) error, describe func(*T) Fields) error {
	for i := range list {
		if err := row(describe(&list[i])); err != nil {
			return err
		}
	}
	return nil
}

// exportEquity writes every curve, in the decimals of the currency of the last run.
func exportEquity(s *Store, row func(Fields) error) error {
	runs, err := s.Runs()
	if err != nil || len(runs) == 0 {
		return err
	}
	digits := uint8(0)
	if currency := s.Catalog().AssetNamed(runs[len(runs)-1].Currency); currency != nil {
		digits = currency.Digits
	}
	curves, err := s.curves()
	if err != nil {
		return err
	}
	for _, name := range curves {
		curve, err := s.Equity(name, 0, 0)
		err = cmp.Or(err, eachRow(curve, row, func(e *EquitySample) Fields { return s.describeSample(e, digits) }))
		if err != nil {
			return err
		}
	}
	return nil
}

// curves returns the strategies with an equity curve; the empty name is the account.
func (s *Store) curves() (list []string, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		last := byte(len(tiers) - 1) // the longest tier has every sample
		return walkUntil(s.reading, tx.Bucket(bucketEquity), []byte{last}, func(key, value []byte) error {
			row, err := readEquity(s.names, key, value)
			if err != nil {
				return s.wrap(err)
			}
			if name := row[0].Strategy; !slices.Contains(list, name) {
				list = append(list, name)
			}
			return nil
		})
	})
	return list, err
}
