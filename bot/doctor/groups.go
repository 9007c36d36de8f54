package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// groups counts the cancel-on-disconnect groups of the config: an account has one timer, unless the
// exchange has agreed to more. The doctor arms none to find out.
func (d *doctor) groups() {
	const check = "timers"
	groups := d.plan.Groups()
	var names []string
	for _, g := range groups {
		names = append(names, fmt.Sprintf("group %d of %s", g, strings.Join(d.plan.InGroup(g), " and ")))
	}
	switch text := strings.Join(names, ", "); len(groups) {
	case 0:
	case 1:
		d.ok(check, "cancel on disconnect: %s; an account has one timer", text)
	default:
		d.warn(check, fmt.Sprintf("cancel on disconnect: %d groups (%s), and an account has one timer: where the "+
			"exchange has not agreed to more, only %s is guarded", len(groups), text, names[0]),
			"give these strategies the same cod_group_id; or none, and their orders outlive a bot that dies")
	}
}

// sharedGroup warns of an open order of others that carries a group of the config.
func (d *doctor) sharedGroup(o *market.Order) {
	if slices.Contains(d.plan.Groups(), o.CodGroupID) {
		d.warn("timers", fmt.Sprintf("an open order of another bot or person carries cod_group_id %d, too: while one "+
			"of the two programs renews its timer, the orders of the other stay", o.CodGroupID),
			"choose a group of its own for each bot")
	}
}
