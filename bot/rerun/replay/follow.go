package replay

import (
	"context"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/bot/rerun/core"
	"github.com/tidemark-trading/tidemark/bot/rerun/reader"
	"github.com/tidemark-trading/tidemark/internal/goroutine"
	"github.com/tidemark-trading/tidemark/strategy"
)

// Turn is a commit of a running bot: the number of its last journal entry, and its commands.
type Turn struct {
	To       uint64
	Commands []Command
}

// Following is how the records of a running bot are replayed while it writes them.
type Following struct {
	Kinds []strategy.Definition
	// Blocks returns the next blocks of the recording, and io.EOF at the end: recording.ReadBlocks.
	// Turns before these blocks have come by Turns.
	Blocks func() ([]byte, error)
	// Turns returns the turns that have come since its last call.
	Turns func() []Turn
	// Change makes another engine of what the bot was made of; nil: the same.
	Change func(*core.Manifest) (*core.Manifest, error)
	// Compared is called with the report so far, before each call of Blocks.
	Compared func(*Verdict) error
}

// Follow replays until the records end, or until the first command that differs. A turn that has
// not come, and records that are missing, leave commands unchecked.
func Follow(ctx context.Context, f *Following) (r *Verdict, err error) {
	p := &player{kinds: f.Kinds, change: f.Change, apart: goroutine.Call, written: &streamed{turns: f.Turns},
		report: newReport(), resumption: resumption{forgetful: map[uuid.UUID]bool{}}}
	err = p.walk(ctx, reader.Source{Blocks: func() ([]byte, error) {
		if err := f.Compared(p.done()); err != nil {
			return nil, err
		}
		return f.Blocks()
	}})
	return p.done(), err
}

// streamed is the commands of a running bot, as they come: a written.
type streamed struct {
	turns   func() []Turn
	waiting []Turn
}

// skipTo is of written: what is skipped is found by the turns.
func (*streamed) skipTo(uint64) (int, error) { return 0, nil }

// turn is of written. A commit that fails ends the bot, and its records with it.
func (s *streamed) turn(_ uuid.UUID, _, to uint64) (t turn, done bool, err error) {
	s.waiting = append(s.waiting, s.turns()...)
	for len(s.waiting) > 0 && s.waiting[0].To <= to {
		first := s.waiting[0]
		s.waiting = s.waiting[1:]
		if first.To == to {
			t.commands, t.whole = first.Commands, true
		} else {
			t.missed += len(first.Commands) // its records are lost
		}
	}
	return t, true, nil
}

// close is of written.
func (*streamed) close() {}
