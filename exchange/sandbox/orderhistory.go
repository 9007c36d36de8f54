package sandbox

import (
	"cmp"
	"container/heap"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
)

// orderHistory brings the exchange to where the state file stands. Everything else of it is open
// already.
func (s *store) orderHistory() (err error) {
	defer catchCorrupt(&err, debug.SetPanicOnFault(true))
	return s.db.View(func(tx *bbolt.Tx) error {
		for _, one := range [...]func(*bbolt.Tx) error{s.recallMarkets, s.recallAccounts, s.recallOrders, s.recallFills,
			s.recallTrades, s.recallTransfers, s.recallTape, s.recallBars, s.recallMeters} {
			if err := one(tx); err != nil {
				return err
			}
		}
		ex := s.ex
		ex.sequence, ex.bank.number = s.loaded.Sequence, s.loaded.Number
		ex.disconnects.timers, ex.late.orders = s.loaded.Timers, s.loaded.Late
		ex.disconnects.plan()
		for _, asset := range ex.catalog.Assets() {
			ex.bank.transferred = addLine(ex.bank.transferred, asset.ID, s.loaded.Transferred[asset.Symbol])
			ex.bank.liquidity = addLine(ex.bank.liquidity, asset.ID, s.loaded.House[asset.Symbol])
		}
		return nil
	})
}

func (s *store) recallMarkets(tx *bbolt.Tx) error {
	return readRows(tx.Bucket(bucketMarkets), func(id uint64, stored *storedMarket) error {
		l := s.ex.listings[id]
		stored.overrule(l.Market)
		l.nonce, l.price, l.candles.minute = stored.Nonce, stored.Price, stored.Minute
		s.ex.venue.Resume(l.ID, &stored.Book)
		return nil
	})
}

func (s *store) recallAccounts(tx *bbolt.Tx) error {
	ex := s.ex
	err := readRows(tx.Bucket(bucketAccounts), func(id uint64, stored *storedAccount) error {
		a := ex.accounts[id]
		for symbol, total := range stored.Balances {
			if err := ex.venue.Transfer(a.id, ex.catalog.AssetNamed(symbol).ID, total); err != nil {
				return fmt.Errorf("%w: account %s: %w", errCorrupt, a.name, err)
			}
		}
		a.volume, a.days, a.depositsListed, a.withdrawalsListed = stored.Volume, stored.Days, stored.DepositsListed,
			stored.WithdrawalsListed
		ex.bank.applyTier(a)
		return nil
	})
	if err != nil {
		return err
	}
	return readLists(tx.Bucket(bucketTransactions), 1, func(head []uint64, number uint64, t *transaction) error {
		a := ex.accounts[head[0]]
		a.transactions = append(a.transactions, *t)
		a.transactionRows = rowCounter{number + 1, number + 1}
		return nil
	})
}

