package bot

import (
	"cmp"
	"context"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/tidemark-trading/tidemark/bot/chat"
	"github.com/tidemark-trading/tidemark/bot/chat/telegram"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/console"
	"github.com/tidemark-trading/tidemark/bot/operator"
)

const chatHelp = `Answer questions about a bot on Telegram: how it stands, profit, positions, orders, a chart. With
telegram.act = true, /halt, /resume and /flatten are carried out; the last two ask first.

bot run does the same by itself where its config has a token. This command does it in a process of its own: set
telegram.run = false, for only one of them can get the messages. docs/chat.md shows the way to a token.`

func chatCommand(a *app) *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use: "chat", Short: "Answer questions about a bot on Telegram", Args: onlyFlags, Long: chatHelp,
		Example: "  bot chat -c my.toml\n  bot chat -c my.toml --set telegram.act=true",
		RunE:    a.enter(func(ctx context.Context, _ []string) error { return a.chat(ctx, f) }),
	}
	f.register(c, "config `FILE` of bot run")
	return c
}

// chat runs the command.
func (a *app) chat(ctx context.Context, f *runFlags) error {
	c, err := a.runConfigOf(f)
	if err != nil {
		return err
	}
	token, err := c.Telegram.Read(a.Getenv)
	if err == nil && token == "" && len(a.Chats) == 0 {
		err = config.Keyf([]string{"telegram", "token_env"}, "is missing; want the name of a variable with "+
			"@BotFather's token, or token_file")
	}
	if err != nil {
		return c.Source.Place(err)
	}
	log := console.Logger(a.Stderr, c.Bot.Log, a.Getenv)
	accompany(ctx, log, a.chats(c, token, log, operator.Target{Folder: c.Bot.State}))()
	return nil
}

// chats are the chats of a program and, with a token, the one of its config, about a bot.
func (a *app) chats(c *config.Run, token string, log zerolog.Logger, of operator.Target) (all []companion) {
	serve := func(ctx context.Context, line chat.Line) {
		log.Info().Str("line", line.Name).Strs("chats", line.Chats).Strs("users", line.Users).Bool("act", line.Act).
			Msg("chat: messages are answered")
		chat.New(chat.Config{Line: line, Of: of, Bot: cmp.Or(c.Bot.Name, c.Source.Label()), Log: log}).Serve(ctx)
	}
	for _, line := range a.Chats {
		all = append(all, companion{line.Name + " chat", func(ctx context.Context) error {
			serve(ctx, line)
			return nil
		}})
	}
	if token == "" {
		return all
	}
	return append(all, companion{"telegram chat", func(ctx context.Context) error {
		messenger, err := telegram.New(c.Telegram.BaseURL, token)
		if err != nil {
			return err
		}
		defer messenger.Close()
		serve(ctx, chat.Line{Name: "telegram", Messenger: messenger, Chats: c.Telegram.Chats,
			Users: c.Telegram.Users, Act: c.Telegram.Act, Confirm: time.Duration(c.Telegram.Confirm)})
		return nil
	}})
}
