package doctor

import (
	"context"
	"strings"

	"github.com/tidemark-trading/tidemark/bot/chat/telegram"
)

// telegram asks Telegram who the bot is: its token is right then. It sends no message.
func (d *doctor) telegram(ctx context.Context) {
	const check = "telegram"
	c := &d.plan.Config.Telegram
	if d.plan.Telegram == "" {
		return
	}
	messenger, err := telegram.New(c.BaseURL, d.plan.Telegram)
	if err != nil {
		d.fail(check, err.Error(), "ask @BotFather for the token")
		return
	}
	defer messenger.Close()
	name, err := messenger.Me(ctx)
	switch {
	case err != nil:
		d.fail(check, err.Error(), "check telegram.token_env or token_file, telegram.base_url and the network")
	case len(c.Chats) == 0:
		d.warn(check, "@"+name+" answers no chat: telegram.chats is empty",
			"write to @"+name+" while the bot runs; its log names the id of your chat")
	default:
		d.ok(check, "@%s answers %s; %s", name, strings.Join(c.Chats, ", "), actsOrReads(c.Act))
	}
}

// actsOrReads says whether the chat acts.
func actsOrReads(act bool) string {
	if act {
		return "it may halt, resume and flatten"
	}
	return "it only looks"
}
