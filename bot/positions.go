package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state"
)

// positionInfo is what a strategy holds in a market, as a program reads it.
type positionInfo struct {
	Strategy string `json:"strategy"`
	Market   string `json:"market"`
	Amount   string `json:"amount"`
	Cost     string `json:"cost"`            // paid for it, fees included
	Last     string `json:"last,omitempty"`  // the latest price that the bot has seen
	Worth    string `json:"worth,omitempty"` // at that price
	Realised string `json:"realised"`        // profit of what was sold, fees included
	Fees     string `json:"fees"`
	OpenedMS int64  `json:"opened_ms,omitempty"`

	LastMS    int64 `json:"last_ms,omitempty"`    // of a stopped bot: when that price was seen
	ChangedMS int64 `json:"changed_ms,omitempty"` // of a stopped bot: when the position last changed
}

func positionInfoOf(m *market.Market, p *state.PositionRow, last market.Price) positionInfo {
	info := positionInfo{Strategy: p.StrategyName, Market: m.Name, Amount: m.FormatQty(p.Amount), Cost: m.FormatValue(p.Cost), Realised: m.FormatValue(p.Realised), Fees: m.FormatValue(p.Fees)}
	if p.Amount != 0 {
		info.OpenedMS = p.Opened.Millis()
	}
	if last != 0 {
		info.Last = m.FormatPrice(last)
		if worth, err := m.Worth(last, p.Amount); err == nil {
			info.Worth = m.FormatMoney(worth)
		}
	}
	return info
}

// positionsInfo is a list of positions.
type positionsInfo struct {
	Running   bool           `json:"running"`
	AsOfMS    int64          `json:"as_of_ms,omitempty"` // of a stopped bot: when its file was last written
	Positions []positionInfo `json:"positions"`
}

// positionsOf lists what the strategies of a state file hold, and what they have won in markets where they hold nothing any more. last tells
// prices.
func positionsOf(store *state.BotStore, last func(market.ID) market.Price) (*positionsInfo, error) {
	list := &positionsInfo{Positions: []positionInfo{}}
	rows, err := store.Positions()
	for i := range rows {
		p := &rows[i]
		list.Positions = append(list.Positions, positionInfoOf(store.Catalog().Market(p.Market), p, last(p.Market)))
	}
	return list, err
}

// clockOrNone is a time for a person, "-" where it is not known.
func clockOrNone(ms int64) string {
	if ms == 0 {
		return "-"
	}
	return clockOf(ms)
}

// positions answers `bot positions`.
func (c *control) positions(ctx context.Context, _ *operatorAsk) (any, error) {
	prices := map[market.ID]market.Price{}
	err := c.look(ctx, func(market.Time) {
		for _, m := range c.r.plan.Catalog.Markets() {
			prices[m.ID] = c.r.account.Last(m.ID)
		}
	})
	if err != nil && !errors.As(err, new(blockedError)) {
		return nil, err
	}
	if err != nil { // a strategy blocks: this is what the last commit knows
		list, err := stoppedPositions(c.r.store)
		list.Running = true
		return list, err
	}
	list, err := positionsOf(c.r.store, func(id market.ID) market.Price { return prices[id] })
	list.Running = true
	return list, err
}

func printPositions(w io.Writer, positions []positionInfo) error {
	if !slices.ContainsFunc(positions, func(p positionInfo) bool { return p.Amount != "0" || p.Realised != "0" }) {
		_, err := fmt.Fprintln(w, "no positions")
		return err
	}
	timed := slices.ContainsFunc(positions, func(p positionInfo) bool { return p.LastMS+p.ChangedMS != 0 })
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "strategy\tmarket\tamount\tcost\tlast\tworth\trealised\tfees")
	if timed {
		fmt.Fprint(table, "\tlast seen\tchanged")
	}
	fmt.Fprintln(table)
	for _, p := range positions {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", p.Strategy, p.Market, p.Amount, p.Cost, cmp.Or(p.Last, "-"), cmp.Or(p.Worth, "-"), p.Realised, p.Fees)
		if timed {
			fmt.Fprintf(table, "\t%s\t%s", clockOrNone(p.LastMS), clockOrNone(p.ChangedMS))
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}
