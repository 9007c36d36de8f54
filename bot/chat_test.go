package bot_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot"
	"github.com/tidemark-trading/tidemark/bot/chat"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// phone is a person with Telegram.
type phone struct {
	*testing.T
	*bottest.Telegram
	replies int // that were read
}

// reply waits for the next reply.
func (p *phone) reply() bottest.Sent {
	p.Helper()
	p.replies++
	return p.AwaitSent(p, p.replies-1, "reply %d", p.replies)
}

// ask writes to the bot and waits for its reply.
func (p *phone) ask(text string) bottest.Sent {
	p.Helper()
	p.Write(42, 7, text, time.Now().Unix())
	return p.reply()
}

// says asks until a text is in the reply: a bot on a machine that stands still has not answered in
// time.
func (p *phone) says(text, want string) {
	p.Helper()
	bottest.Await(p, func() bool { return strings.Contains(p.ask(text).Text, want) }, "%s: want %s", text, want)
}

// button asks until the reply has buttons, and returns the command of the first one.
func (p *phone) button(text, want string) (command string) {
	p.Helper()
	bottest.Await(p, func() bool {
		reply := p.ask(text)
		if len(reply.Buttons) > 0 {
			require.Contains(p, reply.Text, want)
			command = reply.Buttons[0]
		}
		return command != ""
	}, text)
	return command
}

// phoneFlags let a bot answer the test server.
func phoneFlags(t *testing.T, g *bottest.Telegram) []string {
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte(bottest.TelegramToken+"\n"), 0o600))
	return []string{"--set", "telegram.token_file=" + token, "--set", "telegram.base_url=" + g.URL, "--set",
		`telegram.chats=["42"]`, "--set", "telegram.act=true", "--set", "telegram.confirm_within=10m"}
}

// A real bot trades at a simulated exchange and is asked over the client of go-telegram, at a test
// server of Telegram's API that limits, breaks connections, delivers twice and dies.
func TestABotIsAskedAndHaltedOverTelegram(t *testing.T) {
	t.Parallel()
	var broken, busy atomic.Int64 // how many requests still meet it
	var twice atomic.Value        // an update that is delivered once more
	g := bottest.NewTelegram(t)
	g.Before = func(method string, w http.ResponseWriter, _ *http.Request) bool {
		switch again, _ := twice.Load().(string); {
		case broken.Add(-1) >= 0:
			panic(http.ErrAbortHandler)
		case method == "sendMessage" && busy.Add(-1) >= 0:
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = w.Write([]byte(`{"ok":false,"error_code":429,"description":"slow","parameters":{"retry_after":1}}`))
			return true
		case method == "getUpdates" && again != "":
			twice.Store("")
			_, _ = w.Write([]byte(`{"ok":true,"result":[` + again + `]}`))
			return true
		}
		return false
	}
	flags := phoneFlags(t, g)
	b := trade(t, flags...)
	p := &phone{T: t, Telegram: g}

	p.says("/status", "maker: trading")
	p.says("/profit", "money in EUR, days of UTC")
	p.says("/profit strategy", "total: realised")
	for !strings.Contains(p.ask("/orders").Text, "maker BTC-EUR: ") { // it may be between two orders
		b.waitForOrders()
	}
	p.says("/explain 1", "decided place ")
	require.NotEmpty(t, p.ask("/positions").Text)
	chart := p.ask("/chart")
	require.True(t, strings.HasPrefix(string(chart.Picture), "\x89PNG") || strings.Contains(chart.Text, "two samples"))
	g.Write(666, 7, "/halt", time.Now().Unix())
	p.says("/help", "/flatten")
	bottest.Await(t, func() bool { return strings.Contains(b.stderr.String(), `"chat":"666"`) }, "the id of the stranger")

	halt, err := json.Marshal(map[string]any{"update_id": 1, "message": map[string]any{"message_id": 1,
		"date": time.Now().Unix(), "text": "/halt maker", "chat": map[string]any{"id": 42, "type": "private"},
		"from": map[string]any{"id": 7, "first_name": "Ann", "username": "ann"}}})
	require.NoError(t, err)
	twice.Store(string(halt))
	p.says("/status", "maker") // wakes the request that waits; the halt comes before it or behind it
	require.Contains(t, p.reply().Text, "maker")
	p.says("/status", "maker: halted")
	resume := p.button("/resume maker", "maker: halted")
	p.Press(42, 8, resume)
	require.Contains(t, p.reply().Text, "nothing waits for this confirmation", "another user")
	busy.Store(1)
	p.Press(42, 7, resume)
	require.Contains(t, p.reply().Text, "trading: maker", "after a second: the limit is obeyed")
	twice.Store(string(halt))
	p.says("/status", "maker: trading")
	broken.Store(2)
	p.says("/status", "maker: trading")

	flatten := p.button("/flatten", "Flatten halts maker")
	require.NoError(t, b.cmd.Process.Kill())
	_ = b.cmd.Wait()
	first := b.stderr.String()
	b.start(flags...)
	p.Press(42, 7, flatten)
	require.Contains(t, p.reply().Text, "nothing waits for this confirmation", "a restart leaves none")
	require.Contains(t, p.ask(p.button("/flatten maker", "Flatten halts maker")).Text, "halted: maker; ")
	b.stop()

	said := first + b.stderr.String()
	require.NotContains(t, said, "SECRET")
	require.Contains(t, said, "the messenger answers again")
	require.Equal(t, []string{"halt maker by telegram user @ann (7), telegram chat 42",
		"resume maker by telegram user @ann (7), telegram chat 42",
		"flatten maker by telegram user @ann (7), telegram chat 42"}, actsOf(t, b.folder))
	p.ofAStoppedBot(b.folder, flags)
}

