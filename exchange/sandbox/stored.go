package sandbox

import (
	"reflect"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
)

// storedLife is the stored data that an exchange has once.
type storedLife struct {
	Reached  market.Time
	Sequence market.OrderID
	Number   int64
	Timers   []timer     `json:",omitempty"`
	Late     []lateOrder `json:",omitempty"`

	Transferred, House map[string]market.Value // the books, by symbol
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
	Minute            bar
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

// asItIs is the stored form of a row that is kept as it is.
func asItIs[T any](row *T) any { return row }
