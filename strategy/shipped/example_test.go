package shipped_test

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// An own main has them beside its own strategy with bot.Main(append(shipped.Definitions(),
// mine)...).
func ExampleDefinitions() {
	for _, kind := range shipped.Definitions() {
		fmt.Println(kind.Name)
	}
	// Output:
	// smacross
	// breakout
	// rsirevert
	// grid
	// dca
	// maker
	// trendfilter
	// rotation
	// bandrevert
	// accumulate
	// rules
	// follow
}
