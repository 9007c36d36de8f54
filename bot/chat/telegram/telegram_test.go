package telegram

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/chat"
	"github.com/tidemark-trading/tidemark/internal/bottest"
)

// connect returns a messenger of a test server.
func connect(t *testing.T, g *bottest.Telegram) *Messenger {
	m, err := New(g.URL, bottest.TelegramToken)
	require.NoError(t, err)
	t.Cleanup(m.Close)
	return m
}

// next receives a message.
func next(t *testing.T, m *Messenger) chat.Message {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), bottest.Patience)
	defer cancel()
	message, err := m.Receive(ctx)
	require.NoError(t, err)
	return message
}

func TestAMessageIsReadOnceItsArrivalIsConfirmed(t *testing.T) {
	g := bottest.NewTelegram(t)
	m := connect(t, g)
	g.Write(42, 7, " /halt  maker ", 1_700_000_000)
	g.Write(42, 7, "/status@tidemark_BOT", 1_700_000_001)
	require.Equal(t, chat.Message{ID: "1001", Chat: "42", User: "7", Name: "@ann", Text: "/halt maker",
		At: time.Unix(1_700_000_000, 0)}, withoutSpaces(next(t, m)))
	require.Equal(t, "/status", next(t, m).Text)
	g.Write(42, 7, "/profit", 1_700_000_002)
	require.Equal(t, "/profit", next(t, connect(t, g)).Text, "a later process gets nothing that was handed out before")
}

func withoutSpaces(m chat.Message) chat.Message {
	m.Text = strings.Join(strings.Fields(m.Text), " ")
	return m
}

func TestAMessageWhoseConfirmationFailsIsNotHandedOutYet(t *testing.T) {
	g := bottest.NewTelegram(t)
	m := connect(t, g)
	var broken atomic.Bool
	g.Before = func(method string, w http.ResponseWriter, r *http.Request) bool {
		if method == "getUpdates" && r.FormValue("offset") != "" && broken.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return true
		}
		return false
	}
	broken.Store(true)
	g.Write(42, 7, "/halt", 1)
	_, err := m.Receive(t.Context())
	require.ErrorContains(t, err, "answer 502")
	_, err = m.Receive(t.Context())
	require.ErrorContains(t, err, "answer 502")
	broken.Store(false)
	require.Equal(t, "/halt", next(t, m).Text)
	require.Equal(t, 4, g.Asked("getUpdates"), "once for the update, three times to confirm it")
}

func TestOnlyWhatIsMeantForTheBotIsAMessage(t *testing.T) {
	g := bottest.NewTelegram(t)
	m := connect(t, g)
	group := func(text string, more map[string]any) {
		body := map[string]any{"message_id": 1, "date": 5, "text": text,
			"chat": map[string]any{"id": -100, "type": "supergroup"},
			"from": map[string]any{"id": 7, "first_name": "Ann"}}
		for key, value := range more {
			body[key] = value
		}
		g.Add("message", body)
	}
	group("halt everything, please", nil)
	group("/halt@other_bot", nil)
	group("", map[string]any{"photo": []any{}})
	group("/halt", map[string]any{"from": nil}) // an anonymous one
	g.Add("edited_message", map[string]any{"message_id": 1, "date": 5, "text": "/halt",
		"chat": map[string]any{"id": 42, "type": "private"}, "from": map[string]any{"id": 7}})
	g.Press(42, 7, "/halt")
	g.Press(42, 7, "/yes ABC")
	group("/halt@tidemark_bot maker", nil)
	g.Write(42, 7, "halt", 5)
	pressed := next(t, m)
	require.Equal(t, "/yes ABC", pressed.Text)
	require.Equal(t, "42 7", pressed.Chat+" "+pressed.User)
	require.True(t, pressed.At.IsZero())
	grouped := next(t, m)
	require.Equal(t, "/halt maker", grouped.Text)
	require.Equal(t, "-100", grouped.Chat)
	require.Equal(t, "Ann", grouped.Name)
	require.Equal(t, "halt", next(t, m).Text, "in a private chat each text is for the bot")
	require.Equal(t, 2, g.Asked("answerCallbackQuery"))
}

func TestTheRepliesOfABotArriveWhole(t *testing.T) {
	g := bottest.NewTelegram(t)
	m := connect(t, g)
	to := chat.Message{Chat: "-100"}
	long := strings.Repeat("a line of the story 😀\n", 300)
	require.NoError(t, m.Send(t.Context(), &chat.Reply{To: to, Text: "<b> & _x_ *y*",
		Buttons: []chat.Button{{Title: "Flatten", Text: "/yes A"}, {Title: "No", Text: "/no A"}}}))
	require.NoError(t, m.Send(t.Context(), &chat.Reply{To: to, Text: long}))
	require.NoError(t, m.Send(t.Context(), &chat.Reply{To: to, Text: long, Picture: []byte("a PNG")}))
	sent := g.Sent()
	require.Equal(t, bottest.Sent{Method: "sendMessage", Chat: "-100", Text: "<b> & _x_ *y*",
		Buttons: []string{"/yes A", "/no A"}}, sent[0])
	require.LessOrEqual(t, chat.Length(sent[1].Text), maxText)
	require.Greater(t, chat.Length(sent[1].Text), maxText-100)
	require.Regexp(t, `story 😀\n… and \d+ more characters$`, sent[1].Text)
	require.Equal(t, "a PNG", string(sent[2].Picture))
	require.LessOrEqual(t, chat.Length(sent[2].Text), maxCaption)
}

