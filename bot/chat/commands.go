package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// command is a command of a chat.
type command struct {
	name string
	args string // as the help shows them
	most int    // how many words may follow the name
	says string
	run  func(ctx context.Context, m *Message, args []string) (*Reply, error)
}

// commands lists the commands in the order of the help.
func (s *Server) commands() []command {
	return []command{
		{"status", "", 0, "how the bot stands", s.status},
		{"profit", "[day|week|month|year|strategy|market|tag]", 1, "what it has earned", s.profit},
		{"positions", "", 0, "what its strategies hold", s.positions},
		{"orders", "", 0, "its open orders", s.orders},
		{"explain", "ORDER", 1, "the story of an order", s.explain},
		{"chart", "[48h|30d]", 1, "equity and drawdown as a picture", s.chart},
		{"halt", "[STRATEGY]", 1, "stop a strategy, or all, at once", s.halt},
		{"resume", "[STRATEGY]", 1, "let it trade again, once confirmed", s.resume},
		{"flatten", "[STRATEGY]", 1, "halt it and sell what it holds, once confirmed", s.flatten},
		{"help", "", 0, "this list", s.help},
		{"yes", "", 1, "", s.yes}, // the buttons of a confirmation
		{"no", "", 1, "", s.no},
		{"start", "", 1, "", s.help}, // what Telegram sends first
	}
}

// take answers a message, or leaves it unanswered.
func (s *Server) take(ctx context.Context, m *Message) {
	now := s.Now()
	if !s.guests.allowed(m) {
		if s.guests.strange(m, now) {
			s.Log.Warn().Str("line", s.Name).Str("chat", short(m.Chat)).Str("user", short(m.User)).
				Msg("chat: no answer to a chat or user that is not allowed")
		}
		return
	}
	if s.seen.again(m.ID, now) {
		return
	}
	if old := tooOld(m, now); old != "" {
		s.refuseOld(m, old, now)
		return
	}
	reply, err := s.answer(ctx, m)
	if err != nil {
		reply = &Reply{Text: err.Error()}
	}
	reply.To = *m
	s.reply(reply)
}

// tooOld says why a message is not carried out because of its time; empty: it is of now.
func tooOld(m *Message, now time.Time) string {
	switch age := now.Sub(m.At); {
	case m.At.IsZero():
	case age > maxAge:
		return fmt.Sprintf("This message is %s old, so it was not carried out. Send it again.", age.Round(time.Second))
	case age < -maxAge:
		return fmt.Sprintf("This message is %s ahead of the clock of the bot's machine, so it was not carried out. "+
			"Set that clock.", (-age).Round(time.Second))
	}
	return ""
}

// refuseOld answers a message that is too old, once a minute in each chat: many may have piled up.
func (s *Server) refuseOld(m *Message, why string, now time.Time) {
	if last, told := s.tooOld[m.Chat]; told && now.Sub(last) < time.Minute {
		return
	}
	s.tooOld[m.Chat] = now
	s.reply(&Reply{To: *m, Text: why + " The same goes for others as old."})
}

// answer carries out a command.
func (s *Server) answer(ctx context.Context, m *Message) (*Reply, error) {
	words := strings.Fields(m.Text)
	if len(words) == 0 || !strings.HasPrefix(words[0], "/") {
		return nil, errors.New("a command begins with a slash: /help lists them")
	}
	name := strings.ToLower(words[0][1:])
	list := s.commands()
	at := slices.IndexFunc(list, func(c command) bool { return c.name == name })
	if at < 0 {
		return nil, fmt.Errorf("there is no /%s; /help lists the commands", short(name))
	}
	c := &list[at]
	if len(words) > c.most+1 {
		return nil, fmt.Errorf("want /%s %s, without more words", c.name, c.args)
	}
	return c.run(ctx, m, words[1:])
}

// help lists the commands.
func (s *Server) help(context.Context, *Message, []string) (*Reply, error) {
	var text strings.Builder
	for _, c := range s.commands() {
		if c.says == "" || !s.Act && (c.name == "halt" || c.name == "resume" || c.name == "flatten") {
			continue
		}
		fmt.Fprintf(&text, "%s – %s\n", strings.TrimSpace("/"+c.name+" "+c.args), c.says)
	}
	if !s.Act {
		text.WriteString("This chat only looks.\n")
	}
	return &Reply{Text: text.String()}, nil
}

// short bounds a text of others for a log or an answer.
func short(text string) string {
	const most = 40
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// first is the first word; empty: there is none.
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
