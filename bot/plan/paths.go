package plan

import (
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/backtest"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/market"
)

// path is the interval whose candles move a market.
type path struct {
	market *market.Market
	finest market.Interval // that a strategy receives: the path is not longer
	own    market.Interval // the finest that covers the range
	chosen market.Interval
}

// paths chooses the candles that move the markets: see backtest.path_interval. With "auto", markets
// that a strategy trades together move by the same interval: a sale in one pays for a purchase in
// the other at the right time.
func (p *Backtest) paths() ([]path, error) {
	list := make([]path, 0, len(p.Catalog.Markets()))
	for _, m := range p.Catalog.Markets() {
		one := path{market: m, finest: p.finestDelivered(m)}
		one.own, one.chosen = one.finest, one.finest
		if p.traded(m) {
			chosen, err := p.pathInterval(m, one.finest)
			if err != nil {
				return nil, err
			}
			one.own, one.chosen = chosen, chosen
		}
		list = append(list, one)
	}
	if p.Config.Backtest.PathInterval == config.PathAuto {
		for _, group := range p.together(list) {
			if err := p.align(group); err != nil {
				return nil, err
			}
		}
	}
	p.sayMixed(list)
	return list, nil
}

// traded reports whether a strategy trades a market.
func (p *Backtest) traded(m *market.Market) bool {
	trades := func(s backtest.StrategyPlan) bool { return slices.Contains(s.Markets, m) }
	return slices.ContainsFunc(p.Strategies, trades)
}

// together groups the paths of markets that a strategy trades, or strategies that share a market.
func (p *Backtest) together(list []path) (groups [][]*path) {
	group := make([]int, len(list))
	for i := range group {
		group[i] = i
	}
	for _, s := range p.Strategies {
		first := -1
		for i := range list {
			if !slices.Contains(s.Markets, list[i].market) {
				continue
			}
			if first < 0 {
				first = i
			}
			for k, from := 0, group[i]; k < len(group); k++ {
				if group[k] == from {
					group[k] = group[first]
				}
			}
		}
	}
	for id := range group {
		var members []*path
		for i := range list {
			if group[i] == id {
				members = append(members, &list[i])
			}
		}
		if len(members) > 1 {
			groups = append(groups, members)
		}
	}
	return groups
}

// align gives the markets of a group the finest interval that all of them have. Without one, each
// keeps its own.
func (p *Backtest) align(group []*path) error {
	longest, shortest, limit := group[0], group[0], group[0].finest
	for _, one := range group {
		if one.own > longest.own {
			longest = one
		}
		if one.own < shortest.own {
			shortest = one
		}
		limit = min(limit, one.finest)
	}
	if longest.own == shortest.own {
		return nil
	}
	for interval := longest.own; interval <= limit; interval++ {
		all, err := p.allCover(group, interval)
		if err != nil {
			return err
		}
		if !all {
			continue
		}
		for _, one := range group {
			one.chosen = interval
		}
		p.Options.Assumptions = append(p.Options.Assumptions, fmt.Sprintf("Prices within candles: %s move by %s "+
			"candles, the finest that all of them have. %s has %s over the whole range, %s has not.", names(group),
			interval, shortest.market.Name, shortest.own, longest.market.Name))
		return nil
	}
	return nil
}

// allCover reports whether all markets of a group have candles of an interval over the whole range.
func (p *Backtest) allCover(group []*path, interval market.Interval) (bool, error) {
	for _, one := range group {
		if one.own == interval || one.finest == interval {
			continue
		}
		if covers, err := p.coversRange(one.market, interval, one.finest); !covers || err != nil {
			return false, err
		}
	}
	return true, nil
}

// sayMixed adds an assumption where candles of different lengths move the markets.
func (p *Backtest) sayMixed(list []path) {
	if len(list) == 0 {
		return
	}
	by := func(a, b path) int { return int(a.chosen) - int(b.chosen) }
	short, long := slices.MinFunc(list, by), slices.MaxFunc(list, by)
	if short.chosen != long.chosen {
		p.Options.Assumptions = append(p.Options.Assumptions, fmt.Sprintf("Candles of different lengths move the "+
			"markets (%s: %s, %s: %s). An order in a market of the longer ones fills when its candle has ended: until "+
			"then its money is not there for the other markets.", short.market.Name, short.chosen, long.market.Name,
			long.chosen))
	}
}

// names lists the markets of a group, or their number where they are many.
func names(group []*path) string {
	if len(group) > 4 {
		return fmt.Sprintf("the %d markets that strategies trade together", len(group))
	}
	text := ""
	for i, one := range group {
		switch {
		case i > 0 && i == len(group)-1:
			text += " and "
		case i > 0:
			text += ", "
		}
		text += one.market.Name
	}
	return text
}
