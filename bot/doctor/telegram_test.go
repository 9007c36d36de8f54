package doctor

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/plan"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/internal/bottest"
)

func TestTheDoctorAsksTelegramForTheNameOfItsBot(t *testing.T) {
	g := bottest.NewTelegram(t)
	asked := func(token string, chats ...string) []Finding {
		c := config.DefaultRun()
		c.Telegram.BaseURL, c.Telegram.Chats = g.URL, chats
		d := &doctor{plan: &plan.Live{Access: plan.Access{Config: c}, Telegram: token}}
		d.telegram(t.Context())
		return d.findings
	}
	require.Empty(t, asked("", "42"))
	require.Equal(t, []Finding{{Finding: statedir.Finding{Check: "telegram", Level: OK,
		Text: "@Tidemark_bot answers 42, -7; it only looks"}}},
		asked(bottest.TelegramToken, "42", "-7"))
	silent := asked(bottest.TelegramToken)[0]
	require.Equal(t, Warn, silent.Level)
	require.Contains(t, silent.Hint, "its log names the id")
	wrong := asked("123456:another-SECRET-token", "42")[0]
	require.Equal(t, Fail, wrong.Level)
	require.Contains(t, wrong.Text, "does not know the token")
	g.End()
	gone := asked(bottest.TelegramToken, "42")[0]
	require.Equal(t, Fail, gone.Level)
	require.NotContains(t, gone.Text+wrong.Text, "SECRET")
	require.Empty(t, g.Sent())
}
