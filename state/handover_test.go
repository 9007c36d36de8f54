package state

import (
	"bytes"
	"maps"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// handOver hands over in an account, and returns the account that a start restores from it.
func handOver(t require.TestingT, a *Account, h *Handover, names []string, own []bool) (*Account, *Handed, error) {
	text, err := a.Save(nil, seatNames)
	require.NoError(t, err)
	texts := map[market.OrderID][]byte{}
	require.NoError(t, a.SaveOrders(seatNames, true, func(id market.OrderID, text []byte) error {
		if text != nil {
			texts[id] = slices.Clone(text)
		}
		return nil
	}))
	handed, err := h.Apply(text, slices.Collect(maps.Values(texts)))
	if err != nil {
		return nil, nil, err
	}
	maps.Copy(texts, handed.Texts)
	again := NewAccount(a.Catalog(), len(names), own)
	prices, err := a.SavePrices(nil)
	require.NoError(t, err)
	require.NoError(t, again.Restore(handed.Account, slices.Collect(maps.Values(texts)), names))
	require.NoError(t, again.RestorePrices(prices))
	return again, handed, nil
}

func TestAHandoverMovesEverythingAndChangesNoSum(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		own := rapid.SampledFrom([][]bool{nil, {false, true}, {false, false, true}, {false, true, true}}).
			Draw(rt, "own")
		m := &machine{desk: newDesk(t, 2, own), own: own, settled: map[market.OrderID]exchange.Settlement{},
			savedOrders: map[market.OrderID][]byte{},
			twin:        twin{held: map[market.OrderID]int64{}, quote: map[market.OrderID]bool{}}}
		m.pay(rt)
		m.pay(rt)
		rt.Repeat(map[string]func(*rapid.T){"place": m.place, "fill": m.fillSome, "end": m.end, "pay": m.pay})
		m.mark(105_00)
		h, names, owns := &Handover{From: "two", To: "one"}, []string{"one"}, own[:min(2, len(own))]
		if rapid.Bool().Draw(rt, "renamed") {
			h.To, names, owns = "three", []string{"three", "one"}, make([]bool, 3)
			owns[1] = rapid.Bool().Draw(rt, "three has money of its own")
			owns[2] = len(own) > 1 && own[1]
			h.Own = owns[1]
		} else {
			h.Own = len(own) > 1 && own[1]
		}
		again, handed, err := handOver(rt, m.Account, h, names, owns)
		fromOwn := len(own) > 2 && own[2]
		buys := slices.ContainsFunc(m.Open(nil, 2, 0), func(o *market.Order) bool {
			return o.Side == market.Buy && o.OnHold != 0
		})
		if err != nil {
			free, held := m.Balance(2, m.m.Base)
			position := market.Money(m.Position(2, m.m.ID).Amount)
			require.True(rt, fromOwn != h.Own && (buys || position < 0 || position > free+held), "%v", err)
			return
		}
		require.NoError(rt, checks{again}.consistent())
		m.compareHanded(rt, again, handed, names, h)
	})
}

// mark sets the latest price.
func (m *machine) mark(price market.Price) {
	_, err := m.Apply(&market.Event{Kind: market.KindTicker, At: 1,
		Ticker: &market.Ticker{Market: m.m.ID, Last: price}})
	require.NoError(m.t, err)
}

// compareHanded compares the account after a handover with the one before.
func (m *machine) compareHanded(rt *rapid.T, again *Account, handed *Handed, names []string, h *Handover) {
	for _, asset := range []market.AssetID{m.m.Base, m.m.Quote} {
		require.Equal(rt, m.Total(asset), again.Total(asset))
	}
	before, err := m.Equity(m.m.Quote)
	require.NoError(rt, err)
	after, err := again.Equity(m.m.Quote)
	require.NoError(rt, err)
	require.Equal(rt, before, after)
	heir := market.StrategyID(slices.Index(names, h.To) + 1)
	from, have := m.Position(2, m.m.ID), again.Position(heir, m.m.ID)
	var to market.Position
	if h.To == "one" {
		to = m.Position(1, m.m.ID)
	}
	require.Equal(rt, from.Amount+to.Amount, have.Amount)
	sum := func(a, b market.Value) string { return new(big.Int).Add(bigValue(rt, a), bigValue(rt, b)).String() }
	require.Equal(rt, sum(from.Cost, to.Cost), have.Cost.String())
	require.Equal(rt, to.Realised, have.Realised, "what was earned stays behind")
	require.Equal(rt, to.Fees, have.Fees)
	count := 0
	for _, o := range m.open {
		moved := again.Own(o.ID)
		require.NotNil(rt, moved)
		if o.Strategy == 2 {
			count++
			require.Equal(rt, heir, moved.Strategy)
			require.Contains(rt, handed.Orders, o.ID)
		}
		require.Equal(rt, o.BookedAmount(), moved.BookedAmount())
		require.Equal(rt, o.OnHold, moved.OnHold)
	}
	require.LessOrEqual(rt, count, len(handed.Orders))
}

func bigValue(t require.TestingT, v market.Value) *big.Int {
	n, fine := new(big.Int).SetString(v.String(), 10)
	require.True(t, fine)
	return n
}

func TestAHandoverWaitsForFees(t *testing.T) {
	lines := bytes.Split(lived(t), []byte("\n"))
	_, err := (&Handover{From: "two", To: "three"}).Apply(lines[0], lines[1:])
	require.ErrorContains(t, err, "a fee of two in BTC-EUR is not settled yet: the exchange has told fills of order ")
	require.ErrorContains(t, err, "put two into the config again, start the bot, bot halt two so that no entry fills")
	_, err = (&Handover{From: "one", To: "two"}).Apply(lines[0], lines[1:])
	require.ErrorContains(t, err, "a fee of two in BTC-EUR is not settled yet")
	_, err = (&Handover{From: "four", To: "two"}).Apply(lines[0], lines[1:])
	require.ErrorIs(t, err, ErrNotSaved)
	_, err = (&Handover{From: "two", To: "one"}).Apply(lines[0], lines[1:])
	require.ErrorContains(t, err, `strategy "one" had an allocation and now has none, or has one and had none`)
}
