package gap

import (
	"errors"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/state/journal"
)

// endsOf is the number of the last journal entry that each run can have written. Behind it come the
// entries of adoptions, and those of the next run.
func endsOf(store *journal.Store) (map[uuid.UUID]uint64, error) {
	runs, err := store.Runs()
	if err != nil {
		return nil, err
	}
	end, err := store.LastNumber()
	if err != nil {
		return nil, err
	}
	kept, err := store.Kept()
	if err != nil {
		return nil, err
	}
	ends := map[uuid.UUID]uint64{}
	for i := len(runs) - 1; i >= 0; i-- {
		first := runs[i].First
		for k := len(kept) - 1; k >= 0 && kept[k].Number > first; k-- {
			if _, is := kept[k].Record.(*journal.Adoption); is && kept[k].Number <= end {
				if end, err = before(store, &kept[k]); err != nil {
					return nil, err
				}
			}
		}
		ends[runs[i].Run], end = end, first-1
	}
	return ends, nil
}

// before is the number of the last entry before those of an adoption. It may end a halt, and begin
// one, before its own entry.
func before(store *journal.Store, row *journal.KeptRow) (number uint64, err error) {
	a := row.Record.(*journal.Adoption)
	number = row.Number
	enough := errors.New("enough")
	err = store.Entries(max(2, row.Number-1)-1, func(e *journal.Entry) error {
		if e.Number >= row.Number {
			return enough
		}
		switch r := e.Record.(type) {
		case *journal.Resume:
			if e.At == row.At && r.Scope == "strategy "+a.From {
				number = min(number, e.Number)
			}
		case *journal.Halt:
			if e.At == row.At && r.Scope == "strategy "+a.To {
				number = min(number, e.Number)
			}
		}
		return nil
	})
	if errors.Is(err, enough) {
		err = nil
	}
	return number - 1, err
}
