package doctor

import (
	"maps"
	"slices"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// paperAccount lists the balances that the simulated account of paper mode begins with. It has no
// key, and no other program trades on it.
func (d *doctor) paperAccount() {
	config, err := d.plan.PaperExchange("", d.client.Now())
	if err != nil {
		d.fail("mode", err.Error(), "correct [paper.start]")
		return
	}
	var parts []string
	for _, symbol := range slices.Sorted(maps.Keys(config.Accounts[0].Balances)) {
		text := config.Accounts[0].Balances[symbol]
		asset := d.plan.Catalog.AssetNamed(symbol)
		money, _ := market.ParseFixed(text, asset.Digits) // PaperExchange has parsed it already
		d.held[asset.ID] = market.Money(money)
		parts = append(parts, text+" "+symbol)
	}
	d.ok("mode", "paper: simulated, with %s at the first start; no key is needed", strings.Join(parts, ", "))
}
