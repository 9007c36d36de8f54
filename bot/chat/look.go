package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/view/chart"
)

const (
	latestGroups = 8   // of a profit that a message shows
	latestOrders = 30  // of the open orders
	chartPoints  = 300 // about so many samples of a curve
	chartWidth   = 480 // CSS pixels: a PNG has two for each
)

// stoppedNote stands above an answer that comes from a state file.
const stoppedNote = "The bot does not run; this is what its state file says.\n"

// lines writes the text of an answer. raw is nil where it comes from a state file.
func lines(raw []byte) *strings.Builder {
	text := &strings.Builder{}
	if raw == nil {
		text.WriteString(stoppedNote)
	}
	return text
}

// status says how the bot stands.
func (s *Server) status(ctx context.Context, _ *Message, _ []string) (*Reply, error) {
	answer, err := operator.AskStatus().Of(ctx, s.Of)
	if err != nil {
		return nil, err
	}
	now, text := answer.Value, lines(answer.Raw)
	fmt.Fprintf(text, "%s: %s", s.Bot, now.State)
	if now.Exchange != "" {
		fmt.Fprintf(text, ", %s, %s", now.Mode, now.Exchange)
	}
	text.WriteByte('\n')
	if now.Blocked != "" {
		fmt.Fprintf(text, "blocked: %s\n", now.Blocked)
	}
	for i := range now.Strategies {
		fmt.Fprintln(text, now.Strategies[i].Text())
	}
	if now.Equity != "" {
		fmt.Fprintf(text, "equity %s %s, exposed %s%s\n", now.Equity, now.Currency, now.Exposure, now.ResultsText())
	}
	if now.Opening != "" {
		fmt.Fprintf(text, "limit: %s\n", now.Opening)
	}
	for _, x := range now.Unprotected {
		fmt.Fprintf(text, "unprotected: %s: %s %s since %s (%s)\n", x.Strategy, x.Amount, x.Market,
			operator.ClockOf(x.SinceMS), x.Cause)
	}
	if now.StreamAside != "" {
		fmt.Fprintf(text, "stream: %s\n", now.StreamAside)
	}
	for _, x := range now.NotGuarded {
		fmt.Fprintln(text, x.Text())
	}
	for _, x := range now.Markets {
		fmt.Fprintf(text, "market %s: %s\n", x.Market, x.Status)
	}
	if now.ForeignOrders > 0 {
		fmt.Fprintf(text, "of others on the account: %s open\n", operator.OrdersText(now.ForeignOrders))
	}
	if at := cmp.Or(now.AsOfMS, now.AtMS); at != 0 {
		fmt.Fprintf(text, "as of %s UTC\n", operator.ClockOf(at))
	}
	return &Reply{Text: text.String()}, nil
}

// profit says what the bot has earned, the latest groups first.
func (s *Server) profit(ctx context.Context, _ *Message, args []string) (*Reply, error) {
	answer, err := operator.AskProfit(&profit.Query{By: cmp.Or(first(args), profit.ByDay)}).Of(ctx, s.Of)
	if err != nil {
		return nil, err
	}
	report, text := answer.Value, lines(answer.Raw)
	if report.Currency == "" {
		return nil, errors.New("the bot has never run")
	}
	line := func(one *profit.Earned) {
		fmt.Fprintf(text, "%s: realised %s", one.Name, profit.Signed(one.Realised))
		if one.Unrealised != "" {
			fmt.Fprintf(text, ", unrealised %s", profit.Signed(one.Unrealised))
		}
		if one.Return != nil {
			fmt.Fprintf(text, ", return %s", profit.Part(one.Return, "%+.2f%%"))
		}
		fmt.Fprintf(text, ", fees %s, %d trips\n", profit.Brief(one.Fees), one.Trips)
	}
	shown := report.Groups[max(0, len(report.Groups)-latestGroups):]
	for i := len(shown) - 1; i >= 0; i-- {
		line(&shown[i])
	}
	if before := len(report.Groups) - len(shown); before > 0 {
		fmt.Fprintf(text, "… and %d before\n", before)
	}
	line(&report.Total)
	fmt.Fprintf(text, "drawdown %s; money in %s, days of %s\n", report.Total.DrawdownText(), report.Currency,
		report.Zone)
	return &Reply{Text: text.String()}, nil
}

