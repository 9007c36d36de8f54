package chat

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/tidemark-trading/tidemark/bot/operator"
)

// actWait is how long a command waits for the exchange to confirm. Other messages wait as long.
const actWait = 20 * time.Second

// errLooks is the answer to a command that acts where the line only looks.
var errLooks = errors.New("this chat only looks: the setting act is off")

// act sends a command to the bot, and tells its report.
func (s *Server) act(ctx context.Context, m *Message, path, strategy string) (string, error) {
	by, from := fmt.Sprintf("%s user %s", s.Name, writer(m)), fmt.Sprintf("%s chat %s", s.Name, m.Chat)
	s.Log.Info().Str("command", strings.TrimPrefix(path, "/")).Str("strategy", strategy).Str("by", by).
		Str("from", from).Msg("chat: a command")
	ask := &operator.Request{Strategy: strategy, By: by, From: from, WaitMS: actWait.Milliseconds()}
	report := &operator.ActResult{}
	if _, err := operator.Call(ctx, s.Of.Folder, path, ask, actWait+2*operator.AnswerTimeout, report); err != nil {
		return "", err
	}
	text := report.Words(path, ask)
	if !report.Done {
		text += "Not everything was confirmed in time; /status and /orders tell how it goes on.\n"
	}
	return text, nil
}

// writer names the writer of a message, for the journal.
func writer(m *Message) string {
	name := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, m.Name)
	return strings.TrimSpace(fmt.Sprintf("%s (%s)", short(name), m.User))
}

// halt stops a strategy, or all, at once: it is the safe side, and it may be urgent.
func (s *Server) halt(ctx context.Context, m *Message, args []string) (*Reply, error) {
	if !s.Act {
		return nil, errLooks
	}
	text, err := s.act(ctx, m, operator.PathHalt, first(args))
	if err != nil {
		return nil, err
	}
	return &Reply{Text: text + strings.TrimSpace("To undo it: /resume "+first(args)) + "\n"}, nil
}

// strategies returns the strategies that a command is about. The error names those that there are.
func (s *Server) strategies(ctx context.Context, name string) (list []operator.StrategyStatus, err error) {
	answer, err := operator.AskStatus().Of(ctx, s.Of)
	if err != nil {
		return nil, err
	}
	if answer.Raw == nil {
		return nil, errors.New("the bot does not run, so nothing can be done")
	}
	var names []string
	for _, x := range answer.Value.Strategies {
		if name == "" || name == x.Name {
			list = append(list, x)
		}
		names = append(names, x.Name)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("there is no strategy %s; there are: %s; leave the name out to mean all", short(name),
			strings.Join(names, ", "))
	}
	return list, nil
}

// resume asks whether halted strategies are to trade again.
func (s *Server) resume(ctx context.Context, m *Message, args []string) (*Reply, error) {
	if !s.Act {
		return nil, errLooks
	}
	list, err := s.strategies(ctx, first(args))
	if err != nil {
		return nil, err
	}
	text := ""
	for i := range list {
		if list[i].State == operator.Halted {
			text += list[i].Text() + "\n"
		}
	}
	if text == "" {
		return &Reply{Text: "Nothing is halted.\n"}, nil
	}
	return s.confirm(m, &confirmation{verb: "resume", path: operator.PathResume, strategy: first(args)},
		"These would trade again:\n"+text), nil
}

// flatten asks whether strategies are to be halted and their positions sold.
func (s *Server) flatten(ctx context.Context, m *Message, args []string) (*Reply, error) {
	if !s.Act {
		return nil, errLooks
	}
	list, err := s.strategies(ctx, first(args))
	if err != nil {
		return nil, err
	}
	positions, err := operator.AskPositions().Of(ctx, s.Of)
	if err != nil {
		return nil, err
	}
	orders := 0
	var names []string
	for i := range list {
		orders += list[i].OpenOrders
		names = append(names, list[i].Name)
	}
	text := fmt.Sprintf("Flatten halts %s, cancels %s, and sells at market:\n", strings.Join(names, ", "),
		operator.OrdersText(orders))
	if held := heldText(positions.Value.Positions, first(args)); held != "" {
		text += held
	} else {
		text += "nothing is held now\n"
	}
	return s.confirm(m, &confirmation{verb: "flatten", path: operator.PathFlatten, strategy: first(args)},
		text+"It sells what is held at your confirmation.\n"), nil
}

// confirm opens the confirmation of an action and asks for it.
func (s *Server) confirm(m *Message, d *confirmation, would string) *Reply {
	now := s.Now()
	d.until = now.Add(s.Confirm)
	s.open.ask(m, d, now)
	title := strings.TrimSpace(strings.ToUpper(d.verb[:1]) + d.verb[1:] + " " + d.strategy)
	return &Reply{
		Text:    fmt.Sprintf("%sTo do it, within %s: /yes %s\nTo drop it: /no %s\n", would, s.Confirm, d.code, d.code),
		Buttons: []Button{{Title: title, Text: "/yes " + d.code}, {Title: "No", Text: "/no " + d.code}},
	}
}

// errNothingWaits is the answer to a confirmation that confirms nothing.
var errNothingWaits = errors.New("nothing waits for this confirmation: it was used, its time is over, a newer " +
	"request has taken its place, or it is not yours; nothing was done, ask again")

// yes carries out the action that waits for this code.
func (s *Server) yes(ctx context.Context, m *Message, args []string) (*Reply, error) {
	d := s.open.take(m, first(args), s.Now())
	if d == nil || !s.Act {
		return nil, errNothingWaits
	}
	hint := strings.TrimSpace("To stop again: /halt "+d.strategy) + "\n"
	if d.path == operator.PathFlatten {
		hint = ""
	}
	text, err := s.act(ctx, m, d.path, d.strategy)
	return &Reply{Text: text + hint}, err
}

// no drops the action that waits for this code.
func (s *Server) no(_ context.Context, m *Message, args []string) (*Reply, error) {
	d := s.open.take(m, first(args), s.Now())
	if d == nil {
		return nil, errNothingWaits
	}
	return &Reply{Text: strings.TrimSpace("Dropped: "+d.verb+" "+d.strategy) + ".\n"}, nil
}
