// Command bot is Tidemark with the shipped strategies. It is wiring only and never grows logic of its own. Start at bot.Main.
package main

import (
	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/strategy/breakout"
	"github.com/tidemark-trading/tidemark/strategy/dca"
	"github.com/tidemark-trading/tidemark/strategy/grid"
	"github.com/tidemark-trading/tidemark/strategy/maker"
	"github.com/tidemark-trading/tidemark/strategy/rsirevert"
	"github.com/tidemark-trading/tidemark/strategy/smacross"
)

func main() {
	bot.Main(smacross.Kind, breakout.Kind, rsirevert.Kind, grid.Kind, dca.Kind, maker.Kind)
}
