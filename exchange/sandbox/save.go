package sandbox

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/market"
)

// marketRow is the part of a market that the file has, for comparison.
type marketRow struct {
	configured rules // when the exchange was made
	rules      rules
	price      market.Price
	nonce      int64
	printed    uint64
	marked     bool
}

// write writes every part, in one transaction.
func (s *store) write(tx *bbolt.Tx) error {
	for _, one := range [...]func(*bbolt.Tx) error{s.writeAbout, s.writeOrders, s.writeGone, s.writeAccounts,
		s.writeTransfers, s.writeMarkets, s.writeMeters} {
		if err := one(tx); err != nil {
			return err
		}
	}
	return nil
}

// writeAbout writes the first record of a new file, and the data that the exchange has once.
func (s *store) writeAbout(tx *bbolt.Tx) error {
	if tx.Bucket(bucketAbout) == nil {
		for _, name := range buckets {
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		beginning, _ := s.ex.opening()
		if err := encode(tx.Bucket(bucketAbout), keyAbout, aboutOf(&s.ex.config, beginning)); err != nil {
			return err
		}
	}
	ex := s.ex
	l := storedLife{Reached: ex.reached, Sequence: ex.sequence, Number: ex.bank.number,
		Timers: ex.disconnects.timers, Late: ex.late.orders,
		Transferred: map[string]market.Value{}, House: map[string]market.Value{}}
	for _, asset := range ex.catalog.Assets() {
		l.Transferred[asset.Symbol] = sumOf(ex.bank.transferred, asset.ID)
		l.House[asset.Symbol] = sumOf(ex.bank.liquidity, asset.ID)
	}
	return encode(tx.Bucket(bucketAbout), keyLife, &l)
}

// writeOrders writes the orders that are marked, with their new fills.
func (s *store) writeOrders(tx *bbolt.Tx) error {
	orders, fills := tx.Bucket(bucketOrders), tx.Bucket(bucketFills)
	for r := range s.records {
		key := keyOf(uint64(r.market), r.count)
		if err := encode(orders, key, s.recordOf(r)); err != nil {
			return err
		}
		if r.history == nil {
			continue
		}
		fresh := rowCounter{total: uint64(r.filled()), saved: r.history.saved}
		if err := writeRows(fills, key, r.history.fills, &fresh, uint64(r.history.dropped), asItIs); err != nil {
			return err
		}
		r.history.saved = fresh.saved
	}
	return nil
}

// recordOf is the stored form of an order.
func (s *store) recordOf(r *record) *storedRecord {
	stored := &storedRecord{Account: r.account, Shown: r.shown}
	if r.history != nil {
		stored.Ended, stored.Lost = r.history.ended, r.history.dropped
	}
	if r.closed() {
		stored.Order = *r.history.order
		return stored
	}
	resting, open := s.ex.venue.Snapshot(r.id)
	if !open {
		panic(fmt.Sprintf("sandbox: order %d of market %d has neither ended nor is it open", r.count, r.market))
	}
	stored.Order, stored.Settlement, stored.Sequence = resting.Order, resting.Settlement, resting.Sequence
	stored.Aside = resting.Aside
	return stored
}

// writeGone forgets orders with their fills.
func (s *store) writeGone(tx *bbolt.Tx) error {
	for _, gone := range s.forgotten {
		key := keyOf(uint64(gone.market), gone.count)
		if err := tx.Bucket(bucketOrders).Delete(key); err != nil {
			return err
		}
		if err := dropRows(tx.Bucket(bucketFills), key, math.MaxUint64); err != nil {
			return err
		}
	}
	return nil
}

// writeAccounts writes the marked accounts, with the new rows of their lists.
func (s *store) writeAccounts(tx *bbolt.Tx) error {
	ex := s.ex
	for _, a := range s.accounts {
		id := uint64(a.id)
		if err := encode(tx.Bucket(bucketAccounts), keyOf(id), s.accountOf(a)); err != nil {
			return err
		}
		if err := writeRows(tx.Bucket(bucketTransactions), keyOf(id), a.transactions, &a.transactionRows,
			oldest(a.transactionRows.total, ex.config.Retention.Transactions), asItIs); err != nil {
			return err
		}
		for m, have := range a.orders {
			if have == nil {
				continue
			}
			if err := writeRows(tx.Bucket(bucketTrades), keyOf(id, uint64(m)), have.trades, &have.tradeRows,
				oldest(have.tradeRows.total, ex.config.Retention.Trades), asItIs); err != nil {
				return err
			}
		}
	}
	return nil
}

// accountOf is the stored form of an account.
func (s *store) accountOf(a *account) *storedAccount {
	stored := &storedAccount{Name: a.name, Balances: map[string]market.Money{}, Volume: a.volume, Days: a.days,
		DepositsListed: a.depositsListed, WithdrawalsListed: a.withdrawalsListed}
	for _, asset := range s.ex.catalog.Assets() {
		if total := s.ex.venue.BalanceOf(a.id, asset.ID).Total; total != 0 {
			stored.Balances[asset.Symbol] = total
		}
	}
	return stored
}

// writeTransfers writes the marked transfers. It deletes a transfer that has ended and is no longer
// in its account's list.
func (s *store) writeTransfers(tx *bbolt.Tx) error {
	b := tx.Bucket(bucketTransfers)
	for _, t := range s.transfers {
		a := s.ex.accounts[t.Account]
		listed := a.withdrawalsListed
		if t.Deposit {
			listed = a.depositsListed
		}
		key := keyOf(counter(t.ID))
		if t.Due == never && t.Place+uint64(s.ex.config.Retention.Transactions) <= listed {
			if err := b.Delete(key); err != nil {
				return err
			}
			continue
		}
		if err := encode(b, key, t); err != nil {
			return err
		}
	}
	return nil
}

// writeMarkets writes the markets that have changed, with their public trades and candles.
func (s *store) writeMarkets(tx *bbolt.Tx) error {
	for id := 1; id < len(s.marketRows); id++ {
		l, h := s.ex.listings[id], &s.marketRows[id]
		if !h.marked && h.nonce == l.nonce && h.price == l.price && h.printed == l.tape.rows.total &&
			h.rules == rulesOf(l.Market) {
			continue // the file has it
		}
		stored := &storedMarket{
			Configured: h.configured, Rules: rulesOf(l.Market), Nonce: l.nonce, Price: l.price,
			Minute: l.candles.minute, Book: s.ex.venue.BookState(l.ID),
		}
		if err := encode(tx.Bucket(bucketMarkets), keyOf(uint64(id)), stored); err != nil {
			return err
		}
		if err := writeRows(tx.Bucket(bucketTape), keyOf(uint64(id)), l.tape.trades, &l.tape.rows,
			oldest(l.tape.rows.total, l.tape.keep), printOf); err != nil {
			return err
		}
		if err := writeBars(tx.Bucket(bucketBars), l); err != nil {
			return err
		}
		*h = marketRow{configured: h.configured, rules: stored.Rules, price: l.price, nonce: l.nonce,
			printed: l.tape.rows.total}
	}
	return nil
}

// writeBars writes a market's candles. The last one of an interval that was written may have grown
// since.
func writeBars(b *bbolt.Bucket, l *listing) error {
	c := &l.candles
	for interval := market.Interval1m; interval <= market.Interval1M; interval++ {
		r := &c.rows[interval]
		if r.total == 0 {
			continue
		}
		r.saved -= min(r.saved, 1)
		if err := writeRows(b, keyOf(uint64(l.ID), uint64(interval)), c.bars[interval], r, oldest(r.total, c.keep),
			asItIs); err != nil {
			return err
		}
	}
	return nil
}

// writeMeters writes the weight that keys and IP addresses have used since the last write.
func (s *store) writeMeters(tx *bbolt.Tx) error {
	b := tx.Bucket(bucketMeters)
	return s.ex.door.FlushUsage(func(subject string, m api.Usage) error {
		if m == (api.Usage{}) {
			return b.Delete([]byte(subject))
		}
		return encode(b, []byte(subject), m)
	})
}

// oldest is the number of the first row that a list of the latest keep ones remembers.
func oldest(total uint64, keep int) uint64 { return total - min(total, uint64(keep)) }

// writeRows writes the rows of a list that are new, and drops those before oldest. The list has the
// last rows of its run.
func writeRows[T any](b *bbolt.Bucket, head []byte, list []T, r *rowCounter, oldest uint64, stored func(*T) any) error {
	if r.saved == r.total {
		return nil
	}
	first := r.total - uint64(len(list))
	for number := max(r.saved, oldest, first); number < r.total; number++ {
		if err := encode(b, binary.BigEndian.AppendUint64(slices.Clip(head), number),
			stored(&list[number-first])); err != nil {
			return err
		}
	}
	r.saved = r.total
	return dropRows(b, head, oldest)
}

// dropRows drops the rows of a list before oldest.
func dropRows(b *bbolt.Bucket, head []byte, oldest uint64) error {
	c := b.Cursor()
	for key, _ := c.Seek(head); len(key) == len(head)+8 && bytes.HasPrefix(key, head) &&
		binary.BigEndian.Uint64(key[len(head):]) < oldest; key, _ = c.Seek(head) {
		if err := c.Delete(); err != nil {
			return err
		}
	}
	return nil
}

// keyOf is a key of numbers.
func keyOf(numbers ...uint64) []byte {
	key := make([]byte, 0, 8*len(numbers))
	for _, n := range numbers {
		key = binary.BigEndian.AppendUint64(key, n)
	}
	return key
}

// encode writes one record.
func encode(b *bbolt.Bucket, key []byte, record any) error {
	text, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("record %x: %w", key, err)
	}
	return b.Put(key, text)
}
