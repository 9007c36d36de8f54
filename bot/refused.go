package bot

import (
	"fmt"
	"io"

	"github.com/tidemark-trading/tidemark/bot/operator"
)

// printRefused writes the refusals for a person.
func printRefused(w io.Writer, r *operator.Refused) error {
	for i := range r.Strategies {
		s := &r.Strategies[i]
		fmt.Fprintf(w, "%s: %s and %d changes sent since %s UTC\n", s.Strategy,
			operator.OrdersText(int(s.Orders)), s.Changes, operator.ClockOf(r.SinceMS))
		if s.Halted != "" {
			fmt.Fprintf(w, "  halted since %s: %s\n", operator.ClockOf(s.HaltedMS), s.Halted)
		}
		for k := range s.Refused {
			printRefusal(w, &s.Refused[k])
		}
		switch {
		case len(s.Refused) > 0 || s.Halted != "":
		case s.Orders+s.Changes > 0:
			fmt.Fprintln(w, "  nothing was refused")
		default:
			fmt.Fprintln(w, "  nothing was refused: it did not ask for anything")
		}
	}
	return nil
}

func printRefusal(w io.Writer, k *operator.RefusedKind) {
	times := "once, " + operator.ClockOf(k.LastMS)
	if k.Times > 1 {
		times = fmt.Sprintf("%d times, %s to %s", k.Times, operator.ClockOf(k.FirstMS), operator.ClockOf(k.LastMS))
	}
	fmt.Fprintf(w, "  %s, by the %s: %s %s\n", k.Reason, k.By, k.Command, times)
	line := "    " + k.Asked
	if k.Order != 0 && k.By == "exchange" {
		line += fmt.Sprintf(" (order %d)", k.Order)
	}
	if k.Market != "" {
		line += " in " + k.Market
	}
	if k.Rounded != "" {
		line += ", rounded to " + k.Rounded
	}
	line += ": " + k.Detail
	if k.Cause != "" {
		line += "; on " + k.Cause
	}
	fmt.Fprintln(w, line)
}
