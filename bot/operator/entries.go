package operator

import (
	"errors"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// The bounds of an answer about the journal. One that has looked at entryLooks entries ends, and
// says where to go on.
const (
	entryLooks = 50_000
	entryPage  = 50
	MaxEntries = 1000 // entries of an answer
)

// JournalQuery says which entries of the journal are asked for, beside the time, the strategy, the
// market and the number of Books.
type JournalQuery struct {
	profit.Query
	Kind   string `json:"kind,omitempty"`   // several are separated by commas; empty: all
	Order  string `json:"order,omitempty"`  // a name as in journal.Store.FindOrder
	Before uint64 `json:"before,omitempty"` // Journal.Older of the page before; 0: the latest entries
}

// Journal is a page of the journal, the latest entries first, as a program reads it.
type Journal struct {
	profit.Answer
	Entries []JournalEntry `json:"entries"`
	// Older is JournalQuery.Before of the next page; 0: there are no older entries. A page may have
	// fewer entries than were asked for, or none, where it had to look at many that were not.
	Older uint64 `json:"older,omitempty"`
}

// JournalEntry is an entry of the journal.
type JournalEntry struct {
	Number   uint64   `json:"number"`
	AtMS     int64    `json:"at_ms"` // on the exchange's clock as the bot knew it
	Kind     string   `json:"kind"`
	Strategy string   `json:"strategy,omitempty"`
	Market   string   `json:"market,omitempty"`
	Order    int64    `json:"order,omitempty"`
	Lines    []string `json:"lines"`
}

// Check checks the words of a query. Its error is a config.UsageError.
func (q *JournalQuery) Check() error {
	if err := q.Query.Check(); err != nil {
		return config.Usagef("%w", err)
	}
	if q.Latest < 0 || q.Latest > MaxEntries {
		return config.Usagef("%d entries: want 1 to %d", q.Latest, MaxEntries)
	}
	_, err := q.kinds()
	return err
}

// kinds are the asked kinds; none: all.
func (q *JournalQuery) kinds() (list []journal.EntryKind, err error) {
	if q.Kind == "" {
		return nil, nil
	}
	for name := range strings.SplitSeq(q.Kind, ",") {
		kind := journal.EntryKindOf(strings.TrimSpace(name))
		if kind == 0 {
			return nil, config.Usagef("kind %q: want one of %s", config.Clip(name),
				strings.Join(journal.EntryKinds(), ", "))
		}
		list = append(list, kind)
	}
	return list, nil
}

// AskJournal asks for a page of the journal.
func AskJournal(q *JournalQuery) Question[Journal] {
	return Question[Journal]{path: PathJournal, ask: Request{Journal: q}, wrong: q.Check(),
		read: func(store *journal.Store) (*Journal, error) {
			last, err := lastEntryMS(store)
			if err != nil {
				return nil, err
			}
			now, err := market.TimeOfMillis(last)
			if err != nil {
				return nil, err
			}
			return JournalOf(store, q, now)
		}}
}

// JournalOf reads a page of the journal of a state file. It is one read transaction of a bounded
// size: any goroutine may call it while a bot runs.
func JournalOf(store *journal.Store, q *JournalQuery, now market.Time) (*Journal, error) {
	list := &Journal{Entries: []JournalEntry{}}
	w := journal.Wanted{Before: q.Before, Strategy: q.Strategy, Market: q.Market, Most: entryPage, Looks: entryLooks}
	if q.Latest > 0 {
		w.Most = q.Latest
	}
	var err error
	if w.Kinds, err = q.kinds(); err != nil {
		return nil, err
	}
	if w.Since, w.Until, err = q.Span(store, now); err != nil {
		return nil, err
	}
	if q.Order != "" {
		row, err := store.FindOrder(q.Order)
		if errors.Is(err, bolt.ErrNotFound) {
			return list, nil
		}
		if err != nil {
			return nil, config.Usagef("%w", err)
		}
		w.Order = row.ID
	}
	entries, older, err := store.Latest(&w)
	list.Older = older
	for i := range entries {
		list.Entries = append(list.Entries, entryOf(store, &entries[i]))
	}
	return list, err
}

// entryOf is an entry in words.
func entryOf(store *journal.Store, e *journal.Named) JournalEntry {
	t := newStoryWriter(store)
	return JournalEntry{Number: e.Number, AtMS: e.At.Millis(), Kind: e.Kind.String(), Strategy: e.Strategy,
		Market: e.Market, Order: int64(e.Order), Lines: t.lines(&e.Entry)}
}

// Text are the lines of an entry in one, without the columns that a list of lines has.
func (e *JournalEntry) Text() string {
	lines := slices.Clone(e.Lines)
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return strings.Join(lines, "; ")
}

// JournalKinds are the names of the kinds of entries.
func JournalKinds() []string { return journal.EntryKinds() }