// positions lists what the strategies hold.
func (s *Server) positions(ctx context.Context, _ *Message, _ []string) (*Reply, error) {
	answer, err := operator.AskPositions().Of(ctx, s.Of)
	if err != nil {
		return nil, err
	}
	text := lines(answer.Raw)
	held := heldText(answer.Value.Positions, "")
	if held == "" {
		held = "Nothing is held.\n"
	}
	text.WriteString(held)
	return &Reply{Text: text.String()}, nil
}

// heldText lists the open positions of a strategy, or of all.
func heldText(positions []operator.Position, strategy string) (text string) {
	for i := range positions {
		p := &positions[i]
		if p.Amount == "0" || strategy != "" && p.Strategy != strategy {
			continue
		}
		text += fmt.Sprintf("%s: %s %s", p.Strategy, p.Amount, p.Market)
		if p.Value != "" {
			text += fmt.Sprintf(", worth %s at %s", profit.Brief(p.Value), p.Last)
		}
		text += fmt.Sprintf(", cost %s\n", profit.Brief(p.Cost))
	}
	return text
}

// orders lists the latest open orders.
func (s *Server) orders(ctx context.Context, _ *Message, _ []string) (*Reply, error) {
	answer, err := operator.AskOrders(false).Of(ctx, s.Of)
	if err != nil {
		return nil, err
	}
	list, text := answer.Value.Orders, lines(answer.Raw)
	if len(list) == 0 {
		text.WriteString("No order is open.\n")
	}
	shown := list[max(0, len(list)-latestOrders):]
	for i := range shown {
		o := &shown[i]
		fmt.Fprintf(text, "%d %s %s: %s, filled %s, %s\n", o.Number, o.Strategy, o.Market, o.Terms(), o.Filled,
			o.StateText())
	}
	if before := len(list) - len(shown); before > 0 {
		fmt.Fprintf(text, "… and %s before\n", operator.OrdersText(before))
	}
	return &Reply{Text: text.String()}, nil
}

// explain tells the story of an order.
func (s *Server) explain(ctx context.Context, _ *Message, args []string) (*Reply, error) {
	if len(args) == 0 {
		return nil, errors.New("want an order, like /explain 12; /orders has the numbers of those that are open")
	}
	answer, err := operator.AskStory(strings.TrimPrefix(args[0], "#")).Of(ctx, s.Of)
	if err != nil {
		return nil, err
	}
	text := lines(answer.Raw)
	err = answer.Value.Write(text)
	return &Reply{Text: narrow(text.String())}, err
}

// narrow is a text without the spaces that align it: a phone has no room for them.
func narrow(text string) string {
	return regexp.MustCompile(`(?m)^ +| +( )`).ReplaceAllString(text, "$1")
}

// chart draws equity and drawdown.
func (s *Server) chart(ctx context.Context, _ *Message, args []string) (*Reply, error) {
	since := cmp.Or(first(args), "48h")
	span, err := profit.ParseAgo(since)
	if err != nil || span < time.Hour {
		return nil, fmt.Errorf("want a time of an hour or more, like /chart 48h or /chart 30d, not %s", short(since))
	}
	every := max(time.Minute, (span / chartPoints).Truncate(time.Minute))
	answer, err := operator.AskEquity(&profit.Query{Since: since, Every: every.String()}).Of(ctx, s.Of)
	if err != nil {
		return nil, err
	}
	curve, text := answer.Value, lines(answer.Raw)
	drawn, err := profit.EquityChart(curve)
	if err != nil {
		return nil, err
	}
	if drawn == nil {
		return nil, fmt.Errorf("there are fewer than two samples of the last %s: the bot writes one a minute", since)
	}
	drawn.Width = chartWidth
	png, err := drawn.PNG(chart.Light)
	if err != nil {
		return nil, err
	}
	last := &curve.Samples[len(curve.Samples)-1]
	fmt.Fprintf(text, "%s, %s: equity %s %s, return %s, drawdown %s", s.Bot, since, last.Equity, curve.Currency,
		profit.Part(curve.TimeWeighted, "%+.2f%%"), profit.Part(curve.Drawdown, "%.2f%%"))
	return &Reply{Text: text.String(), Picture: png}, nil
}
