package sandbox

import (
	"reflect"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
)

// storedLife is the stored data that an exchange has once.
type storedLife struct {
	Reached  market.Time
	Sequence market.OrderID
	Number   int64
	Timers   []storedTimer `json:",omitempty"`
	Late     []storedLate  `json:",omitempty"`

	Transferred, House map[string]market.Value // the books, by symbol
}

type storedTimer struct {
	Account sim.AccountID
	Group   uint16
	At      market.Time
}

type storedLate struct {
	At     market.Time
	Order  market.OrderID
	Settle market.Duration `json:",omitzero"`
}

// storedAccount is an account; its lists are rows of their own.
type storedAccount struct {
	Name                              string
	Balances                          map[string]market.Money // by symbol; holds follow from the orders
	Volume                            market.Money
	Days                              []dayVolume
	DepositsListed, WithdrawalsListed uint64
}

// storedMarket is a market: its rules, as they were configured and as they are now, and where it
// stands.
type storedMarket struct {
	Configured, Rules rules
	Nonce             int64
	Price             market.Price
	Minute            storedBar
	Book              sim.BookState
}

// rules are the rules of a market that may change while the exchange runs.
type rules struct {
	Status market.MarketStatus
	market.Rules
}

func rulesOf(m *market.Market) rules { return rules{m.Status, m.Rules} }

// overrule gives a market the rules that were changed since the file's config was read. The others
// are today's config's.
func (s *storedMarket) overrule(m *market.Market) {
	if s.Configured.Status != s.Rules.Status {
		m.Status = s.Rules.Status
	}
	was, is, rules := reflect.ValueOf(s.Configured.Rules), reflect.ValueOf(s.Rules.Rules), reflect.ValueOf(&m.Rules).
		Elem()
	for i := range rules.NumField() {
		if !was.Field(i).Equal(is.Field(i)) {
			rules.Field(i).Set(is.Field(i))
		}
	}
}

// storedRecord is an order: open, as the venue has it, or closed.
type storedRecord struct {
	Account    sim.AccountID
	Order      market.Order
	Shown      bool                `json:",omitzero"`
	Ended      uint64              `json:",omitzero"` // its place among the ended orders; 0: open
	Lost       int                 `json:",omitzero"` // fills that are remembered no more
	Settlement exchange.Settlement `json:",omitzero"`
	Sequence   int64               `json:",omitzero"`
	Aside      bool                `json:",omitzero"`
}

// storedDue is a fill of an order with the moment from which it counts as settled.
type storedDue struct {
	Fill market.Fill
	Due  market.Time
}

func dueOf(f *fill) any { return storedDue{f.Fill, f.due} }

func (s *storedDue) fill() fill { return fill{Fill: s.Fill, due: s.Due} }

// storedTrade is a fill in an account's list of them.
type storedTrade struct {
	storedDue
	OrderID       uuid.UUID
	ClientOrderID uuid.UUID `json:",omitzero"`
	OperatorID    int64     `json:",omitzero"`
}

func storedTradeOf(t *trade) any {
	return storedTrade{storedDue{t.Fill, t.due}, t.orderID, t.clientOrderID, t.operatorID}
}

// storedPrint is a public trade.
type storedPrint struct {
	ID     uint64 // in the market's sequence of trades
	At     market.Time
	Price  market.Price
	Amount market.Qty
	Side   market.Side
}

func printOf(t *publicTrade) any {
	return storedPrint{counter(t.id), t.at, t.price, t.amount, t.side}
}

// storedBar is a candle of the exchange.
type storedBar struct {
	Start, End             market.Time
	Open, High, Low, Close market.Price
	First, Last            market.Time
	Base, Quote            market.Value
}

func barOf(b *bar) any { return storedBarOf(b) }

func storedBarOf(b *bar) storedBar {
	return storedBar{b.start, b.end, b.open, b.high, b.low, b.close, b.first, b.last, b.base, b.quote}
}

func (s *storedBar) bar() bar {
	return bar{s.Start, s.End, s.Open, s.High, s.Low, s.Close, s.First, s.Last, s.Base, s.Quote}
}

// storedMeter is the used weight of a key or an IP address.
type storedMeter struct {
	Minute int64
	Used   int
	Banned market.Time
}

func transactionOf(t *transaction) any { return t }
