package ws

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// Limits of a connection (websocket-facts 1 and 7).
const (
	pingEvery       = 50 * time.Second
	messagesASecond = 5000
	maxMessage      = api.MaxBody
)

// connection is one socket. Its own goroutine reads and carries out messages, one after the other;
// a second one writes.
type connection struct {
	hub     *Hub
	on      *websocket.Conn // reads, and answers pings and closes
	line    *line           // below it; all other frames are written here
	packs   bool            // the client takes compressed frames
	session api.Session
	topics  map[Topic]struct{} // guarded by hub.mu
	pace    pace
	backlog backlog

	mu     sync.Mutex // guards everything below
	silent bool       // by a fault: nothing is written any more
	held   *outgoing  // by a fault, until after the next frame
}

func newConnection(h *Hub, on *websocket.Conn, below *taken, peer netip.Addr) *connection {
	on.SetReadLimit(maxMessage)
	return &connection{hub: h, on: on, line: below.line, packs: below.packs(), session: api.Session{Peer: peer},
		topics: map[Topic]struct{}{}, backlog: backlog{ready: make(chan struct{}, 1)}}
}

// serve reads and answers until the connection ends.
func (c *connection) serve(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var others sync.WaitGroup
	others.Go(func() {
		defer cancel()
		c.write(ctx)
	})
	others.Go(func() { c.ping(ctx) })
	defer others.Wait()
	defer c.on.CloseNow()
	defer cancel()
	for {
		_, frame, err := c.on.Read(ctx)
		if err != nil {
			return
		}
		c.take(ctx, frame)
	}
}

// ping pings the client now and then, with the payload that the real exchange sends. A client that
// does not answer keeps its connection.
func (c *connection) ping(ctx context.Context) {
	every := time.NewTicker(pingEvery)
	defer every.Stop()
	frame := appendFrame(nil, pingFrame, []byte("ping"))
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			if _, err := c.line.Write(frame); err != nil {
				return
			}
		}
	}
}

// write writes the backlog until the connection ends.
func (c *connection) write(ctx context.Context) {
	var portion []outgoing
	var frames []byte
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.backlog.ready:
		}
		for portion = c.backlog.take(portion); portion != nil; portion = c.backlog.take(portion) {
			var goesOn bool
			if frames, goesOn = c.writePortion(ctx, portion, frames[:0]); !goesOn {
				return
			}
			if cap(frames) > 4*onePortion {
				frames = nil
			}
		}
	}
}

// writePortion writes messages with as few writes as their faults let it, in the memory of frames.
// It reports whether the connection goes on.
func (c *connection) writePortion(ctx context.Context, portion []outgoing, frames []byte) ([]byte, bool) {
	for i := range portion {
		one := &portion[i]
		if !one.plain() {
			if !c.flush(frames) {
				return frames, false
			}
			frames = frames[:0]
			if one.due != 0 {
				c.wait(ctx, one.due, one.over)
			}
			if one.cut {
				_, _ = c.line.Write(appendFrame(nil, textFrame, one.text)[:2+len(one.text)/2])
			}
			if one.end {
				c.line.Close()
				return frames, false
			}
		}
		frames = c.appendMessage(frames, one.message)
		if one.twice {
			frames = c.appendMessage(frames, one.message)
		}
	}
	return frames, c.flush(frames)
}

// appendMessage appends the frame of a message.
func (c *connection) appendMessage(frames []byte, m *message) []byte {
	if c.packs && len(m.text) >= packFrom {
		return appendFrame(frames, packedFrame, m.deflated(&c.hub.packers))
	}
	return appendFrame(frames, textFrame, m.text)
}

// flush writes frames. It reports whether the connection goes on.
func (c *connection) flush(frames []byte) bool {
	if len(frames) == 0 {
		return true
	}
	_, err := c.line.Write(frames)
	return err == nil
}

// wait returns when the exchange's time is t, and before where the connection or the script of
// faults ends.
func (c *connection) wait(ctx context.Context, t market.Time, over <-chan struct{}) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ends := make(chan struct{})
	go func() {
		defer close(ends)
		select {
		case <-ctx.Done():
		case <-over:
		}
	}()
	c.hub.host.Wait(t, ends)
}

// frameOf is a message for the faults.
func (c *connection) frameOf(t Topic) fault.Frame {
	if t.Channel == 0 {
		return fault.Frame{Channel: "reply", Account: c.session.Account()}
	}
	f := fault.Frame{Channel: channelNames[t.Channel], Account: t.Account}
	if t.Market != 0 {
		f.Market = c.hub.catalog.Market(t.Market).Name
	}
	return f
}

// send sends a message, as the faults have it.
func (c *connection) send(m *message) {
	one := outgoing{message: m}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.silent {
		return
	}
	if script := c.hub.host.Sockets(); script != nil {
		now := c.hub.host.Now()
		e := script.Strike(c.frameOf(m.topic), now)
		one.end, one.cut, one.twice, c.silent = e.End, e.Cut, e.Twice, e.Silence
		if e.Delay > 0 {
			one.due, one.over = now.Add(e.Delay), e.Over
		}
		if e.Swap && c.held == nil {
			c.held = &one
			return
		}
		if e.Skip || c.silent {
			return
		}
	}
	c.push(&one)
	if c.held != nil {
		c.push(c.held)
		c.held = nil
	}
}