// actsOf lists the actions in a journal.
func actsOf(t *testing.T, dir string) (acts []string) {
	store, err := journal.ReadUntil(t.Context(), filepath.Join(dir, statedir.StateFile))
	require.NoError(t, err)
	defer store.Close()
	require.NoError(t, store.EntriesBack(0, func(e *journal.Entry) error {
		r := e.Record.(*journal.Act)
		acts = append([]string{r.Verb + " " + r.Strategy + " by " + r.By + ", " + r.From}, acts...)
		return nil
	}, journal.EntryAct))
	return acts
}

// ofAStoppedBot asks about a stopped bot, in a process of its own.
func (p *phone) ofAStoppedBot(folder string, flags []string) {
	ctx, end := context.WithCancel(p.Context())
	var chatting sync.WaitGroup
	chatting.Go(func() {
		code, _, said := call(ctx, append([]string{"chat", "-c", "../configs/sandbox.toml", "--set",
			"bot.state=" + folder}, flags...)...)
		require.Zero(p, code, said)
		require.NotContains(p, said, "SECRET")
	})
	p.says("/status", "The bot does not run; this is what its state file says.")
	p.says("/flatten", "the bot does not run, so nothing can be done")
	p.says("/halt", "no bot is running")
	end()
	chatting.Wait()
}

// notes is a messenger of a program's own.
type notes struct{ in, out []string }

// Receive takes the next note.
func (n *notes) Receive(context.Context) (chat.Message, error) {
	if len(n.in) == 0 {
		return chat.Message{}, io.EOF
	}
	text := n.in[0]
	n.in = n.in[1:]
	return chat.Message{Chat: "desk", Text: text}, nil
}

// Send keeps the reply.
func (n *notes) Send(_ context.Context, reply *chat.Reply) error {
	n.out = append(n.out, reply.Text)
	return nil
}

func TestAProgramBringsAMessengerOfItsOwn(t *testing.T) {
	n := &notes{in: []string{"/help", "/positions"}}
	var said bytes.Buffer
	folder := t.TempDir()
	require.Zero(t, bot.Run(t.Context(), bot.Process{
		Args:  []string{"chat", "-c", "../configs/sandbox.toml", "--set", "bot.state=" + folder},
		Stdin: strings.NewReader(""), Stdout: &said, Stderr: &said, Getenv: func(string) string { return "" },
		Chats: []chat.Line{{Name: "notes", Messenger: n, Chats: []string{"desk"}}}}), said.String())
	require.Len(t, n.out, 2)
	require.Contains(t, n.out[0], "/positions")
	require.Contains(t, n.out[1], folder)
}

func TestAChatWantsATokenAndIds(t *testing.T) {
	talk := func(sets ...string) string {
		args := []string{"chat", "-c", "../configs/sandbox.toml"}
		for _, set := range sets {
			args = append(args, "--set", set)
		}
		code, _, said := call(t.Context(), args...)
		require.NotZero(t, code)
		require.NotContains(t, said, "SECRET")
		return said
	}
	require.Contains(t, talk(), "telegram.token_env: is missing")
	require.Contains(t, talk("telegram.token_env=NOT_SET"), "no variable of that name")
	require.Contains(t, talk("telegram.token=SECRET"), "unknown key")
	require.Contains(t, talk(`telegram.chats=["@ann"]`), `"@ann" is no id`)
	require.Contains(t, talk("telegram.confirm_within=1h"), "is not in 10s to 10m0s")
	require.Contains(t, talk("telegram.base_url=http://example.com"), "in clear")
	require.Contains(t, talk("telegram.base_url=SECRET"), "no address")
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte("SECRET"), 0o600))
	require.Contains(t, talk("telegram.token_file="+file), "no token as @BotFather tells it")
	require.NoError(t, os.Chmod(file, 0o644))
	require.Contains(t, talk("telegram.token_file="+file), "others may read")
}
