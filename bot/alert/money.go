package alert

import (
	"fmt"
	"slices"
	"strings"
)

// Money is how the money of a bot stood at an alert. Amounts are decimals.
type Money struct {
	Currency   string    `json:"currency"`
	Equity     string    `json:"equity"`
	DayResult  string    `json:"day_result,omitempty"` // of the UTC day; empty: no limit follows the equity
	OpenOrders int       `json:"open_orders"`
	Positions  []Holding `json:"positions"`
}

// Holding is a strategy's position in a market.
type Holding struct {
	Strategy    string `json:"strategy"`
	Market      string `json:"market"`
	Amount      string `json:"amount"`
	Value       string `json:"value,omitempty"`       // in quote, at the latest price; empty: unknown
	Protected   bool   `json:"protected,omitempty"`   // exits cover the whole amount
	Unprotected string `json:"unprotected,omitempty"` // base that lacks the exit that it was to have
}

// holdingsShown is how many positions a line of text lists; more are counted.
const holdingsShown = 6

// Text is the money in one line. Positions without their exit come first.
func (m *Money) Text() string {
	text := fmt.Sprintf("equity %s %s", m.Equity, m.Currency)
	if m.DayResult != "" {
		text += ", today " + signed(m.DayResult)
	}
	text += fmt.Sprintf(", open orders %d", m.OpenOrders)
	if len(m.Positions) == 0 {
		return text + ", no position"
	}
	held := slices.Clone(m.Positions)
	slices.SortStableFunc(held, func(a, b Holding) int { return worry(b) - worry(a) })
	for i := range held[:min(len(held), holdingsShown)] {
		text += "; " + held[i].text()
	}
	if more := len(held) - holdingsShown; more > 0 {
		text += fmt.Sprintf("; and %d more positions", more)
	}
	return text
}

func worry(h Holding) int { return min(len(h.Unprotected), 1) }

func (h *Holding) text() string {
	text := fmt.Sprintf("%s %s %s", h.Strategy, h.Amount, h.Market)
	if h.Value != "" {
		_, quote, _ := strings.Cut(h.Market, "-")
		text += " worth " + strings.TrimSpace(h.Value+" "+quote)
	}
	switch {
	case h.Unprotected != "":
		text += ", WITHOUT EXIT: " + h.Unprotected
	case h.Protected:
		text += ", protected"
	}
	return text
}

// signed is an amount with its sign.
func signed(amount string) string {
	if strings.HasPrefix(amount, "-") {
		return amount
	}
	return "+" + amount
}
