package sandbox

import (
	"github.com/tidemark-trading/tidemark/market"
)

// rowCounts are the changes since the last write. New rows of lists need no mark: their rowCounter
// shows them. All methods may be called of a nil store, which marks nothing.
type rowCounts struct {
	urgent    bool // a client may see the change: it has to be in the file before the answer
	records   map[*record]struct{}
	forgotten []orderKey
	accounts  []*account
	transfers []*transfer
}

// orderKey names an order in the file.
type orderKey struct {
	market market.ID
	count  uint64
}

func (m *rowCounts) clear() {
	m.urgent = false
	clear(m.records)
	m.forgotten, m.transfers = m.forgotten[:0], m.transfers[:0]
	for _, a := range m.accounts {
		a.marked = false
	}
	m.accounts = m.accounts[:0]
}

// markOrder marks an order, with the account whose balance it may have changed and the market where
// that happened.
func (s *store) markOrder(r *record) {
	if s == nil {
		return
	}
	s.records[r] = struct{}{}
	s.marketRows[r.market].marked = true
	s.markAccount(s.ex.accounts[r.account])
}

// markForgotten marks an order that is remembered no more.
func (s *store) markForgotten(r *record) {
	if s == nil {
		return
	}
	delete(s.records, r)
	s.forgotten = append(s.forgotten, orderKey{r.market, r.count})
}

// markAccount marks an account: its balances, its volume.
func (s *store) markAccount(a *account) {
	if s == nil {
		return
	}
	s.urgent = true
	if !a.marked {
		a.marked = true
		s.accounts = append(s.accounts, a)
	}
}

// markTransfer marks a transfer, on its way or ended.
func (s *store) markTransfer(t *transfer) {
	if s == nil {
		return
	}
	s.urgent = true
	s.transfers = append(s.transfers, t)
}

// markUrgent marks a change that belongs to no order, account or transfer. A timer that expires
// needs no mark: it would expire again.
func (s *store) markUrgent() {
	if s != nil {
		s.urgent = true
	}
}

// rowCounter counts the rows ever added to a list. The list keeps the latest of them.
type rowCounter struct{ total, saved uint64 } // rows ever added, and how many of those are in the file
