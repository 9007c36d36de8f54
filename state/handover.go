package state

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// Handover gives what one strategy of a saved account has to another: positions with their cost,
// own orders, and money of its own. What From has earned so far stays behind: the positions of To
// keep their realised profit and fees.
type Handover struct {
	From, To string
	Own      bool // To has an allocation of its own
}

// HandedPosition is a position that goes over.
type HandedPosition struct {
	Market   string
	Amount   market.Qty
	Cost     market.Value
	Realised market.Value // that stays behind
	Fees     market.Value // likewise
	Opened   market.Time
	Sum      market.Position // of To in the market after it
}

// HandedMoney is what of an asset goes from one allocation to another and belongs to no position,
// 0 where all of it does.
type HandedMoney struct {
	Asset string
	Money market.Money
}

// Handed lists the changes of a handover of a saved account.
type Handed struct {
	Positions []HandedPosition          // by market
	Orders    []market.OrderID          // that have not ended, or still miss fills
	Money     []HandedMoney             // by symbol
	Markets   map[string]market.Units   // of the saved account
	Latest    market.Time               // of the newest fill that the account can still tell apart
	Account   []byte                    // the account after it, as Save writes it
	Texts     map[market.OrderID][]byte // the orders that differ, as SaveOrders writes them
}

// ErrNotSaved says that a saved account has no strategy of a name.
var ErrNotSaved = errors.New("the state file has no strategy of that name")

// Apply hands over in a saved account with its orders. It refuses, with the reason, what could not
// be exact: a fee of a moved position that is not settled, and orders whose money would change its
// owner. The strategies' positions in one market are added: amounts and costs are exact sums.
func (h *Handover) Apply(data []byte, orders [][]byte) (*Handed, error) {
	s, err := parseSaved(data, orders)
	if err != nil {
		return nil, fmt.Errorf("account: %w", err)
	}
	w := handing{Handover: h, SavedAccount: s, inside: len(orders) < len(s.Orders),
		done: Handed{Markets: s.Markets, Texts: map[market.OrderID][]byte{}}}
	for _, step := range [...]func() error{w.check, w.settled, w.movePositions, w.moveOrders, w.moveMoney, w.rename} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return &w.done, nil
}

// handing is a handover under way.
type handing struct {
	*Handover
	*SavedAccount
	done    Handed
	inside  bool // the orders were part of the account's text
	fromOwn bool
}

// check requires that From is in the account, and that To keeps the kind of its money.
func (w *handing) check() error {
	if !slices.Contains(w.Strategies, w.From) {
		return fmt.Errorf("%q: %w", w.From, ErrNotSaved)
	}
	own := func(name string) bool {
		return slices.ContainsFunc(w.Allocations, func(a SavedAllocation) bool { return a.Owner == name })
	}
	w.fromOwn = own(w.From)
	if slices.Contains(w.Strategies, w.To) && own(w.To) != w.Own {
		return fmt.Errorf("strategy %q had an allocation and now has none, or has one and had none; set its "+
			"allocation as it was", w.To)
	}
	return nil
}

// settled requires that the fees of the moved positions are known.
func (w *handing) settled() error {
	moved := map[string]bool{}
	for i := range w.Positions {
		if p := &w.Positions[i]; p.Strategy == w.From && p.Amount != 0 {
			moved[p.Market] = true
		}
	}
	concerns := func(by, in string) bool { return by == w.From || by == w.To && moved[in] }
	open := unsettled{}
	for i := range w.Positions {
		p := &w.Positions[i]
		if p.Recent == nil || !concerns(p.Strategy, p.Market) {
			continue
		}
		for j := range p.Recent.Steps {
			if step := &p.Recent.Steps[j]; !step.Settled {
				open.add(p.Strategy, p.Market, step.Order)
			}
			w.done.Latest = max(w.done.Latest, p.Recent.Steps[j].At)
		}
	}
	for i := range w.Orders {
		o := &w.Orders[i]
		waits := slices.ContainsFunc(o.Fills, func(f SavedFill) bool { return !f.Settled })
		if waits && concerns(o.Strategy, o.Market) {
			open.add(o.Strategy, o.Market, o.ID)
		}
	}
	return open.refusal(w.From)
}

