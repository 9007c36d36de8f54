package plan

import (
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/strategy"
)

// ofTidemark are the strategies of the program that comes with Tidemark: each has a package of its
// name. The program of an author has its own strategies in their place.
var ofTidemark = []string{"accumulate", "bandrevert", "breakout", "dca", "grid", "maker", "rotation", "rsirevert",
	"smacross", "trendfilter"}

// UnknownStrategy says that the program has no strategy of this name, and what may be done about
// it: the name of the nearest one, or how a shipped one gets into a program of one's own.
func UnknownStrategy(name string, kinds []strategy.Definition) error {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.Name
	}
	if !slices.Contains(ofTidemark, name) {
		return fmt.Errorf("unknown strategy %q; the nearest is %q", config.Clip(name), strategy.Nearest(name, names))
	}
	return fmt.Errorf("the strategy %s comes with Tidemark, and this program does not have it: in main.go import "+
		"\"github.com/tidemark-trading/tidemark/strategy/%[1]s\" and pass %[1]s.Definition to bot.Main too", name)
}
