package canary

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/tidemark-trading/tidemark/bot/rerun/core"
	"github.com/tidemark-trading/tidemark/bot/rerun/replay"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Player is the child's side: it replays what comes over the pipe.
type Player struct {
	Hello
	Kinds []strategy.Definition
	// Change makes another engine of what the bot was made of, and returns the hash of its
	// settings; nil: the same.
	Change func(*core.Manifest) (made *core.Manifest, hash string, err error)
}

// Play replays the frames of in and writes its answers to out, until the frames end or a command
// differs. The error stands in the last answer too.
func (p *Player) Play(ctx context.Context, in io.Reader, out io.Writer) error {
	answers := json.NewEncoder(out)
	p.Canary = protocol
	if err := answers.Encode(&p.Hello); err != nil {
		return err
	}
	frames := &frames{in: newReader(in)}
	last := Progress{}
	f := replay.Following{Kinds: p.Kinds, Blocks: frames.blocks, Turns: frames.taken,
		Compared: func(r *replay.Verdict) error {
			last.Verdict = r
			return answers.Encode(&last)
		}}
	if p.Change != nil {
		f.Change = func(m *core.Manifest) (made *core.Manifest, err error) {
			made, last.Config, err = p.Change(m)
			return made, err
		}
	}
	r, err := replay.Follow(ctx, &f)
	last.Verdict = r
	if err != nil {
		last.Error = err.Error()
	}
	if err = errors.Join(err, answers.Encode(&last)); err == nil {
		_, err = io.Copy(io.Discard, in) // the bot need not know how far its answers have been read
	}
	return err
}

// frames reads the frames of the pipe.
type frames struct {
	in    *bufio.Reader
	front [frameFront]byte
	data  []byte
	turns []replay.Turn
}

func newReader(in io.Reader) *bufio.Reader { return bufio.NewReaderSize(in, 1<<16) }

// blocks is the next frame with blocks. It keeps the turns before it.
func (f *frames) blocks() ([]byte, error) {
	for {
		if _, err := io.ReadFull(f.in, f.front[:]); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				err = io.EOF // the bot was killed
			}
			return nil, err
		}
		size := binary.LittleEndian.Uint32(f.front[1:])
		if size > maxFrame {
			return nil, fmt.Errorf("canary: a frame of %d bytes", size)
		}
		f.data = append(f.data[:0], make([]byte, size)...)
		if _, err := io.ReadFull(f.in, f.data); err != nil {
			return nil, io.EOF
		}
		switch f.front[0] {
		case frameBlocks:
			return f.data, nil
		case frameTurn:
			if err := f.turn(); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("canary: a frame of kind %q", f.front[0])
		}
	}
}

func (f *frames) turn() error {
	if len(f.data) < 8 {
		return fmt.Errorf("canary: a turn of %d bytes", len(f.data))
	}
	t := replay.Turn{To: binary.LittleEndian.Uint64(f.data)}
	if text := f.data[8:]; len(text) > 0 {
		if err := json.Unmarshal(text, &t.Commands); err != nil {
			return fmt.Errorf("canary: the commands of a turn: %w", err)
		}
	}
	f.turns = append(f.turns, t)
	return nil
}

// taken are the turns that have come since the last call.
func (f *frames) taken() (turns []replay.Turn) {
	turns, f.turns = f.turns, nil
	return turns
}