// unsettled are the orders whose fees are not known yet, with the strategy and the market of the
// first one.
type unsettled struct {
	by, in string
	orders []market.OrderID
}

func (u *unsettled) add(by, in string, order market.OrderID) {
	if u.by == "" {
		u.by, u.in = by, in
	}
	if !slices.Contains(u.orders, order) {
		u.orders = append(u.orders, order)
	}
}

// refusal says which fees a handover of from waits for, and how to see that they are there; nil:
// for none.
func (u *unsettled) refusal(from string) error {
	if len(u.orders) == 0 {
		return nil
	}
	var list []string
	for _, id := range u.orders {
		list = append(list, fmt.Sprint(id))
	}
	return fmt.Errorf("a fee of %s in %s is not settled yet: the exchange has told fills of order %s without their "+
		"fees; put %s into the config again, start the bot, bot halt %s so that no entry fills any more, wait until "+
		"bot explain %d says \"settled now\" of each fee, stop the bot, and repeat this", u.by, u.in,
		strings.Join(list, ", "), from, u.by, u.orders[0])
}

// movePositions adds the positions of From to those of To. Nothing of the sums can change any more.
func (w *handing) movePositions() error {
	var left []SavedPosition
	for _, p := range w.Positions {
		if p.Strategy != w.From {
			left = append(left, p)
			continue
		}
		if p.Amount != 0 {
			w.done.Positions = append(w.done.Positions, HandedPosition{Market: p.Market, Amount: p.Amount, Cost: p.Cost,
				Realised: p.Realised, Fees: p.Fees, Opened: p.Opened})
		}
	}
	for i := range w.done.Positions {
		from := &w.done.Positions[i]
		at := slices.IndexFunc(left, func(p SavedPosition) bool {
			return p.Strategy == w.To && p.Market == from.Market
		})
		if at < 0 {
			at = len(left)
			left = append(left, SavedPosition{Strategy: w.To, Market: from.Market})
		}
		if err := left[at].take(from); err != nil {
			return fmt.Errorf("position in %s: %w", from.Market, err)
		}
		from.Sum = market.Position{Amount: left[at].Amount, Cost: left[at].Cost, Realised: left[at].Realised,
			Fees: left[at].Fees, Opened: left[at].Opened}
	}
	slices.SortFunc(left, func(x, y SavedPosition) int {
		return cmp.Or(cmp.Compare(x.Strategy, y.Strategy), cmp.Compare(x.Market, y.Market))
	})
	w.Positions = left
	return nil
}

// take adds a position that goes over. The older of two positions says when the sum was opened.
func (p *SavedPosition) take(from *HandedPosition) (err error) {
	if p.Amount == 0 || from.Opened < p.Opened {
		p.Opened = from.Opened
	}
	if p.Amount, err = market.Add(p.Amount, from.Amount); err != nil {
		return err
	}
	p.Recent = nil
	p.Cost, err = p.Cost.Add(from.Cost)
	return err
}

// moveOrders gives the orders of From to To.
func (w *handing) moveOrders() error {
	for i := range w.Orders {
		o := &w.Orders[i]
		ours := o.Strategy == w.From
		if ours {
			if w.fromOwn != w.Own && o.Side == market.Buy && o.OnHold != 0 {
				return fmt.Errorf("order %d buys with the money of another allocation than that of %s; put %s into "+
					"the config again, cancel the order (bot cancel %d), stop the bot, and repeat this", o.ID, w.To,
					w.From, o.ID)
			}
			o.Strategy = w.To
			w.done.Orders = append(w.done.Orders, o.ID)
		}
		if !ours && !w.inside {
			continue
		}
		text, err := market.AppendSaved(nil, savedVersion, o)
		if err != nil {
			return fmt.Errorf("order %d: %w", o.ID, err)
		}
		w.done.Texts[o.ID] = text
	}
	slices.Sort(w.done.Orders)
	return nil
}

