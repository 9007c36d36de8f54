package dashboard

import (
	"cmp"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/tidemark-trading/tidemark/bot/operator"
)

// FleetOf makes the page of all bots.
func FleetOf(list []Glance, nowMS int64) Parts {
	t := Table{Title: "All bots", Empty: "No folder has the state of a bot. A bot appears here after its first start.",
		Head: []string{"Bot", "State", "Mode", "Equity", "Today", "Drawdown", "Halted", "Feed"}}
	for i := range list {
		m := &list[i]
		id, name := "bot/"+m.Name+"/", Cell{Text: m.Name, Path: folderOf(m.Name), Class: "left"}
		cells := []Cell{live(id+"state", "no answer: "+m.Error), text("–"), live(id+"equity", "–"),
			signed(id+"day", "–"), live(id+"drawdown", "–"), live(id+"halted", "–"), live(id+"feed", "–")}
		if s := m.Status; s != nil {
			drawdown := "–"
			if part, err := decimal.NewFromString(s.Drawdown); err == nil {
				drawdown = part.Shift(2).StringFixed(2) + " %"
			}
			cells = []Cell{live(id+"state", s.State), text(cmp.Or(s.Mode, "–")),
				live(id+"equity", strings.TrimSpace(cmp.Or(s.Equity, "–")+" "+s.Currency)),
				signed(id+"day", cmp.Or(s.DayResult, "–")), live(id+"drawdown", drawdown),
				live(id+"halted", haltedText(s)), live(id+"feed", feedAge(s, nowMS))}
		}
		cells[0].Class, cells[5].Class = "left", "left"
		if m.Status == nil || haltedText(m.Status) != "none" {
			cells[0].Class = "left bad"
		}
		t.Rows = append(t.Rows, Row{append([]Cell{name}, cells...)})
	}
	return Parts{t}
}

// haltedText lists the halted strategies of a bot.
func haltedText(s *operator.Status) string {
	var names []string
	for _, one := range s.Strategies {
		if one.State == operator.Halted {
			names = append(names, one.Name)
		}
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}
