package rest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// maxPlanPercent is the part of a budget that a plan may need; the rest is for orders and cancels.
const maxPlanPercent = 80

// Poll is a repeated request.
type Poll struct {
	Name   string // for people: "balance"
	Weight int
	Every  market.Duration
	Payer  Payer
}

// PerMinute returns its points a minute, rounded up; a poll without a period costs nothing.
func (p Poll) PerMinute() int {
	if p.Every <= 0 {
		return 0
	}
	return int((int64(p.Weight)*int64(budgetMinute) + int64(p.Every) - 1) / int64(p.Every))
}

// Polls is the list of repeated requests.
type Polls []Poll

// PerMinute returns the points a minute that the plan costs the key, or the IP address.
func (p Polls) PerMinute(payer Payer) (points int) {
	for _, poll := range p {
		if poll.Payer == payer {
			points += poll.PerMinute()
		}
	}
	return points
}

// Check refuses a plan that needs more than 80 % of a budget. The error lists its costs.
func (p Polls) Check(perKey, perIP int) error {
	return errors.Join(p.check(PaidByKey, perKey), p.check(PaidByIP, perIP))
}

func (p Polls) check(payer Payer, budget int) error {
	points, most := p.PerMinute(payer), budget*maxPlanPercent/100
	if points <= most {
		return nil
	}
	own := slices.DeleteFunc(slices.Clone(p), func(poll Poll) bool { return poll.Payer != payer })
	return fmt.Errorf("the polling plan needs %d of the %d weight points that %s has a minute, more than %d (%d %%); "+
		"ask less often for:\n%s", points, budget, payer.phrase(), most, maxPlanPercent, own)
}

// String is a line for each poll, the most expensive first.
func (p Polls) String() string {
	sorted := slices.Clone(p)
	slices.SortStableFunc(sorted, func(a, b Poll) int { return cmp.Compare(b.PerMinute(), a.PerMinute()) })
	var text strings.Builder
	for _, poll := range sorted {
		fmt.Fprintf(&text, "%6d a minute  %s: weight %d every %s\n", poll.PerMinute(), poll.Name, poll.Weight,
			poll.Every)
	}
	return strings.TrimSuffix(text.String(), "\n")
}
