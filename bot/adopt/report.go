package adopt

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/engine"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/bolt"
)

// Changes lists the changes that a handover has made, or would make.
type Changes struct {
	From      string        `json:"from"`
	To        string        `json:"to"`
	Check     bool          `json:"check"`  // nothing was written
	Before    bool          `json:"before"` // it was done by an earlier call: By, AtMS and Entry are of that one
	By        string        `json:"by,omitempty"`
	AtMS      int64         `json:"at_ms,omitempty"`
	Entry     uint64        `json:"entry,omitempty"` // of the journal
	Positions []Position    `json:"positions"`
	Orders    []HandedOrder `json:"orders"`
	Exits     int           `json:"exits"`   // brackets
	Tactics   int           `json:"tactics"` // under way
	Closes    int           `json:"closes"`  // under way
	Money     []Money       `json:"money"`   // of its own, in no position
	Memory    bool          `json:"memory"`  // To is From under another name: it has its saved state and its halt
	Halt      string        `json:"halt,omitempty"`
	Notes     []string      `json:"notes"`
}

// Position is a position that goes over. Amounts are plain decimals.
type Position struct {
	Market   string `json:"market"`
	Amount   string `json:"amount"`
	Cost     string `json:"cost"`
	Currency string `json:"currency"`
	OpenedMS int64  `json:"opened_ms"`
	Sum      string `json:"sum"`      // that To has in the market then
	SumCost  string `json:"sum_cost"` // likewise
}

// HandedOrder is an order that goes over.
type HandedOrder struct {
	Order  int64  `json:"order"`
	Market string `json:"market"`
	Side   string `json:"side"`
	State  string `json:"state"`
}

// Money is an amount that goes from one allocation to another.
type Money struct {
	Asset  string `json:"asset"`
	Amount string `json:"amount"`
}

func (h *handing) note(format string, args ...any) {
	h.report.Notes = append(h.report.Notes, fmt.Sprintf(format, args...))
}

// describe writes into the report what goes over.
func (h *handing) describe() error {
	catalog, b, r := h.store.Catalog(), h.given, h.report
	for i := range b.Positions {
		p := &b.Positions[i]
		m := catalog.MarketNamed(p.Market)
		if m == nil {
			return fmt.Errorf("market %s is not in the state file's list of markets", p.Market)
		}
		r.Positions = append(r.Positions, Position{Market: p.Market, Amount: m.FormatQty(p.Amount),
			Cost: m.FormatValue(p.Cost), Currency: catalog.Asset(m.Quote).Symbol, OpenedMS: p.Opened.Millis(),
			Sum: m.FormatQty(p.Sum.Amount), SumCost: m.FormatValue(p.Sum.Cost)})
	}
	for _, id := range b.Orders {
		row, err := h.store.Order(id)
		if errors.Is(err, bolt.ErrNotFound) {
			continue // the stop came before its intent was written: it was not sent, and the next start ends it
		}
		if err != nil {
			return err
		}
		r.Orders = append(r.Orders, HandedOrder{Order: int64(id), Market: catalog.Market(row.Market).Name,
			Side: row.Side.String(), State: row.State.String()})
	}
	for _, m := range b.Money {
		asset := catalog.AssetNamed(m.Asset)
		if asset == nil {
			return fmt.Errorf("asset %s is not in the state file's list of assets", m.Asset)
		}
		if m.Money != 0 {
			r.Money = append(r.Money, Money{m.Asset, market.FormatFixed(int64(m.Money), asset.Digits)})
		}
	}
	r.Exits, r.Tactics, r.Closes, r.Memory, r.Halt = b.Brackets, b.Tactics, b.Closes, b.Memory, b.Halt
	if b.Ended != "" {
		h.note("the halt of %s ends with it: %s", h.From, b.Ended)
	}
	if b.Dropped > 0 {
		h.note("%d timers, or buys of %s that waited for other orders, are dropped", b.Dropped, h.From)
	}
	return cmp.Or(h.describeAllocations(), h.describeExits())
}

// describeExits says which positions have no exit now.
func (h *handing) describeExits() error {
	brackets, _, err := engine.SavedExits(h.parts)
	if err != nil {
		return err
	}
	for i := range h.report.Positions {
		p := &h.report.Positions[i]
		m := h.store.Catalog().MarketNamed(p.Market)
		held, err := m.ParseQty(p.Amount)
		if err != nil {
			return err
		}
		left, err := statedir.Left(h.store, h.From, p.Market)
		if err != nil {
			return err
		}
		for j := range brackets {
			b := &brackets[j]
			if b.Strategy != h.From || b.Market != p.Market {
				continue
			}
			held -= b.Amount
			if b.Rests(m) == "" && left != "" {
				h.note("%s of %s have no exit: %s", m.FormatQty(b.Amount), p.Market, left)
			} else if b.Rests(m) == "" {
				h.note("%s of %s have no exit at the exchange; the next start places it (%s)", m.FormatQty(b.Amount),
					p.Market, b.Unwatched(m))
			}
		}
		if held > 0 && held >= m.MinOrderInBase { // below it is dust
			h.note("%s of %s have no exit: no stop or target goes over with them", m.FormatQty(held), p.Market)
		}
	}
	return nil
}

// describeAllocations says what the next start will do with the money.
func (h *handing) describeAllocations() error {
	before, after, err := h.allocations()
	if err != nil || before == nil {
		return err
	}
	was, own := before[h.From]
	_, owns := after[h.To]
	switch {
	case own && was > 0 && owns && after[h.To] > 0:
		currency, digits := h.currency()
		allocation := string(h.Strategies[h.To].Allocation)
		if now, err := market.ParseFixed(allocation, digits); err != nil || now != int64(after[h.To]) {
			h.note("%s has been given %s %s in all, and its allocation in the config is %s: the next start that finds "+
				"no open orders moves the difference", h.To, market.FormatFixed(int64(after[h.To]), digits), currency,
				allocation)
		}
	case own && was > 0:
		h.note("the money of %s that is in no position becomes unallocated at the next start", h.From)
	}
	return nil
}

// allocations are what the strategies were given, before the handover and after it; nil: the file
// does not say.
func (h *handing) allocations() (before, after map[string]market.Money, err error) {
	text, err := h.store.Blob(statedir.AllocationBlob)
	if err != nil || text == nil {
		return nil, nil, err
	}
	if before, err = parseNames[market.Money](text); err == nil {
		after, err = parseNames[market.Money](text)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("allocations in the state file: %w", err)
	}
	was := after[h.From]
	delete(after, h.From)
	own := h.ownMoney()
	_, known := after[h.To]
	if was > 0 && own {
		after[h.To] += was
	} else if was == 0 && !own && !known {
		after[h.To] = 0 // it shares the pool as From did
	}
	return before, after, nil
}

// currency is that of the last run, with its decimals.
func (h *handing) currency() (symbol string, digits uint8) {
	runs, err := h.store.Runs()
	if err != nil || len(runs) == 0 {
		return "", 0
	}
	symbol = runs[len(runs)-1].Currency
	if asset := h.store.Catalog().AssetNamed(symbol); asset != nil {
		digits = asset.Digits
	}
	return symbol, digits
}

// parseNames reads values by name; an empty text has none.
func parseNames[V any](text []byte) (map[string]V, error) {
	all := map[string]V{}
	if len(text) == 0 {
		return all, nil
	}
	return all, json.Unmarshal(text, &all)
}