// recallOrders brings back the orders: open orders to the venue, in the sequence of their queues;
// ended orders in the sequence of their ends.
func (s *store) recallOrders(tx *bbolt.Tx) error {
	ex := s.ex
	type resting struct {
		account sim.AccountID
		sim.Resting
	}
	var open []resting
	var ended []*record
	err := readLists(tx.Bucket(bucketOrders), 1, func(head []uint64, count uint64, stored *storedRecord) error {
		r, o := ex.blank(), stored.Order
		*r = record{id: o.ID, count: count, account: stored.Account, market: market.ID(head[0]), shown: stored.Shown}
		ex.enlist(r, o.ClientOrderID)
		if stored.Ended != 0 {
			r.history = &orderHistory{order: &o, ended: stored.Ended}
			ended = append(ended, r)
			ex.endings = max(ex.endings, stored.Ended)
		} else {
			open = append(open, resting{stored.Account,
				sim.Resting{Order: o, Settlement: stored.Settlement, Sequence: stored.Sequence, Aside: stored.Aside}})
		}
		if stored.Lost != 0 {
			ex.ensureHistory(r).dropped = stored.Lost
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(open, func(a, b resting) int { return cmp.Compare(a.Sequence, b.Sequence) })
	for i := range open {
		if err := ex.venue.Restore(open[i].account, &open[i].Resting); err != nil {
			return fmt.Errorf("%w: %w", errCorrupt, err)
		}
	}
	slices.SortFunc(ended, func(a, b *record) int { return cmp.Compare(a.history.ended, b.history.ended) })
	for _, r := range ended {
		ex.retire(r)
	}
	return nil
}

func (s *store) recallFills(tx *bbolt.Tx) error {
	return readLists(tx.Bucket(bucketFills), 2, func(head []uint64, number uint64, stored *fill) error {
		r := s.ex.listings[head[0]].orders.Get(market.OrderID(head[1]))
		if r == nil {
			return nil // forgotten just now: fewer are kept than there were
		}
		p := s.ex.ensureHistory(r)
		p.fills = append(p.fills, *stored)
		p.saved = number + 1
		return nil
	})
}

func (s *store) recallTrades(tx *bbolt.Tx) error {
	return readLists(tx.Bucket(bucketTrades), 2, func(head []uint64, number uint64, stored *trade) error {
		have := s.ex.accounts[head[0]].recordsOf(s.ex.listings[head[1]].ID)
		have.trades = append(have.trades, *stored)
		have.tradeRows = rowCounter{number + 1, number + 1}
		return nil
	})
}

func (s *store) recallTransfers(tx *bbolt.Tx) error {
	ex := s.ex
	err := readRows(tx.Bucket(bucketTransfers), func(_ uint64, t *transfer) error {
		a, v := ex.accounts[t.Account], ex.bank.assets[t.Asset-1]
		if t.Status == 0 || int(t.Status) >= len(transferStatuses) {
			return fmt.Errorf("%w: a transfer of %s has status %d", errCorrupt, v.Symbol, t.Status)
		}
		if t.Due != never {
			heap.Push(&ex.bank.inFlight, t)
		}
		switch {
		case t.Place == 0:
		case t.Deposit:
			a.deposits = append(a.deposits, t)
		default:
			a.withdrawals = append(a.withdrawals, t)
		}
		return nil
	})
	inOrder := func(a, b *transfer) int { return cmp.Compare(a.Place, b.Place) }
	for _, a := range ex.accounts {
		slices.SortFunc(a.deposits, inOrder)
		slices.SortFunc(a.withdrawals, inOrder)
		a.deposits = slices.DeleteFunc(a.deposits,
			func(t *transfer) bool { return t.Place+uint64(ex.config.Retention.Transactions) <= a.depositsListed })
		a.withdrawals = slices.DeleteFunc(a.withdrawals,
			func(t *transfer) bool { return t.Place+uint64(ex.config.Retention.Transactions) <= a.withdrawalsListed })
	}
	return err
}

func (s *store) recallTape(tx *bbolt.Tx) error {
	return readLists(tx.Bucket(bucketTape), 1, func(head []uint64, number uint64, p *storedPrint) error {
		l := s.ex.listings[head[0]]
		l.tape.trades = append(l.tape.trades, publicTrade{tradeID(l.ID, p.ID), p.At, p.Price, p.Amount, p.Side})
		l.tape.rows = rowCounter{number + 1, number + 1}
		return nil
	})
}

func (s *store) recallBars(tx *bbolt.Tx) error {
	return readLists(tx.Bucket(bucketBars), 2, func(head []uint64, number uint64, b *bar) error {
		c := &s.ex.listings[head[0]].candles
		c.bars[head[1]] = append(c.bars[head[1]], *b)
		c.rows[head[1]] = rowCounter{number + 1, number + 1}
		return nil
	})
}

func (s *store) recallMeters(tx *bbolt.Tx) error {
	return tx.Bucket(bucketMeters).ForEach(func(subject, text []byte) error {
		var m api.Usage
		if err := json.Unmarshal(text, &m); err != nil {
			return unreadable(subject, err)
		}
		s.ex.door.SetUsage(string(subject), m)
		return nil
	})
}

// readRows reads all rows of a bucket in the order of their numbers.
func readRows[T any](b *bbolt.Bucket, each func(number uint64, row *T) error) error {
	return readLists(b, 0, func(_ []uint64, number uint64, row *T) error { return each(number, row) })
}

// readLists reads all rows of a bucket in the order of their keys, each of so many numbers and the
// row's own.
func readLists[T any](b *bbolt.Bucket, numbers int, each func(head []uint64, number uint64, row *T) error) error {
	head := make([]uint64, numbers+1)
	return b.ForEach(func(key, text []byte) error {
		if len(key) != 8*len(head) {
			return unreadable(key, fmt.Errorf("the key has %d bytes, not %d", len(key), 8*len(head)))
		}
		for i := range head {
			head[i] = binary.BigEndian.Uint64(key[8*i:])
		}
		row := new(T)
		if err := json.Unmarshal(text, row); err != nil {
			return unreadable(key, err)
		}
		return each(head[:numbers], head[numbers], row)
	})
}

// decode reads one record.
func decode(b *bbolt.Bucket, key []byte, record any) error {
	if err := json.Unmarshal(b.Get(key), record); err != nil {
		return unreadable(key, err)
	}
	return nil
}

func unreadable(key []byte, err error) error {
	return fmt.Errorf("%w: record %x: %w", errCorrupt, key, err)
}
