package operator

import (
	"strings"

	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// Position is a strategy's position in a market, as a program reads it.
type Position struct {
	Strategy string `json:"strategy"`
	Market   string `json:"market"`
	Amount   string `json:"amount"`
	Cost     string `json:"cost"`            // fees included
	Last     string `json:"last,omitempty"`  // the latest price that the bot has seen
	Value    string `json:"value,omitempty"` // at that price
	Realised string `json:"realised"`        // profit of the sold amounts, fees included
	Fees     string `json:"fees"`
	OpenedMS int64  `json:"opened_ms,omitempty"`

	LastMS    int64 `json:"last_ms,omitempty"`    // of a stopped bot: when that price was seen
	ChangedMS int64 `json:"changed_ms,omitempty"` // of a stopped bot: when the position last changed
}

// PositionOf converts a position in a market. last is the latest price; 0: unknown.
func PositionOf(m *market.Market, p *journal.PositionRow, last market.Price) Position {
	info := Position{Strategy: p.StrategyName, Market: m.Name, Amount: m.FormatQty(p.Amount),
		Cost: m.FormatValue(p.Cost), Realised: m.FormatValue(p.Realised), Fees: m.FormatValue(p.Fees)}
	if p.Amount != 0 {
		info.OpenedMS = p.Opened.Millis()
	}
	if last != 0 {
		info.Last = m.FormatPrice(last)
		if worth, err := m.Notional(last, p.Amount); err == nil {
			info.Value = m.FormatMoney(worth)
		}
	}
	return info
}

// worth is the value beside an amount; empty: unknown.
func (p *Position) worth() string {
	if p.Value == "" {
		return ""
	}
	_, quote, _ := strings.Cut(p.Market, "-")
	return ", worth " + p.Value + " " + quote
}

// Positions is a list of positions.
type Positions struct {
	profit.Answer
	AsOfMS    int64      `json:"as_of_ms,omitempty"` // of a stopped bot: when its file was last written
	Positions []Position `json:"positions"`
}

// stampChanges sets ChangedMS of each position to the time of its last fill.
func (list *Positions) stampChanges(store *journal.Store) error {
	unknown := map[[2]string]*Position{}
	for i := range list.Positions {
		p := &list.Positions[i]
		unknown[[2]string{p.Strategy, p.Market}] = p
	}
	return store.FillsBack(func(f *journal.FillRow) (more bool) {
		key := [2]string{f.StrategyName, store.Catalog().Market(f.Market).Name}
		if p := unknown[key]; p != nil {
			p.ChangedMS = f.Time.Millis()
			delete(unknown, key)
		}
		return len(unknown) > 0
	})
}

// PositionsOf lists the positions of a state file, closed ones with their profit too. last returns
// the latest price of a market; 0: unknown.
func PositionsOf(store *journal.Store, last func(market.ID) market.Price) (*Positions, error) {
	list := &Positions{Positions: []Position{}}
	rows, err := store.Positions()
	for i := range rows {
		p := &rows[i]
		list.Positions = append(list.Positions, PositionOf(store.Catalog().Market(p.Market), p, last(p.Market)))
	}
	return list, err
}

// StoppedPositions lists the positions of a stopped bot with the times of the saved prices and of
// the last fills.
func StoppedPositions(store *journal.Store) (*Positions, error) {
	prices, err := statedir.Prices(store)
	if err != nil {
		return nil, err
	}
	list, err := PositionsOf(store, prices.Last)
	if err != nil {
		return nil, err
	}
	if list.AsOfMS, err = lastEntryMS(store); err != nil {
		return nil, err
	}
	for i := range list.Positions {
		p := &list.Positions[i]
		if at, _ := prices.PriceArrived(store.Catalog().MarketNamed(p.Market).ID); p.Last != "" {
			p.LastMS = at.Millis()
		}
	}
	return list, list.stampChanges(store)
}
