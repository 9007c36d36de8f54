package backtest

import (
	"fmt"
	"strings"

	"github.com/tidemark-trading/tidemark/exchange"
)

// cures say what helps against a refusal, by the last word of its reason.
var cures = [...]struct{ reason, cure string }{
	{"216", `"up to 95% cash" leaves room for the fee and for a price that rises before the fill`},
	{"nothing_to_sell", "ask m.Held() > 0 before a sale"},
	{"no_position", "protect a position that is there"},
	{"too_small", "ask for more than the market's minimum"},
	{"212", "ask for more than min_order_in_base of the market"},
	{"217", "ask for more than min_order_in_quote of the market"},
}

// RefusalRows are the refusals in words, the most frequent first: reason, number, share of all that
// was asked, and what helps.
func (res *Result) RefusalRows() (rows [][]string) {
	asked := res.Orders.Orders // those that the exchange refused are among them
	for _, r := range res.Refusals {
		if !strings.HasPrefix(r.Reason, exchangeAnswered) {
			asked += r.Count
		}
	}
	for _, r := range res.Refusals {
		word := r.Reason[strings.LastIndexByte(r.Reason, ' ')+1:]
		cure := "bot help " + word
		for _, c := range cures {
			if c.reason == word {
				cure = c.cure
			}
		}
		share := Figure(float64(r.Count) / float64(asked))
		rows = append(rows, []string{exchange.Explained(r.Reason), numbered(r.Count),
			share.Percent(1) + " of all orders", cure})
	}
	return rows
}

// exchangeAnswered begins the reason of orders that the exchange refused.
const exchangeAnswered = "exchange answered "

// refusals writes what was refused.
func (s *summary) refusals(res *Result) {
	if len(res.Refusals) == 0 {
		return
	}
	s.title("Refused by the gate or the venue")
	for _, row := range res.RefusalRows() {
		s.wrapped(fmt.Sprintf("%8s  ", row[1]), row[0]+", "+row[2]+": "+row[3], "")
	}
}
