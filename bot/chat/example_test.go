package chat_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tidemark-trading/tidemark/bot/chat"
	"github.com/tidemark-trading/tidemark/bot/operator"
)

// lines is a messenger over a stream of lines, such as a terminal.
type lines struct {
	in  *bufio.Scanner
	out io.Writer
}

// Receive reads a line. There is one person at the other end, so chat and user are the same.
func (l *lines) Receive(context.Context) (chat.Message, error) {
	if !l.in.Scan() {
		return chat.Message{}, io.EOF
	}
	return chat.Message{Chat: "here", User: "me", Text: l.in.Text()}, nil
}

// Send prints a reply. A terminal shows neither pictures nor buttons: the text has what they say.
func (l *lines) Send(_ context.Context, reply *chat.Reply) error {
	_, err := fmt.Fprintf(l.out, "> %s\n%s", reply.To.Text, reply.Text)
	return err
}

// ExampleMessenger is a messenger of two methods. A program hands it over as
// bot.Process{Definitions: …, Chats: []chat.Line{…}}.Main(); here it is asked without a bot.
func ExampleMessenger() {
	terminal := &lines{bufio.NewScanner(strings.NewReader("/help\n/halt\n")), os.Stdout}
	chat.New(chat.Config{
		Line: chat.Line{Name: "terminal", Messenger: terminal, Chats: []string{"here"}},
		Of:   operator.Target{Folder: "bots/mine"}, Bot: "mine",
	}).Serve(context.Background())
	// Output:
	// > /help
	// /status – how the bot stands
	// /profit [day|week|month|year|strategy|market|tag] – what it has earned
	// /positions – what its strategies hold
	// /orders – its open orders
	// /explain ORDER – the story of an order
	// /chart [48h|30d] – equity and drawdown as a picture
	// /help – this list
	// This chat only looks.
	// > /halt
	// this chat only looks: the setting act is off
}
