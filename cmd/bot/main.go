// Command bot is Tidemark with the shipped strategies. It is wiring only and never grows logic of
// its own. Start at bot.Main.
package main

import (
	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

func main() {
	bot.Main(shipped.Definitions()...)
}
