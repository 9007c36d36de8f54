package bottest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// Cable is a WebSocket in memory between a client and a handler: without a network, so that a
// bubble of testing/synctest can hold it. Each frame can be read, changed and delayed on its way.
type Cable struct {
	pass   Pass
	client *end // what the client writes goes to the handler, and the other way round
	server *end
	work   sync.WaitGroup
}

// Pass is called with the text of each frame of text that travels on a cable, before it arrives. It
// returns the text that arrives, nil for none, and how long it travels: a frame never overtakes
// another of its direction.
type Pass func(fromServer bool, text []byte) ([]byte, time.Duration)

// IsHandshake reports whether a request asks for a WebSocket.
func IsHandshake(r *http.Request) bool {
	return strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// DialCable lets a handler answer a handshake. Where it takes the connection over, the body of the
// answer is the client's end of the cable; otherwise there is no cable. Frames are not compressed.
// over is called when ServeHTTP has returned and nothing travels any more.
func DialCable(h http.Handler, r *http.Request, pass Pass, over func()) (*http.Response, *Cable) {
	arriving := httptest.NewRequest(r.Method, r.URL.RequestURI(), nil)
	arriving.Header, arriving.RemoteAddr = r.Header.Clone(), "192.0.2.1:1234"
	arriving.Header.Del("Sec-WebSocket-Extensions")
	toServer, toClient := newFlow(), newFlow()
	c := &Cable{pass: pass, client: &end{in: newFlow(), out: toServer}, server: &end{in: newFlow(), out: toClient}}
	w := &handshake{ResponseRecorder: httptest.NewRecorder(), conn: c.server, taken: make(chan struct{})}
	served := make(chan struct{})
	c.work.Go(func() {
		defer close(served)
		h.ServeHTTP(w, arriving)
	})
	select {
	case <-w.taken:
	case <-served:
		over()
		return w.Result(), nil
	}
	c.carry(toServer, c.server.in, false)
	c.carry(toClient, c.client.in, true)
	go func() {
		c.work.Wait()
		over()
	}()
	answer := w.Result()
	answer.Request, answer.Body = r, c.client
	return answer, c
}

// Cut ends the connection for both sides, with everything that is on its way. Pass may call it.
func (c *Cable) Cut() {
	for _, e := range []*end{c.client, c.server} {
		e.in.end(true)
		e.out.end(true)
	}
}

// handshake is an http.ResponseWriter whose connection is the handler's end of a cable.
type handshake struct {
	*httptest.ResponseRecorder
	conn  *end
	taken chan struct{}
}

// Hijack is of http.Hijacker.
func (h *handshake) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	close(h.taken)
	return h.conn, bufio.NewReadWriter(bufio.NewReader(h.conn), bufio.NewWriter(h.conn)), nil
}

// end is one side's end of a cable.
type end struct {
	net.Conn // no method of it is called but those below
	in, out  *flow
}

func (e *end) Read(p []byte) (int, error)  { return e.in.read(p) }
func (e *end) Write(p []byte) (int, error) { return e.out.write(p) }

// Close lets the other side read what was written before, and then the end.
func (e *end) Close() error {
	e.in.end(true)
	e.out.end(false)
	return nil
}

// flow is bytes on their way, as many as there are. It is safe for concurrent use.
type flow struct {
	mu    sync.Mutex // guards everything below
	grown sync.Cond
	bytes []byte
	over  bool
}

func newFlow() *flow {
	f := &flow{}
	f.grown.L = &f.mu
	return f
}

func (f *flow) write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return 0, net.ErrClosed
	}
	f.bytes = append(f.bytes, p...)
	f.grown.Broadcast()
	return len(p), nil
}

func (f *flow) read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.bytes) == 0 && !f.over {
		f.grown.Wait()
	}
	if len(f.bytes) == 0 {
		return 0, io.EOF
	}
	n := copy(p, f.bytes)
	f.bytes = f.bytes[n:]
	return n, nil
}

// end ends the flow; lost: what was not read is gone.
func (f *flow) end(lost bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over = true; lost {
		f.bytes = nil
	}
	f.grown.Broadcast()
}

// carry carries one direction, frame by frame.
func (c *Cable) carry(from, to *flow, fromServer bool) {
	type moving struct {
		bytes []byte
		due   time.Time
	}
	var mu sync.Mutex
	var queue []moving
	more := make(chan struct{}, 1)
	push := func(bytes []byte, due time.Time) {
		mu.Lock()
		queue = append(queue, moving{bytes, due})
		mu.Unlock()
		select {
		case more <- struct{}{}:
		default:
		}
	}
	c.work.Go(func() {
		defer close(more)
		source := bufio.NewReader(&end{in: from})
		for {
			f, err := readFrame(source)
			if err != nil { // the end, perhaps in the middle of a frame
				push(f.bytes, time.Time{})
				return
			}
			took := time.Duration(0)
			if f.isText {
				if f.text, took = c.pass(fromServer, f.text); f.text == nil {
					continue
				}
			}
			push(f.encode(), time.Now().Add(took))
		}
	})
	c.work.Go(func() {
		defer to.end(false)
		for open := true; open; {
			_, open = <-more
			mu.Lock()
			due := queue
			queue = nil
			mu.Unlock()
			for _, one := range due {
				time.Sleep(time.Until(one.due))
				if _, err := to.write(one.bytes); err != nil {
					return
				}
			}
		}
	})
}

// frame is a frame of a WebSocket (RFC 6455).
type frame struct {
	head   byte
	isText bool // whole, and in one frame
	masked bool
	text   []byte // payload, without its mask
	bytes  []byte // as far as it was read
}

// readFrame reads a frame. With an error, its bytes are those that came before the end.
func readFrame(r *bufio.Reader) (f frame, err error) {
	read := func(n int) (part []byte) {
		if err == nil {
			part = make([]byte, n)
			n, err = io.ReadFull(r, part)
			f.bytes = append(f.bytes, part[:n]...)
		}
		return part
	}
	start := read(2)
	if err != nil {
		return f, err
	}
	f.head, f.isText, f.masked = start[0], start[0] == 0x81, start[1]&0x80 != 0
	size := uint64(start[1] & 0x7f)
	switch size {
	case 126:
		size = uint64(binary.BigEndian.Uint16(append(read(2), 0, 0)))
	case 127:
		size = binary.BigEndian.Uint64(append(read(8), make([]byte, 8)...))
	}
	var mask []byte
	if f.masked {
		mask = read(4)
	}
	const most = 1 << 24
	f.text = read(int(min(size, most)))
	for i := range f.text {
		if f.masked && err == nil {
			f.text[i] ^= mask[i%4]
		}
	}
	return f, err
}

// encode is the bytes of a frame; a mask becomes that of zeros.
func (f *frame) encode() []byte {
	var mask byte
	if f.masked {
		mask = 0x80
	}
	b := bytes.NewBuffer([]byte{f.head})
	switch n := len(f.text); {
	case n < 126:
		b.WriteByte(mask | byte(n))
	case n < 1<<16:
		b.Write(binary.BigEndian.AppendUint16([]byte{mask | 126}, uint16(n)))
	default:
		b.Write(binary.BigEndian.AppendUint64([]byte{mask | 127}, uint64(n)))
	}
	if f.masked {
		b.Write(make([]byte, 4))
	}
	b.Write(f.text)
	return b.Bytes()
}
