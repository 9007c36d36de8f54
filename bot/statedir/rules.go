package statedir

import (
	"encoding/json"
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// Rules are the latest rules of a market, for programs that do not ask the exchange.
type Rules struct {
	Gone     bool         `json:"gone,omitempty"` // the exchange lists the market no more
	MinBase  market.Qty   `json:"min_base,omitempty"`
	MinQuote market.Money `json:"min_quote,omitempty"`
}

// AppendRules writes the rules of markets.
func AppendRules(markets map[market.ID]market.Market) []byte {
	rules := map[string]Rules{}
	for _, m := range markets {
		rules[m.Name] = Rules{Gone: m.Status == market.Delisted, MinBase: m.MinOrderInBase, MinQuote: m.MinOrderInQuote}
	}
	text, _ := json.Marshal(rules) // names and numbers
	return text
}

// LatestRules are the rules of the markets as of the last run, by name.
func LatestRules(store *journal.Store) (map[string]Rules, error) {
	text, err := store.Blob(RulesBlob)
	if err != nil {
		return nil, err
	}
	rules := map[string]Rules{}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &rules); err != nil {
			return nil, fmt.Errorf("rules of the markets in the state file: %w", err)
		}
	}
	return rules, nil
}

// Left says why nothing can be done with what a strategy holds in a market, as of the last run: the
// market has gone, or it is dust without an order. Empty: something can.
func Left(store *journal.Store, strategy, name string) (why string, err error) {
	rules, err := LatestRules(store)
	if err != nil {
		return "", err
	}
	if rules[name].Gone {
		return "the exchange lists " + name + " no more", nil
	}
	open, err := store.OpenOrders()
	if err != nil {
		return "", err
	}
	for i := range open {
		if open[i].StrategyName == strategy && store.Catalog().Market(open[i].Market).Name == name {
			return "", nil
		}
	}
	return dust(store, strategy, name, rules[name])
}

func dust(store *journal.Store, strategy, name string, rules Rules) (why string, err error) {
	prices, err := Prices(store)
	if err != nil {
		return "", err
	}
	rows, err := store.Positions()
	if err != nil {
		return "", err
	}
	for i := range rows {
		p, m := &rows[i], store.Catalog().Market(rows[i].Market)
		if p.StrategyName != strategy || m.Name != name {
			continue
		}
		worth, err := m.Notional(prices.Last(m.ID), p.Amount)
		if err != nil {
			return "", nil
		}
		if p.Amount < rules.MinBase || prices.Last(m.ID) != 0 && worth < rules.MinQuote {
			return m.FormatQty(p.Amount) + " of " + name + " is below its minimum", nil
		}
	}
	return "", nil
}
