package bottest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// TelegramToken is the token of the bot that a Telegram serves.
const TelegramToken = "123456:SECRET-token_of-the-test-server"

// Telegram is a server of Telegram's Bot API for one bot, @tidemark_bot. Like the real one it keeps
// an update until a request for later ones confirms it, and it holds a request for updates until
// there are some.
type Telegram struct {
	*httptest.Server
	// Before may answer in the place of the server. Any goroutine may call it.
	Before func(method string, w http.ResponseWriter, r *http.Request) (answered bool)

	mu      sync.Mutex
	news    chan struct{} // closed with each change
	ended   bool
	updates []Update
	last    int64
	sent    []Sent
	asked   map[string]int
}

// Update is an update of the API.
type Update struct {
	ID   int64
	Body map[string]any
}

// Sent is a request that shows something to a person.
type Sent struct {
	Method  string // sendMessage, sendPhoto, answerCallbackQuery
	Chat    string
	Text    string // of a picture, its caption
	Buttons []string
	Picture []byte
}

// NewTelegram starts a server. It ends with the test.
func NewTelegram(t testing.TB) *Telegram {
	g := &Telegram{news: make(chan struct{}), last: 1000, asked: map[string]int{}}
	g.Server = httptest.NewServer(http.HandlerFunc(g.serve))
	t.Cleanup(g.End)
	return g
}

// End ends the server. Requests that wait are answered.
func (g *Telegram) End() {
	g.change(func() { g.ended = true })
	g.CloseClientConnections()
	g.Close()
}

// change changes the server and wakes the requests that wait.
func (g *Telegram) change(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f()
	close(g.news)
	g.news = make(chan struct{})
}

// Add adds an update with the next number.
func (g *Telegram) Add(kind string, body map[string]any) {
	g.change(func() {
		g.last++
		g.updates = append(g.updates, Update{g.last, map[string]any{"update_id": g.last, kind: body}})
	})
}

// Write lets a user write to the bot in a private chat at a time of Unix seconds.
func (g *Telegram) Write(chat, user int64, text string, at int64) {
	g.Add("message", map[string]any{"message_id": at, "date": at, "text": text,
		"chat": map[string]any{"id": chat, "type": "private"},
		"from": map[string]any{"id": user, "first_name": "Ann", "username": "ann"}})
}

// Press lets a user press a button below a message of the bot.
func (g *Telegram) Press(chat, user int64, data string) {
	g.Add("callback_query", map[string]any{"id": "press", "data": data,
		"from": map[string]any{"id": user, "first_name": "Ann", "username": "ann"},
		"message": map[string]any{"message_id": 1, "date": 1,
			"chat": map[string]any{"id": chat, "type": "private"}}})
}

// Sent lists what was sent to persons.
func (g *Telegram) Sent() []Sent {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]Sent(nil), g.sent...)
}

// Asked counts the requests of a method.
func (g *Telegram) Asked(method string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.asked[method]
}

// AwaitSent waits for the n-th message or picture, from 0 on, and returns it.
func (g *Telegram) AwaitSent(t testing.TB, n int, what ...any) (one Sent) {
	t.Helper()
	Await(t, func() bool {
		seen := 0
		for _, s := range g.Sent() {
			if s.Method == "answerCallbackQuery" {
				continue
			}
			if one = s; seen == n {
				return true
			}
			seen++
		}
		return false
	}, what...)
	return one
}

func (g *Telegram) serve(w http.ResponseWriter, r *http.Request) {
	method, right := strings.CutPrefix(r.URL.Path, "/bot"+TelegramToken+"/")
	g.mu.Lock()
	g.asked[method]++
	g.mu.Unlock()
	if g.Before != nil && g.Before(method, w, r) {
		return
	}
	if !right {
		g.answer(w, http.StatusUnauthorized, map[string]any{"ok": false, "error_code": 401,
			"description": "Unauthorized"})
		return
	}
	if err := r.ParseMultipartForm(1 << 22); err != nil && err != http.ErrNotMultipart && method != "getMe" {
		g.answer(w, http.StatusBadRequest, map[string]any{"ok": false, "error_code": 400, "description": err.Error()})
		return
	}
	var result any = true
	switch method {
	case "getMe":
		result = map[string]any{"id": 123456, "is_bot": true, "first_name": "T", "username": "Tidemark_bot"}
	case "getUpdates":
		result = g.getUpdates(r.Context(), r)
	default:
		g.show(method, r)
		if method != "answerCallbackQuery" {
			result = map[string]any{"message_id": 1, "date": 1, "chat": map[string]any{"id": 1, "type": "private"}}
		}
	}
	g.answer(w, http.StatusOK, map[string]any{"ok": true, "result": result})
}

func (g *Telegram) answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// getUpdates drops the confirmed updates, and waits for others if it is asked to.
func (g *Telegram) getUpdates(ctx context.Context, r *http.Request) (list []any) {
	offset, _ := strconv.ParseInt(r.FormValue("offset"), 10, 64)
	for {
		g.mu.Lock()
		for len(g.updates) > 0 && g.updates[0].ID < offset {
			g.updates = g.updates[1:]
		}
		list = []any{}
		for _, u := range g.updates {
			list = append(list, u.Body)
		}
		news, ended := g.news, g.ended
		g.mu.Unlock()
		if timeout := r.FormValue("timeout"); len(list) > 0 || ended || timeout == "" || timeout == "0" {
			return list
		}
		select {
		case <-news:
		case <-ctx.Done():
			return list
		}
	}
}

// show keeps what is shown to a person.
func (g *Telegram) show(method string, r *http.Request) {
	one := Sent{Method: method, Chat: r.FormValue("chat_id"), Text: r.FormValue("text") + r.FormValue("caption")}
	if file, _, err := r.FormFile("photo"); err == nil {
		one.Picture, _ = io.ReadAll(file)
		_ = file.Close()
	}
	var markup struct {
		Rows [][]struct {
			Data string `json:"callback_data"`
		} `json:"inline_keyboard"`
	}
	if json.Unmarshal([]byte(r.FormValue("reply_markup")), &markup) == nil {
		for _, row := range markup.Rows {
			for _, b := range row {
				one.Buttons = append(one.Buttons, b.Data)
			}
		}
	}
	g.change(func() { g.sent = append(g.sent, one) })
}
