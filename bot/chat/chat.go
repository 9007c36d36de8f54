package chat

import (
	"context"
	"errors"
	"time"
)

// Messenger carries messages between persons and a Server. The Server calls Receive in one
// goroutine and Send in another. It logs the errors, so they must hold no secret.
type Messenger interface {
	// Receive waits for the next message. A message that it has returned may come again in the same
	// process, but never after a restart. After an error it is called again later; io.EOF says that
	// no message will come any more.
	Receive(ctx context.Context) (Message, error)
	// Send sends a reply. After an error it is called again later with the same reply, unless the
	// error wraps ErrRefused.
	Send(ctx context.Context, reply *Reply) error
}

// ErrRefused is wrapped by an error of Send that another attempt would not change.
var ErrRefused = errors.New("refused for good")

// BusyError asks the Server to call again after a while, no sooner.
type BusyError struct {
	After time.Duration
	Err   error
}

// Error is the text of the cause.
func (e *BusyError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *BusyError) Unwrap() error { return e.Err }

// Message is a message of a person.
type Message struct {
	ID   string    // a message that comes twice has the same one; empty: each comes once
	Chat string    // where it was written: the replies go there
	User string    // the writer's id
	Name string    // of the writer, for the journal
	At   time.Time // when it was written; zero: just now
	Text string    // a command, like "/status"
}

// Reply is the answer to a message.
type Reply struct {
	To      Message
	Text    string   // plain, in lines; below the picture if there is one
	Picture []byte   // a PNG; nil: none
	Buttons []Button // a Messenger without buttons leaves them out: the text has their commands, too
}

// Button sends a text as if the person who sees it had typed it.
type Button struct{ Title, Text string }

// Line is a messenger with the persons who may use it.
type Line struct {
	Name      string // as in telegram, for log and journal
	Messenger Messenger
	Chats     []string // that are answered
	Users     []string // that are answered in these chats; empty: all
	Act       bool     // halt, resume and flatten are carried out
	// Confirm is how long a confirmation is open; 0: a minute.
	Confirm time.Duration
}
