package runner

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// sockets are those of all lives of a bot on a stage.
type sockets struct {
	mu     sync.Mutex
	open   map[*bottest.Cable]*wire
	chance *rand.Rand
	count  int                      // of handshakes that were answered
	lie    func(text []byte) []byte // changes a message of the exchange; nil: nothing
	lose   func(method string) bool // a write of the bot never arrives; nil: all do
}

// socketWrites are the methods of the actions that write orders.
var socketWrites = map[string]string{"privateCreateOrder": http.MethodPost, "privateUpdateOrder": http.MethodPut,
	"privateCancelOrder": http.MethodDelete}

// handshake opens a socket in memory.
func (w *wire) handshake(r *http.Request) (*http.Response, error) {
	time.Sleep(trip)
	w.handlers.Add(1)
	l := &line{wire: w, asked: map[string]*passage{}}
	answer, cable := bottest.DialCable(w.ex, r, l.carry, w.handlers.Done)
	if cable == nil {
		return answer, nil
	}
	s := &w.sockets
	s.mu.Lock()
	s.open[cable] = w
	s.count++
	s.mu.Unlock()
	if _, alive := w.alive(); !alive || w.isDown() {
		s.cut(func(c *bottest.Cable, _ *wire) bool { return c == cable })
		return nil, errWire
	}
	return answer, nil
}

// cut cuts some sockets.
func (s *sockets) cut(which func(*bottest.Cable, *wire) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c, w := range s.open {
		if which(c, w) {
			delete(s.open, c)
			c.Cut()
		}
	}
}

// travels is how long a frame is on its way: mostly as long as a request, sometimes longer, so that
// events come before and after the answers that tell the same.
func (s *sockets) travels() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.chance.IntN(8) == 0 {
		return time.Duration(s.chance.Int64N(int64(120 * time.Millisecond)))
	}
	return time.Duration(s.chance.Int64N(int64(2 * trip)))
}

// line is one socket of a life of the bot.
type line struct {
	*wire

	guard sync.Mutex
	asked map[string]*passage // writes that the exchange has not answered, by requestId
}

// carry is a bottest.Pass.
func (l *line) carry(fromServer bool, text []byte) ([]byte, time.Duration) {
	travels := l.sockets.travels()
	if fromServer {
		return l.bring(text), travels
	}
	return l.take(text), travels
}

// message is a message as far as its sender and receiver are told apart by it.
type message struct {
	Action    string
	RequestID json.Number `json:"requestId"`
}

// take looks at a message of the bot, as RoundTrip does at a write.
func (l *line) take(text []byte) []byte {
	var m message
	_ = json.Unmarshal(text, &m)
	method := socketWrites[m.Action]
	store, alive := l.alive()
	if method == "" || !alive || l.quiet {
		return text
	}
	p := l.leave(method, text)
	l.guard.Lock()
	l.asked[m.RequestID.String()] = p
	l.guard.Unlock()
	l.examineMessage(text, store, p)
	l.call(&http.Request{Method: method}, true)
	if _, alive = l.alive(); !alive || l.sockets.lose != nil && l.sockets.lose(method) {
		return nil
	}
	return text
}

// bring looks at a message for the bot.
func (l *line) bring(text []byte) []byte {
	var m message
	_ = json.Unmarshal(text, &m)
	l.guard.Lock()
	p := l.asked[m.RequestID.String()]
	delete(l.asked, m.RequestID.String())
	l.guard.Unlock()
	if p != nil {
		l.carriedOut(p)
		l.call(&http.Request{Method: p.method}, false)
	}
	if _, alive := l.alive(); !alive {
		return nil
	}
	l.sockets.mu.Lock()
	lie := l.sockets.lie
	l.sockets.mu.Unlock()
	if lie != nil {
		return lie(text)
	}
	l.hearMessage(text)
	return text
}

// examineMessage holds a write over the socket against what the bot must do, as examine does.
func (w *wire) examineMessage(text []byte, store *journal.Store, p *passage) {
	members := membersOf(text)
	name, _ := members["clientOrderId"].(string)
	w.mu.Lock()
	w.count++
	identity := p.method + " over a socket: " + string(text)
	if p.method == http.MethodPost {
		if w.placed[name] {
			w.t.Errorf("placed twice: %s", identity)
		}
		w.placed[name] = true
	}
	w.sentWrite(p)
	w.mu.Unlock()
	if !intendedAs(store, name, func(i *journal.Intent) bool {
		return i.Method == p.method &&
			saysTheSame(i, members)
	}) {
		if _, alive := w.alive(); alive {
			w.t.Errorf("%s left before its intent was in the state file", identity)
		}
	}
}

// membersOf are the members of a message but action and requestId.
func membersOf(text []byte) (members map[string]any) {
	_ = json.Unmarshal(text, &members)
	delete(members, "action")
	delete(members, "requestId")
	return members
}

// saysTheSame reports whether an intent asks for what a message does.
func saysTheSame(i *journal.Intent, members map[string]any) bool {
	if len(i.Body) > 0 {
		want := membersOf(i.Body)
		return len(want) == len(members) && !slices.ContainsFunc(keys(want), func(key string) bool {
			return want[key] != members[key]
		})
	}
	_, query, _ := strings.Cut(i.Path, "?")
	values, err := url.ParseQuery(query)
	return err == nil && len(values) == len(members) && !slices.ContainsFunc(keys(members), func(key string) bool {
		n, isNumber := members[key].(float64)
		return values.Get(key) != members[key] && !(isNumber && values.Get(key) == strconv.FormatFloat(n, 'f', -1, 64))
	})
}

func keys(m map[string]any) (all []string) {
	for key := range m {
		all = append(all, key)
	}
	return all
}

// hearMessage takes in what a message tells the bot of prices. Fills in it only lead to a
// question: those in the answer count.
func (t *traffic) hearMessage(text []byte) {
	var m struct {
		Event     string
		LastPrice string
		Candle    [][]json.RawMessage
	}
	if json.Unmarshal(text, &m) != nil || t.gauge.money == 0 && m.Event != "ticker" {
		return
	}
	day := int64(0)
	if t.gauge.money > 0 {
		day = t.gauge.auditor.Now().Day()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case m.Event == "ticker":
		t.heard = time.Now()
		if m.LastPrice == "" {
			return
		}
		t.price = number(m.LastPrice)
		t.hearPrice(t.price)
	case m.Event == "candle":
		t.hearRows(m.Candle)
	default:
		return
	}
	if t.gauge.money > 0 {
		t.reckon(day)
	}
}
