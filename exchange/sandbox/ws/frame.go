package ws

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"net"
	"net/http"
	"strings"
	"sync"
)

// The library reads a socket, makes the handshake and answers pings and closes. Data frames and the
// pings of the exchange are written here: a text that goes to many sockets is compressed once, many
// frames go out in one write, and a ping carries the word that it should.

// First bytes of a frame (RFC 6455, 5.2): the whole of a text, compressed (RFC 7692), and a ping.
const (
	textFrame   = 0x81
	packedFrame = 0xc1
	pingFrame   = 0x89
)

// packFrom is the length from which a text is compressed.
const packFrom = 512

// message is a text for one socket or many. It does not change.
type message struct {
	topic Topic // of an event; the zero value: an answer
	text  []byte
	days  string // of ticker24h: its markets

	once   sync.Once
	packed []byte // by deflated
}

// deflated is the text, compressed without the end that RFC 7692 leaves out. No message needs an
// earlier one to be read.
func (m *message) deflated(with *sync.Pool) []byte {
	m.once.Do(func() {
		var into bytes.Buffer
		w, _ := with.Get().(*flate.Writer)
		if w == nil {
			w, _ = flate.NewWriter(&into, flate.BestSpeed) // the level is a valid one
		}
		w.Reset(&into)
		_, _ = w.Write(m.text) // a buffer takes everything
		_ = w.Flush()
		with.Put(w)
		m.packed = into.Bytes()[:into.Len()-len("\x00\x00\xff\xff")]
	})
	return m.packed
}

// appendFrame appends a whole frame of a server.
func appendFrame(to []byte, first byte, payload []byte) []byte {
	switch n := len(payload); {
	case n < 126:
		to = append(to, first, byte(n))
	case n < 1<<16:
		to = binary.BigEndian.AppendUint16(append(to, first, 126), uint16(n))
	default:
		to = binary.BigEndian.AppendUint64(append(to, first, 127), uint64(n))
	}
	return append(to, payload...)
}

// line is the connection below a socket. One Write is one frame or several, and nothing comes
// between: the frames of the library, which writes from goroutines of its own, do not cut others.
type line struct {
	net.Conn
	mu sync.Mutex
}

// Write writes whole frames.
func (l *line) Write(frames []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Conn.Write(frames)
}

// taken keeps the connection that a handler takes over.
type taken struct {
	http.ResponseWriter
	line *line
}

// Hijack takes the connection over. Each control frame of the library, at most 127 bytes, is one
// Write of the line.
func (t *taken) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := http.NewResponseController(t.ResponseWriter).Hijack()
	if err == nil {
		err = buffers.Flush()
	}
	if err != nil {
		return nil, nil, err
	}
	t.line = &line{Conn: conn}
	return t.line, bufio.NewReadWriter(buffers.Reader, bufio.NewWriterSize(t.line, 256)), nil
}

// packs reports whether the handshake has agreed on compressed frames.
func (t *taken) packs() bool {
	return strings.HasPrefix(t.Header().Get("Sec-Websocket-Extensions"), "permessage-deflate")
}