// push adds a message to the backlog. A client that reads too slowly loses its connection, not an
// event in the middle.
func (c *connection) push(one *outgoing) {
	if !c.backlog.push(one) {
		go c.on.CloseNow() // a write may be under way
	}
}

// take carries out the message of a frame and answers it.
func (c *connection) take(ctx context.Context, frame []byte) {
	now := c.hub.host.Now()
	m, isJSON := api.ParseMessage(frame)
	switch {
	case !c.pace.allows(time.Now()):
		c.refuse(&m, exchange.ErrCode(112))
	case !isJSON:
		c.refuse(&api.Message{}, &exchange.Error{Code: exchange.CodeBadJSON, Message: "Invalid JSON."})
	case m.Action == "authenticate":
		c.authenticate(&m)
	case m.Action == "subscribe", m.Action == "unsubscribe":
		refusal := c.hub.door.Charge(&c.session, now)
		if refusal == nil {
			refusal = c.subscribe(&m)
		}
		if refusal != nil {
			m.Market = ""
			c.refuse(&m, refusal)
		}
	default:
		c.act(ctx, &m)
	}
}

// authenticate answers the message of that name.
func (c *connection) authenticate(m *api.Message) {
	now := c.hub.host.Now()
	refusal := c.hub.door.Charge(&c.session, now)
	before := c.session.Account()
	if refusal == nil {
		refusal = c.hub.door.Authenticate(&c.session, m, now)
	}
	if account := c.session.Account(); account != before {
		c.hub.forget(c, before)
	}
	if refusal != nil {
		c.refuse(m, refusal)
		return
	}
	w := answer("event", "authenticate", m)
	w.Boolean("authenticated", true)
	w.Close('}')
	c.send(&message{text: w.Dst})
}

// act carries out an action that an endpoint serves over HTTP too.
func (c *connection) act(ctx context.Context, m *api.Message) {
	d := c.hub.door
	q := d.NewRequest()
	defer d.Release(q)
	if q.Endpoint = d.Table.ForAction(m.Action); q.Endpoint == nil {
		refusal := d.Charge(&c.session, c.hub.host.Now())
		if refusal == nil {
			refusal = exchange.ErrCode(415)
		}
		c.refuse(&api.Message{Action: "unknown", RequestID: m.RequestID}, refusal)
		return
	}
	refusal, lost := c.carryOutAction(ctx, q, m)
	if lost {
		c.line.Close()
		return
	}
	if refusal != nil {
		c.refuse(m, refusal)
		return
	}
	q.Gather()
	w := answer("action", m.Action, m)
	w.Key("response")
	if len(q.Out) == 0 { // responseRequired is false: over HTTP the body is empty
		q.Out = append(q.Out, '{', '}')
	}
	w.Dst = append(append(w.Dst, q.Out...), '}')
	c.send(&message{text: w.Dst})
}

// carryOutAction carries out an action, as the faults that meet requests have it. It reports
// whether they end the connection in place of an answer.
func (c *connection) carryOutAction(ctx context.Context, q *api.Request, m *api.Message) (refusal *exchange.Error,
	lost bool) {
	host := c.hub.host
	var decided *fault.Decision
	if script := host.Requests(); script != nil {
		decided = script.ChooseAction(q, &c.session, m.Market, host.Now())
	}
	if decided != nil && decided.Before > 0 {
		c.wait(ctx, host.Now().Add(decided.Before), decided.Over)
	}
	if decided.EndsSocket(false) {
		return nil, true
	}
	if refusal = c.hub.door.Take(q, &c.session, m, host.Now()); refusal == nil {
		refusal = decided.Refuse(host.Now())
	}
	if refusal == nil {
		refusal = host.CarryOut(&q.Call)
	}
	if decided != nil && decided.After > 0 {
		c.wait(ctx, host.Now().Add(decided.After), decided.Over)
	}
	if refusal == nil {
		refusal = decided.Denies(host.Now())
	}
	return refusal, decided.EndsSocket(true)
}

// answer begins an answer to a message.
func answer(member, name string, m *api.Message) wire.Writer {
	w := wire.Writer{Dst: make([]byte, 0, 256)}
	w.Open('{')
	w.Text(member, name)
	if m.RequestID != "" {
		w.Key("requestId")
		w.Dst = append(w.Dst, m.RequestID...)
	}
	return w
}

// refuse answers a message with an error (websocket-facts 7). The connection stays open.
func (c *connection) refuse(m *api.Message, refusal *exchange.Error) {
	w := wire.Writer{}
	if w.Open('{'); m.Action != "" {
		w = answer("action", m.Action, m)
	}
	if m.Market != "" {
		w.Text("market", api.Clip(m.Market))
	}
	if m.OrderID != "" { // clients wait for an answer with it
		w.Text("orderId", api.Clip(m.OrderID))
	}
	w.Integer("errorCode", int64(refusal.Code))
	w.Text("error", refusal.Message)
	w.Close('}')
	c.send(&message{text: w.Dst})
}

// pace counts the messages of a second of the machine's clock.
type pace struct {
	second int64
	count  int
}

// allows reports whether one more message may come.
func (p *pace) allows(now time.Time) bool {
	if second := now.Unix(); p.second != second {
		p.second, p.count = second, 0
	}
	p.count++
	return p.count <= messagesASecond
}
