package bracket

import (
	"fmt"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// Rests says which exit is at the venue: "stop at 48000"; empty: none is.
func (s *Saved) Rests(m *market.Market) string {
	if s.Exit == 0 || s.Swapping || s.Ending {
		return ""
	}
	return s.words(m, s.Leg)
}

// Unwatched lists what happens to a bracket only while a bot runs: "target at 60000, trail 5%";
// empty: nothing.
func (s *Saved) Unwatched(m *market.Market) string {
	var parts []string
	for _, leg := range [...]market.Leg{market.KeepStop, market.KeepTarget} {
		if s.level(leg) != 0 && (leg != s.Leg || s.Rests(m) == "") {
			parts = append(parts, s.words(m, leg))
		}
	}
	follow := s.Follow
	if s.Passed > 0 && follow.Parts != nil && s.Passed >= follow.Parts.Len() {
		follow.Parts = nil
	}
	if words := follow.Words(m); words != "" {
		parts = append(parts, words)
	}
	if s.Leaving > 0 {
		parts = append(parts, "a Close of "+m.FormatQty(s.Leaving))
	}
	return strings.Join(parts, ", ")
}

func (s *Saved) words(m *market.Market, leg market.Leg) string {
	if leg == market.KeepTarget {
		return "target at " + m.FormatPrice(s.Target)
	}
	return "stop at " + m.FormatPrice(s.Stop)
}

func (s *Saved) level(leg market.Leg) market.Price {
	if leg == market.KeepTarget {
		return s.Target
	}
	return s.Stop
}

// Away says how an amount of the bracket is protected while no bot runs. exit is what its exit at
// the venue still sells; placed is false where the venue has not confirmed that it has the exit.
func (s *Saved) Away(m *market.Market, exit market.Qty, placed bool) string {
	rests, unwatched := s.Rests(m), s.Unwatched(m)
	text := "it has no exit until the next start"
	switch {
	case rests != "" && !placed:
		text = "it is not known whether the exchange has its " + rests
	case rests != "":
		text = "the exchange has its " + rests
		if s.Amount > exit {
			text += fmt.Sprintf(" over %s; %s have no exit until the next start", m.FormatQty(exit),
				m.FormatQty(s.Amount-exit))
		}
	}
	if unwatched != "" {
		text += "; not watched while the bot is away: " + unwatched
	}
	return text
}
