// Command bot-farm is bot with the connection to other machines, `bot worker` and `bot sweep` with
// --listen or --nats, and with the tools of `bot mcp`. It is a program of its own because the NATS
// server and the SDK in it would slow every start of bot, which starts it for these commands. It is
// wiring only. Start at bot.Process.
package main

import (
	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/bot/mcp/sdk"
	"github.com/tidemark-trading/tidemark/research/machines/farm"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

func main() {
	bot.Process{Definitions: shipped.Definitions(), Farm: farm.Farm{}, Assistant: sdk.Server{}}.Main()
}
