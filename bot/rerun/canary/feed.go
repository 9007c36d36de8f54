package canary

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/tidemark-trading/tidemark/bot/rerun/replay"
)

// The frames of the pipe to the child: a byte that says what it is, the length as 4 bytes in little
// endian, and the content. The child answers with lines of JSON: Hello, then Progress after
// Progress.
const (
	frameBlocks byte = 'R' // of the recording
	frameTurn   byte = 'T' // 8 bytes: number of its last journal entry; then its commands as JSON, if any
	frameFront       = 5
	maxFrame         = 80 << 20
)

// protocol is the version of frames and answers.
const protocol = 1

// maxWaiting is how many bytes wait for a child that does not keep up. What comes meanwhile is
// dropped.
const maxWaiting = 16 << 20

// Hello is the first line of a child.
type Hello struct {
	Canary  int    `json:"canary"`  // the protocol
	Program string `json:"program"` // its version
}

// Progress is how far a child is.
type Progress struct {
	*replay.Verdict
	Config string `json:"config,omitempty"` // the hash of its settings; empty: those of the bot
	Error  string `json:"error,omitempty"`  // why it has ended; empty: it has not
}

// Feed hands the records of a bot to a child. Its methods may be called by any goroutine, and never
// wait for the child.
type Feed struct {
	mu      sync.Mutex
	more    sync.Cond // frames, or the end
	waiting []byte    // frames
	closed  bool      // nothing more comes
	dropped int       // frames that a child which does not keep up never gets
	ended   error     // why the child gets nothing more; nil: it does
	hello   Hello
	report  Progress
}

// newFeed returns a feed without a child.
func newFeed() *Feed {
	f := &Feed{}
	f.more.L = &f.mu
	return f
}

// Blocks hands over blocks of the recording: a recording.Options.Tee.
func (f *Feed) Blocks(blocks []byte) { f.put(frameBlocks, blocks, nil) }

// Turn hands over the commands of a turn, before the block that ends it.
func (f *Feed) Turn(to uint64, commands []replay.Command) {
	content := binary.LittleEndian.AppendUint64(nil, to)
	var text []byte
	if len(commands) > 0 {
		text, _ = json.Marshal(commands) // numbers and texts alone: it has no errors
	}
	f.put(frameTurn, content, text)
}

// put adds a frame, or drops it where too much waits.
func (f *Feed) put(kind byte, content, rest []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	size := len(content) + len(rest)
	switch {
	case f.closed || f.ended != nil:
		return
	case len(f.waiting)+frameFront+size > maxWaiting:
		f.dropped++
		return
	}
	f.waiting = binary.LittleEndian.AppendUint32(append(f.waiting, kind), uint32(size))
	f.waiting = append(append(f.waiting, content...), rest...)
	f.more.Signal()
}

// State is the state of the child.
type State struct {
	Hello
	Progress
	Dropped int   // frames that it did not get, because it did not keep up
	Ended   error // nil: it runs
}

// State returns what is known of the child.
func (f *Feed) State() State {
	f.mu.Lock()
	defer f.mu.Unlock()
	return State{f.hello, f.report, f.dropped, f.ended}
}

// Close ends the feed: the child gets what waits for it, and then the end.
func (f *Feed) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.more.Signal()
}

// write writes the frames to the child until the feed is closed, or the child has ended.
func (f *Feed) write(to io.WriteCloser) {
	var out []byte
	for {
		f.mu.Lock()
		for len(f.waiting) == 0 && !f.closed && f.ended == nil {
			f.more.Wait()
		}
		out, f.waiting = f.waiting, out[:0]
		end := len(out) == 0 || f.ended != nil
		f.mu.Unlock()
		if end {
			f.end(to.Close())
			return
		}
		if _, err := to.Write(out); err != nil {
			f.end(errors.Join(fmt.Errorf("the canary takes no more records: %w", err), to.Close()))
			return
		}
	}
}

// read reads the child's answers until their end.
func (f *Feed) read(from io.Reader) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 16<<20)
	err := f.readHello(lines)
	for err == nil && lines.Scan() {
		var r Progress
		if err = json.Unmarshal(lines.Bytes(), &r); err != nil {
			err = fmt.Errorf("an answer of the canary: %w", err)
			break
		}
		f.mu.Lock()
		f.report = r
		f.mu.Unlock()
		if r.Error != "" {
			err = fmt.Errorf("the canary has ended: %s", r.Error)
		}
	}
	f.end(errors.Join(err, lines.Err()))
	_, _ = io.Copy(io.Discard, from)
}

func (f *Feed) readHello(lines *bufio.Scanner) error {
	var h Hello
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &h) != nil || h.Canary != protocol {
		return fmt.Errorf("the canary is no program that replays records as this one does (protocol %d): it begins "+
			"with %.80q", protocol, lines.Text())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hello = h
	return nil
}

// end notes why the child gets nothing more; nil is no reason.
func (f *Feed) end(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended == nil && err != nil {
		f.ended, f.waiting = err, nil
	}
	f.more.Signal()
}
