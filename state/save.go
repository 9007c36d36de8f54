package state

import (
	"cmp"
	"slices"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// savedVersion is the version of SavedAccount and of SavedOrder.
const savedVersion = 1

// SavedAccount is an Account without its prices and orders: markets, assets and strategies by name,
// amounts as integers in the units of Markets and Assets.
type SavedAccount struct {
	Markets     map[string]market.Units `json:"markets,omitempty"`
	Assets      map[string]uint8        `json:"assets,omitempty"` // decimals by symbol
	Strategies  []string                `json:"strategies,omitempty"`
	Allocations []SavedAllocation       `json:"allocations,omitempty"`
	Positions   []SavedPosition         `json:"positions,omitempty"`
	Orders      []SavedOrder            `json:"-"`             // each has a text of its own
	Open        int                     `json:"open,omitzero"` // how many orders were saved with it
	Foreign     int64                   `json:"foreign,omitempty"`
}

// SavedAllocation is the money of one allocation. Its holds follow from its open orders.
type SavedAllocation struct {
	Owner  string                  `json:"owner,omitempty"` // empty: shared by the strategies without an allocation
	Totals map[string]market.Money `json:"totals"`          // by symbol
}

// SavedPosition is a strategy's position and profit in a market.
type SavedPosition struct {
	Strategy string       `json:"strategy,omitempty"` // empty: unallocated
	Market   string       `json:"market"`
	Amount   market.Qty   `json:"amount,omitzero"`
	Cost     market.Value `json:"cost,omitzero"`
	Realised market.Value `json:"realised,omitzero"`
	Fees     market.Value `json:"fees,omitzero"`
	Opened   market.Time  `json:"opened,omitzero"`
	Recent   *SavedRecent `json:"recent,omitempty"` // nil: nothing of it can change any more
}

// SavedRecent is the end of a position's history that can still change: the position before the
// steps, and the steps by time.
type SavedRecent struct {
	Amount   market.Qty   `json:"amount,omitzero"`
	Cost     market.Value `json:"cost,omitzero"`
	Realised market.Value `json:"realised,omitzero"`
	Fees     market.Value `json:"fees,omitzero"`
	Opened   market.Time  `json:"opened,omitzero"`
	Steps    []SavedStep  `json:"steps"`
}

// SavedStep is a fill of a position, or without a side base that came (amount above zero) or left.
type SavedStep struct {
	Order   market.OrderID `json:"order,omitzero"`
	ID      uuid.UUID      `json:"id,omitzero"`
	At      market.Time    `json:"at"`
	Side    market.Side    `json:"side,omitzero"`
	Amount  market.Qty     `json:"amount"`
	Price   market.Price   `json:"price,omitzero"`
	Fee     market.Value   `json:"fee,omitzero"`
	Settled bool           `json:"settled,omitzero"`
}

// SavedOrder is an own order that is open, or ended with fills or fees still expected, with its
// unanswered request (InFlight).
type SavedOrder struct {
	market.Order        // without its currencies, which follow from the market, and without its bracket
	Market       string `json:"market"`
	Strategy     string `json:"strategy"`

	Stop   market.Price `json:"stop,omitzero"` // of its bracket
	Target market.Price `json:"target,omitzero"`
	Keep   market.Leg   `json:"keep,omitzero"`

	State        string `json:"state"`             // a State's name
	InFlight     string `json:"inFlight,omitzero"` // a CommandKind's name
	CancelWanted bool   `json:"cancelWanted,omitzero"`
	Reported     bool   `json:"reported,omitzero"`
	Code         int    `json:"code,omitzero"`
	// part of OnHold: what the update in flight may need in addition
	Extra    market.Money `json:"extra,omitzero"`
	Counted  market.Qty   `json:"counted,omitzero"`  // of Fills
	Fills    []SavedFill  `json:"fills,omitempty"`   // counted, in order
	Inferred bool         `json:"inferred,omitzero"` // a refusal was inferred and may be undone
}

// SavedFill names a counted fill.
type SavedFill struct {
	ID      uuid.UUID `json:"id"`
	Settled bool      `json:"settled"`
}

// Save appends the account without its prices and orders for Restore, as readable text. strategies
// are the different names of all strategies by StrategyID − 1. The same account gives the same
// bytes.
func (a *Account) Save(dst []byte, strategies []string) ([]byte, error) {
	s := SavedAccount{Markets: map[string]market.Units{}, Assets: map[string]uint8{},
		Strategies: slices.Sorted(slices.Values(strategies)), Open: a.orders.Len(), Foreign: a.foreign}
	names := append([]string{""}, strategies...)
	a.saveAllocations(&s, names)
	for id, seats := range a.seats {
		for m := range seats {
			p, r := &seats[m].position, a.historyOf(market.StrategyID(id), market.ID(m))
			if *p != (market.Position{}) || r != nil {
				s.Positions = append(s.Positions, SavedPosition{
					Strategy: names[id], Market: a.refer(&s, market.ID(m)),
					Amount: p.Amount, Cost: p.Cost, Realised: p.Realised, Fees: p.Fees, Opened: p.Opened,
					Recent: r.save(),
				})
			}
		}
	}
	referred := make([]bool, len(a.marks)) // by market
	for _, o := range a.orders.All {
		if !referred[o.Market] {
			referred[o.Market] = true
			a.refer(&s, o.Market)
		}
	}
	slices.SortFunc(s.Positions, func(x, y SavedPosition) int {
		return cmp.Or(cmp.Compare(x.Strategy, y.Strategy), cmp.Compare(x.Market, y.Market))
	})
	return market.AppendSaved(dst, savedVersion, &s)
}

// SaveOrders calls write with the text of each order that has changed since the last Saved, or of
// every order: all, or an account that was neither saved nor restored. The text is nil where the
// account has forgotten the order; otherwise it is valid until write returns. An error of write is
// returned unchanged.
func (a *Account) SaveOrders(strategies []string, all bool,
	write func(id market.OrderID, text []byte) error) error {
	if all || a.tracked&forSave == 0 {
		for _, o := range a.orders.All {
			if err := a.saveOrder(o, strategies, write); err != nil {
				return err
			}
		}
	}
	for _, id := range a.touched {
		o, err := a.orders.Get(id), error(nil)
		if o == nil {
			err = write(id, nil)
		} else if !all {
			err = a.saveOrder(o, strategies, write)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *Account) saveOrder(o *Order, strategies []string, write func(id market.OrderID, text []byte) error) error {
	s := savedOrder(o, a.catalog.Market(o.Market).Name, strategies[o.Strategy-1]) // strategy 0 has no orders
	text, err := market.AppendSaved(a.text[:0], savedVersion, &s)
	if err != nil {
		return err
	}
	a.text = text
	return write(o.ID, text)
}

// Changed reports whether Save would differ from the last Saved.
func (a *Account) Changed() bool { return a.changed }

// Saved notes that the results of Save and SaveOrders are durable, or will be with what is saved
// next.
func (a *Account) Saved() {
	a.changed, a.tracked = false, a.tracked|forSave
	a.touched = a.taken(a.touched, forSave)
}

// Track lets TakeChanges list the orders that expect something now, and those that change from now
// on.
func (a *Account) Track() {
	a.tracked |= forReader
	for _, o := range a.orders.All {
		if o.touched&forReader == 0 {
			o.touched |= forReader
			a.news = append(a.news, o.ID)
		}
	}
}

// TakeChanges appends the own orders that have changed since the last call: sent, reported,
// written to, ended, opened again or forgotten.
func (a *Account) TakeChanges(dst []market.OrderID) []market.OrderID {
	dst = append(dst, a.news...)
	a.news = a.taken(a.news, forReader)
	return dst
}

// taken empties a list of changed orders.
func (a *Account) taken(list []market.OrderID, of changes) []market.OrderID {
	for _, id := range list {
		if o := a.orders.Get(id); o != nil {
			o.touched &^= of
		}
	}
	return list[:0]
}

// changes says which lists of changed orders have an order, or are kept.
type changes uint8

const (
	forSave   changes = 1 << iota // Account.touched
	forReader                     // Account.news
)

// touch notes that an order has changed.
func (a *Account) touch(o *Order) {
	if o.touched&a.tracked != a.tracked { // short enough to be inlined: a backtest keeps no list
		a.list(o)
	}
}

//go:noinline
func (a *Account) list(o *Order) {
	missing := a.tracked &^ o.touched
	if missing&forSave != 0 {
		a.touched = append(a.touched, o.ID)
	}
	if missing&forReader != 0 {
		a.news = append(a.news, o.ID)
	}
	o.touched |= a.tracked
}

// Unprotect takes the exits from an own order: its later fills are not protected.
func (a *Account) Unprotect(o *Order) {
	if o.Bracket != (market.Bracket{}) {
		a.touch(o)
		o.Bracket = market.Bracket{}
	}
}

// refer names a market and notes its units.
func (a *Account) refer(s *SavedAccount, id market.ID) string {
	m := a.catalog.Market(id)
	if _, known := s.Markets[m.Name]; !known {
		s.Markets[m.Name] = m.Units()
	}
	return m.Name
}

func (a *Account) saveAllocations(s *SavedAccount, names []string) {
	for owner, allocation := range a.allocationOf {
		if owner > 0 && allocation == 0 {
			continue
		}
		saved := SavedAllocation{Owner: names[owner], Totals: map[string]market.Money{}}
		for asset, b := range a.allocations[allocation] {
			if b.Total != 0 {
				known := a.catalog.Asset(market.AssetID(asset))
				saved.Totals[known.Symbol], s.Assets[known.Symbol] = b.Total, known.Digits
			}
		}
		s.Allocations = append(s.Allocations, saved)
	}
	slices.SortFunc(s.Allocations, func(x, y SavedAllocation) int { return cmp.Compare(x.Owner, y.Owner) })
}

func savedOrder(o *Order, in, by string) SavedOrder {
	s := SavedOrder{
		Order: o.Order, Market: in, Strategy: by, Stop: o.Bracket.Stop, Target: o.Bracket.Target, Keep: o.Bracket.Keep,
		State: o.State.String(), InFlight: o.InFlight.String(), CancelWanted: o.CancelWanted, Reported: o.Reported,
		Code:  o.Code,
		Extra: o.extra, Counted: o.counted, Inferred: o.unanswered,
	}
	s.FeeCurrency, s.OnHoldCurrency, s.Bracket = 0, 0, market.Bracket{}
	for _, f := range o.fills {
		s.Fills = append(s.Fills, SavedFill{ID: f.id, Settled: f.settled})
	}
	return s
}
