package dashboard

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/operator"
)

// action is an action of an operator: a row of the table of all that can be done from a page.
type action struct {
	path  string   // of the socket, as operator.PathHalt
	title string   // as a button has it
	of    kind     // what it concerns
	says  []string // will happen; the first sentence names the subject
}

// kind is a kind of subject of an action.
type kind int

const (
	ofStrategy kind = iota + 1 // a strategy, or all
	ofOrder
	ofBot
)

// staysHalted is the first sentence of actions that halt.
const staysHalted = "%s stops at once and stays halted, over restarts too, until it is resumed."

// actions are all actions, in the order of the page.
var actions = []action{
	{operator.PathHalt, "Halt", ofStrategy, []string{staysHalted,
		"Its open orders are cancelled. The exits of its brackets stay: they protect its positions."}},
	{operator.PathResume, "Resume", ofStrategy, []string{"%s trades again at once, within the limits of the account."}},
	{operator.PathFlatten, "Flatten", ofStrategy, []string{staysHalted,
		"Its open orders are cancelled, the exits of its brackets too.",
		"Then its positions are sold at market, at the price that the exchange gives.",
		"An amount below the minimum of its market cannot be sold. The result lists it."}},
	{operator.PathCancel, "Cancel", ofOrder, []string{"%s is cancelled.",
		"Its strategy goes on and may place another one. The bracket of a position places a cancelled exit again."}},
	{operator.PathCancelAll, "Cancel all orders", ofBot, []string{
		"Every open order of %s is cancelled, the exits of positions too.",
		"Its positions have no exit at the exchange then, until a strategy or a bracket places one.",
		"Strategies that are not halted go on, and may place new orders at once."}},
}

// verb is the name of an action in addresses and in the journal.
func (a *action) verb() string { return strings.TrimPrefix(a.path, "/") }

// actionOf is the action with a verb; nil: there is none.
func actionOf(verb string) *action {
	i := slices.IndexFunc(actions, func(a action) bool { return a.verb() == verb })
	if i < 0 {
		return nil
	}
	return &actions[i]
}

// subject is the strategy, the order or the bot that an action concerns.
type subject struct {
	strategy, order string
	name            string // as a sentence begins with it
	noun, word      string // that has to be typed, as "the name of the strategy" and maker
}

// subjectOf is the subject of an action on a bot that runs. Strategies and orders that it does not
// have are a UsageError.
func (d *botPages) subjectOf(ctx context.Context, a *action, strategy, order string, s *operator.Status) (*subject,
	error) {
	all := &subject{name: "Every strategy of " + d.Name, noun: "the name of the bot", word: d.Name}
	switch {
	case a.of == ofOrder:
		return d.orderOf(ctx, order)
	case order != "" || a.of == ofBot && strategy != "":
		return nil, config.Usagef("%s does not concern a single strategy or order", a.verb())
	case a.of == ofBot:
		all.name = "the bot " + d.Name
		return all, nil
	case strategy == "":
		return all, nil
	}
	for _, known := range s.Strategies {
		if known.Name == strategy {
			return &subject{strategy: strategy, name: "The strategy " + strategy, noun: "the name of the strategy",
				word: strategy}, nil
		}
	}
	return nil, config.Usagef("no strategy %q", config.Clip(strategy))
}

// orderOf is the open order with a number.
func (d *botPages) orderOf(ctx context.Context, order string) (*subject, error) {
	number, err := strconv.ParseInt(order, 10, 64)
	if err != nil {
		return nil, config.Usagef("%q is no number of an order", config.Clip(order))
	}
	open, err := operator.AskOrders(false).Of(ctx, d.Of)
	if err != nil {
		return nil, err
	}
	for i := range open.Value.Orders {
		if o := &open.Value.Orders[i]; o.Number == number {
			return &subject{order: order, name: fmt.Sprintf("The order %d of %s, %s %s,", number, o.Strategy, o.Market,
				o.Terms()), noun: "the number of the order", word: strconv.FormatInt(number, 10)}, nil
		}
	}
	return nil, config.Usagef("order %d is not open", number)
}

// concerns reports whether an action on the subject concerns an order or a position.
func (s *subject) concerns(strategy string, order int64) bool {
	if s.order != "" {
		return s.word == strconv.FormatInt(order, 10)
	}
	return s.strategy == "" || s.strategy == strategy
}
