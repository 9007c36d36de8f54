package door

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemark-trading/tidemark/state/signals"
)

// againTime is the pause before a row is given to a bot again that did not hear it.
const againTime = time.Second

// Lines gives a bot the lines of one source: JSON objects, or a CSV with its header.
type Lines struct {
	Source string
	Sender *signals.Sender
	Ear    signals.Ear
	Proof  string
	Log    zerolog.Logger

	headed bool // the header has come
}

// take reads a line and gives the bot its signals. The error is that of ctx.
func (l *Lines) take(ctx context.Context, line []byte) error {
	for _, a := range l.read(line) {
		if err := l.hear(ctx, &a); err != nil {
			return err
		}
	}
	return nil
}

// read is what a line says; nothing where it is the header, or is blank.
func (l *Lines) read(line []byte) []signals.Arrival {
	line = bytes.TrimSpace(line)
	switch {
	case len(line) == 0:
		return nil
	case line[0] == '{':
		return []signals.Arrival{l.Sender.JSON(line)}
	case l.headed:
		return l.Sender.Line(line)
	}
	if err := l.Sender.Header(line); err != nil {
		l.Log.Error().Str("source", l.Source).Err(err).
			Msg("the first line of signals is no header: no row below it counts")
	}
	l.headed = true
	return nil
}

// hear gives the bot an arrival, again and again while the bot does not hear. The error is that of
// ctx.
func (l *Lines) hear(ctx context.Context, a *signals.Arrival) error {
	a.Proof = l.Proof
	for said := false; ; said = true {
		heard, err := l.Ear.Hear(ctx, *a)
		if err == nil {
			if heard.Refused != "" {
				l.Log.Warn().Str("source", l.Source).Int64("signal", heard.Number).
					Msg("a signal is refused: " + heard.Refused)
			}
			return nil
		}
		if !said && ctx.Err() == nil {
			l.Log.Warn().Err(err).Str("source", l.Source).Msg("a signal waits until the bot hears it")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(againTime):
		}
	}
}

// lineReader reads lines of signals.MaxBody bytes at most.
type lineReader struct {
	in   *bufio.Reader
	read int64 // bytes of the lines that Next has returned
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(r, 2*signals.MaxBody)}
}

// errLong says that a line was too long. It is read over.
var errLong = errors.New("a line is longer than a signal may be; it is left out")

// next returns the next whole line with its end; io.EOF where there is none, or a part of one. The
// line is valid until the next call.
func (l *lineReader) next() (line []byte, err error) {
	size := 0
	for {
		line, err = l.in.ReadSlice('\n')
		size += len(line)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return line, err
		}
		if l.read += int64(size); size > signals.MaxBody+2 {
			return nil, errLong
		}
		return line, nil
	}
}