// moveMoney moves what the allocation of From has, where both have one, and the base of the
// positions where one of the two shares the pool.
func (w *handing) moveMoney() error {
	to := ""
	if w.Own {
		to = w.To
	}
	if w.fromOwn == w.Own && !w.Own {
		return nil // both share the pool
	}
	into := w.allocation(to)
	if w.fromOwn && w.Own {
		return w.moveAll(into)
	}
	from := ""
	if w.fromOwn {
		from = w.From
	}
	out := w.allocation(from)
	for i := range w.done.Positions {
		p := &w.done.Positions[i]
		base, _, err := market.SplitName(p.Market)
		if err == nil {
			err = w.carry(out, into, base, market.Money(p.Amount))
		}
		if err != nil {
			return fmt.Errorf("position in %s: %w", p.Market, err)
		}
	}
	return nil
}

// moveAll moves a whole allocation.
func (w *handing) moveAll(into map[string]market.Money) error {
	of := func(a SavedAllocation) bool { return a.Owner == w.From }
	from := w.Allocations[slices.IndexFunc(w.Allocations, of)].Totals
	rest := map[string]market.Money{}
	for symbol, money := range from {
		rest[symbol] = money
	}
	for i := range w.done.Positions {
		base, _, err := market.SplitName(w.done.Positions[i].Market)
		if err != nil {
			return err
		}
		rest[base] -= market.Money(w.done.Positions[i].Amount)
	}
	for symbol, money := range from {
		sum, err := market.Add(into[symbol], money)
		if err != nil {
			return fmt.Errorf("balance of %s: %w", symbol, err)
		}
		into[symbol] = sum
		w.done.Money = append(w.done.Money, HandedMoney{symbol, rest[symbol]})
	}
	slices.SortFunc(w.done.Money, func(x, y HandedMoney) int { return cmp.Compare(x.Asset, y.Asset) })
	w.Allocations = slices.DeleteFunc(w.Allocations, of)
	return nil
}

// carry moves an amount from one allocation to another. It fails where the allocation has less base
// than the position: the owner has sold or withdrawn a part of that base.
func (w *handing) carry(out, into map[string]market.Money, asset string, money market.Money) error {
	if out[asset] < money || into[asset] < -money {
		return fmt.Errorf("the account has less %s than this position: it was sold or taken elsewhere; sell the "+
			"position first, then repeat this", asset)
	}
	sum, err := market.Add(into[asset], money)
	if err != nil {
		return err
	}
	if into[asset], out[asset] = sum, out[asset]-money; out[asset] == 0 {
		delete(out, asset)
	}
	return nil
}

// allocation is the money of an owner, which gets an empty allocation where it has none.
func (w *handing) allocation(owner string) map[string]market.Money {
	for i := range w.Allocations {
		if w.Allocations[i].Owner == owner {
			return w.Allocations[i].Totals
		}
	}
	w.Allocations = append(w.Allocations, SavedAllocation{Owner: owner, Totals: map[string]market.Money{}})
	slices.SortFunc(w.Allocations, func(x, y SavedAllocation) int { return cmp.Compare(x.Owner, y.Owner) })
	return w.allocation(owner)
}

// rename lists To among the strategies in the place of From, and writes the account.
func (w *handing) rename() (err error) {
	w.Strategies = slices.DeleteFunc(w.Strategies, func(name string) bool { return name == w.From })
	if !slices.Contains(w.Strategies, w.To) {
		w.Strategies = append(w.Strategies, w.To)
		slices.Sort(w.Strategies)
	}
	if w.Own {
		w.allocation(w.To)
	}
	w.done.Account, err = market.AppendSaved(nil, savedVersion, w.SavedAccount)
	return err
}
