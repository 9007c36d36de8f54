package adopt

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/tidemark-trading/tidemark/bot/killswitch"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// The numbers of the two strategies in the batch, as Run binds them.
const (
	fromID market.StrategyID = 1
	toID   market.StrategyID = 2
)

// commit writes everything in one transaction: the parts of the engine, the rows of positions and
// orders, the halts, and the entry.
func (h *handing) commit() error {
	last, err := h.store.LastEntries(1)
	if err != nil {
		return err
	}
	at := h.Now
	for i := range last {
		at = max(at, last[i].At)
	}
	batch := h.store.NewBatch()
	for _, step := range [...]func(*journal.Batch, market.Time) error{h.putParts, h.putHalts, h.putRows, h.putEntry} {
		if err := step(batch, at); err != nil {
			return err
		}
	}
	if err := h.store.Commit(batch); err != nil {
		return statedir.Error{Err: err}
	}
	h.report.By, h.report.AtMS = h.By, at.Millis()
	h.report.Entry, err = h.store.LastNumber()
	return err
}

// putParts writes the parts of the engine, and the small records by name.
func (h *handing) putParts(batch *journal.Batch, _ market.Time) error {
	for _, name := range slices.Sorted(maps.Keys(h.given.Parts)) {
		if data := h.given.Parts[name]; data == nil {
			batch.RemoveBlob(statedir.PartPrefix + name)
		} else {
			batch.Blob(statedir.PartPrefix+name, data)
		}
	}
	_, after, err := h.allocations()
	if err != nil {
		return err
	}
	if after != nil {
		text, _ := json.Marshal(after) // names and numbers
		batch.Blob(statedir.AllocationBlob, text)
	}
	delete(h.kinds, h.From)
	h.kinds[h.To] = h.Strategies[h.To].Kind
	text, _ := json.Marshal(h.kinds) // names
	batch.Blob(statedir.KindsBlob, text)
	return h.putUnknown(batch)
}

// putUnknown hands over what From has bought after the copy of a restored file was made, and whose
// exits are not known, and what such a purchase is to give back.
func (h *handing) putUnknown(batch *journal.Batch) error {
	n, err := statedir.ReadNewer(h.store)
	if err != nil || len(n.Unknown)+len(n.Lent) == 0 {
		return err
	}
	for _, list := range [][]statedir.UnknownExit{n.Unknown, n.Lent} {
		for i := range list {
			if list[i].Strategy == h.From {
				list[i].Strategy = h.To
			}
		}
	}
	text, err := n.Append(nil)
	batch.Blob(statedir.NewerBlob, text)
	return err
}

// putHalts ends the halt of From, which goes over to To if it is the same strategy.
func (h *handing) putHalts(batch *journal.Batch, at market.Time) error {
	halts, err := h.store.Halts()
	if err != nil {
		return err
	}
	for i := range halts {
		halt := halts[i].Halt
		if halt.Scope != "strategy "+h.From {
			continue
		}
		batch.Resume(at, &journal.Resume{Scope: halt.Scope, By: h.By})
		if halt.Scope = "strategy " + h.To; h.given.Halt != "" {
			batch.Halt(at, &halt)
		}
	}
	return nil
}

// putRows writes the rows of positions and of orders. What From has earned stays in its own rows.
func (h *handing) putRows(batch *journal.Batch, _ market.Time) error {
	for i := range h.given.Positions {
		p := &h.given.Positions[i]
		m := h.store.Catalog().MarketNamed(p.Market)
		batch.Position(fromID, m.ID, &market.Position{Realised: p.Realised, Fees: p.Fees})
		batch.Position(toID, m.ID, &p.Sum)
	}
	for _, id := range h.given.Orders {
		row, err := h.store.Order(id)
		if errors.Is(err, bolt.ErrNotFound) {
			continue // the stop came before its intent was written: it was not sent, and the next start ends it
		}
		if err != nil {
			return err
		}
		o := state.Order{Order: row.Order, State: row.State, InFlight: row.InFlight, CancelWanted: row.CancelWanted,
			Reported: row.Reported, Code: row.Code}
		o.Strategy = toID
		batch.Order(&o)
	}
	return nil
}

// putEntry journals the handover, as the last entry, and books it.
func (h *handing) putEntry(batch *journal.Batch, at market.Time) error {
	catalog, b := h.store.Catalog(), h.given
	prices, err := statedir.Prices(h.store)
	if err != nil {
		return err
	}
	currency, _ := h.currency()
	entry := journal.Adoption{By: h.By, From: h.From, To: h.To, Until: max(b.Now, b.Latest), Memory: b.Memory,
		Orders: b.Orders}
	for i := range b.Positions {
		p := &b.Positions[i]
		m := catalog.MarketNamed(p.Market)
		moved := journal.AdoptedPosition{Market: m.ID, Asset: m.Base, Amount: p.Amount, Cost: p.Cost}
		if price := prices.Last(m.ID); price != 0 && catalog.Asset(m.Quote).Symbol == currency {
			if moved.Worth.Value, err = m.Notional(price, p.Amount); err != nil {
				return err
			}
			moved.Worth.Known = true
		}
		entry.Positions = append(entry.Positions, moved)
	}
	for _, money := range b.Money {
		moved := journal.AdoptedMoney{Asset: catalog.AssetNamed(money.Asset).ID, Money: money.Money}
		if moved.Worth.Known = true; money.Asset == currency {
			moved.Worth.Value = money.Money
		}
		entry.Money = append(entry.Money, moved)
	}
	batch.Adoption(at, &entry)
	return nil
}

// holdings renames From in the holdings of the kill switch. A call that finds the handover done
// does it again: a kill may have come before.
func (h *handing) holdings() error {
	held, err := killswitch.ReadHoldings(h.Folder)
	if err != nil || held == nil {
		return err
	}
	changed, err := h.rename(held)
	if err != nil || !changed {
		return err
	}
	err = held.Write(h.Folder)
	h.fault("adopt holdings")
	return err
}

// rename gives the positions and orders of From in the holdings to To.
func (h *handing) rename(held *killswitch.Holdings) (changed bool, err error) {
	for i := range held.Orders {
		if o := &held.Orders[i]; o.Strategy == h.From {
			o.Strategy, changed = h.To, true
		}
	}
	left := held.Positions[:0]
	for _, p := range held.Positions {
		if p.Strategy == h.From {
			p.Strategy, changed = h.To, true
		}
		at := slices.IndexFunc(left, func(q killswitch.Position) bool {
			return q.Strategy == p.Strategy && q.Market == p.Market
		})
		if at < 0 {
			left = append(left, p)
			continue
		}
		m := h.store.Catalog().MarketNamed(p.Market)
		one, err := m.ParseQty(left[at].Amount)
		other, failed := m.ParseQty(p.Amount)
		if err := errors.Join(err, failed); err != nil {
			return false, err
		}
		left[at].Amount = m.FormatQty(one + other)
	}
	held.Positions = left
	return changed, nil
}

// ownMoney reports whether To has an allocation in the config.
func (h *handing) ownMoney() bool { return owns(h.Strategies[h.To].Allocation) }
