package door

import (
	"context"
	"errors"
	"io"
)

// Pipe hears the lines of a standard input.
type Pipe struct {
	Lines
	From io.Reader
}

// Run reads until the input or ctx ends. A read that is under way when ctx ends stays behind: Go
// cannot end it.
func (p *Pipe) Run(ctx context.Context) error {
	type one struct {
		line []byte
		err  error
	}
	lines := make(chan one)
	go func() {
		defer close(lines)
		in := newLineReader(p.From)
		for {
			line, err := in.next()
			select {
			case lines <- one{append([]byte(nil), line...), err}:
			case <-ctx.Done():
				return
			}
			if err != nil && !errors.Is(err, errLong) {
				return
			}
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case got, more := <-lines:
			switch {
			case !more:
				return nil
			case errors.Is(got.err, errLong):
				p.Log.Error().Str("source", p.Source).Err(got.err).Msg("signals of the standard input")
			default:
				if err := p.take(ctx, got.line); err != nil {
					return nil // the bot ends
				}
				if got.err != nil {
					p.Log.Warn().Str("source", p.Source).Msg("the standard input has ended: it tells no more signals")
					return nil
				}
			}
		}
	}
}