func TestErrorsOfTheAPISayWhatToDo(t *testing.T) {
	g := bottest.NewTelegram(t)
	m := connect(t, g)
	var code, after atomic.Int64
	g.Before = func(_ string, w http.ResponseWriter, r *http.Request) bool {
		w.WriteHeader(int(code.Load()))
		_ = json.NewEncoder(w).Encode(map[string]any{"ok": false, "error_code": code.Load(),
			"description": "no " + r.URL.Path, "parameters": map[string]any{"retry_after": after.Load()}})
		return true
	}
	m.name = "tidemark_bot" // no getMe: it is asked for with the library
	for _, ask := range []func() error{
		func() error { _, err := m.Receive(t.Context()); return err },
		func() error {
			return m.Send(t.Context(), &chat.Reply{To: chat.Message{Chat: "1"}, Text: "x"})
		},
		func() error { _, err := m.Me(t.Context()); return err },
	} {
		code.Store(429)
		after.Store(7)
		var busy *chat.BusyError
		require.ErrorAs(t, ask(), &busy)
		require.Equal(t, 7*time.Second, busy.After)
		for status, want := range map[int64]string{401: "does not know the token", 404: "does not know the token",
			409: "another process", 500: "500"} {
			code.Store(status)
			err := ask()
			require.ErrorContains(t, err, want)
			require.NotErrorIs(t, err, chat.ErrRefused)
			require.NotContains(t, err.Error(), "SECRET")
		}
	}
	code.Store(403)
	require.ErrorIs(t, m.Send(t.Context(), &chat.Reply{To: chat.Message{Chat: "1"}}), chat.ErrRefused)
	require.ErrorIs(t, m.Send(t.Context(), &chat.Reply{To: chat.Message{Chat: "someone"}}), chat.ErrRefused)
}

// A broken server, or a proxy before it, answers with the request itself or with nonsense.
func TestNoAnswerBreaksTheMessengerOrShowsTheToken(t *testing.T) {
	g := bottest.NewTelegram(t)
	m := connect(t, g)
	var text atomic.Value
	g.Before = func(method string, w http.ResponseWriter, r *http.Request) bool {
		switch said := text.Load().(string); said {
		case "":
			return false
		case "abort":
			panic(http.ErrAbortHandler)
		case "redirect":
			http.Redirect(w, r, "http://127.0.0.1:1"+r.URL.Path, http.StatusFound)
		default:
			_, _ = fmt.Fprint(w, strings.ReplaceAll(said, "PATH", r.URL.Path))
		}
		return true
	}
	for _, said := range []string{"abort", "redirect", "<html>PATH</html>", `{"ok":false,"description":"PATH"}`,
		`{"ok":true,"result":"PATH"}`, `{"ok":true,"result":[{"update_id":"PATH"}]}`, `[]`} {
		text.Store(said)
		for _, ask := range []func() error{
			func() error { m.name = ""; _, err := m.Receive(t.Context()); return err },
			func() error { m.name = "x"; _, err := m.Receive(t.Context()); return err },
			func() error { return m.Send(t.Context(), &chat.Reply{To: chat.Message{Chat: "1"}, Text: "x"}) },
		} {
			if err := ask(); err != nil { // sendMessage takes some of them for its result
				require.NotContains(t, err.Error(), "SECRET", said)
				require.NotContains(t, err.Error(), "token_of-the-test", said)
				require.Less(t, len(err.Error()), 500)
			}
		}
	}
	text.Store(`{"ok":true,"result":[null,{"update_id":9},{"update_id":10,"callback_query":{"id":"1","data":"/yes A"}}]}`)
	m.name = ""
	_, err := m.Receive(t.Context())
	require.Error(t, err)
	text.Store(`{"ok":true,"result":[null,{"update_id":9}]}`)
	m.name = "tidemark_bot"
	require.NoError(t, m.fill(t.Context()))
	require.Nil(t, m.read(t.Context(), m.ready[0]))
	require.EqualValues(t, 10, m.offset)
	g.End()
	_, err = m.Receive(t.Context())
	require.Error(t, err)
	require.NotContains(t, err.Error(), "SECRET")
}

func TestAPressWithoutItsMessageIsNoMessage(t *testing.T) {
	g := bottest.NewTelegram(t)
	m := connect(t, g)
	g.Add("callback_query", map[string]any{"id": "1", "data": "/yes A", "from": map[string]any{"id": 7}})
	g.Add("callback_query", map[string]any{"id": "1", "data": "/no B", "from": map[string]any{"id": 7},
		"message": map[string]any{"message_id": 1, "date": 0, "chat": map[string]any{"id": 42, "type": "private"}}})
	require.Equal(t, "/no B", next(t, m).Text, "of a message that is too old to be shown")
}
