// Command bot-farm is bot with the connection to other machines: `bot worker`, and `bot sweep` with
// --listen or --nats. It is a program of its own because the NATS server in it would slow every
// start of bot, which starts it for these commands. It is wiring only. Start at bot.MainWithFarm.
package main

import (
	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/research/machines/farm"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

func main() {
	bot.MainWithFarm(farm.Farm{}, shipped.Definitions()...)
}
