package bot

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// said is what a command prints, on both streams, and its exit code.
func said(t *testing.T, args ...string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	code := Run(t.Context(), Process{Args: args, Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" },
		Definitions: shipped.Definitions()})
	return out.String(), code
}

func TestAWordOfOtherProgramsLeadsToTheCommandHere(t *testing.T) {
	for _, c := range [...]struct{ typed, to string }{
		{"optimize", "bot sweep"}, {"hyperopt", "bot sweep"}, {"download-data", "bot candles fetch"},
		{"download", "bot candles fetch"}, {"import", "bot candles import"}, {"trade", "bot run"},
		{"stop", "bot halt"}, {"plot", "bot backtest"}, {"sell", "bot flatten"}, {"webserver", "bot dashboard"},
		{"docs", "bot help"}, {"candles download", "bot candles fetch"}, {"state save", "bot state backup"},
		{"versoin", "bot version"}, {"candels", "bot candles"}, {"docs stop loss", "bot help stop loss"},
		{"stop-loss", "bot help stop-loss"}, // no command, but a topic
	} {
		text, code := said(t, strings.Fields(c.typed)...)
		require.Equal(t, 64, code, c.typed)
		require.Contains(t, text, "`"+c.to+"`", c.typed)
		require.Equal(t, 1, strings.Count(text, "\n"), text)
	}
	text, _ := said(t, "xyzzyx")
	require.Equal(t, "bot: bot has no command xyzzyx; see `bot --help`\n", text)
}

func TestTheWordsOfOthersAreDistinctAndTheirCommandsExist(t *testing.T) {
	root := Command(shipped.Definitions()...)
	root.InitDefaultHelpCmd()
	seen := map[string]bool{}
	for _, e := range elsewhere {
		c, rest, err := root.Find(strings.Fields(e.command))
		require.NoError(t, err)
		require.Empty(t, rest, e.command)
		require.Equal(t, "bot "+e.command, c.CommandPath())
		for word := range strings.FieldsSeq(e.words) {
			require.False(t, seen[word], "%s leads to two commands", word)
			seen[word] = true
			_, rest, _ := root.Find([]string{word})
			require.NotEmpty(t, rest, "%s is a command here", word)
		}
	}
}

// A look-up takes one command: the answer is in the first 40 lines that it prints.
func TestHelpAnswersTheQuestionsOfABeginner(t *testing.T) {
	for _, c := range [...]struct{ asked, answer string }{
		{"stop loss", "strategy.StopAt"},
		{"fees", "`taker_fee`"},
		{"refusals", "`too_small`"},
		{"two strategies", "[strategies.NAME]"},
		{"several markets", `markets = ["BTC-EUR", "ETH-EUR"]`},
		{"another machine", "Stop the bot, copy the state folder, start there"},
		{"units", "5*market.Percent"},
		{"limits", "max_daily_loss"},
		{"how do I sell everything?", "bot flatten"},
		{"own data", "gzip"},
		{"216", "up to 95% cash"},
		{"max_positions", "a buy in one market more"},
		{"keep_exits", "leaves the exits of positions at the exchange"},
		{"populate_entry_trend", "m.Flat()"},
		{"optimize", "bot sweep"},
		{"live.toml#risk", "max_order_value"},
		{"docs/rules.md", `"up to 1% risk"`},
		{"candles import", "Usage:\n  bot candles import"},
		{"kill-switch", "bot cancel-all --direct"},
	} {
		text, code := said(t, append([]string{"help"}, strings.Fields(c.asked)...)...)
		require.Zero(t, code, "%s: %s", c.asked, text)
		require.Contains(t, words(strings.Join(firstLines(text, 40), " ")), words(c.answer), c.asked)
	}
	text, code := said(t, "help", "xyzzyx")
	require.Equal(t, 64, code)
	require.Contains(t, text, "no page has the words xyzzyx")
}

// words are the words of a text in one line.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }

func firstLines(text string, n int) []string {
	lines := strings.Split(text, "\n")
	return lines[:min(n, len(lines))]
}
