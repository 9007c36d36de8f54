package backtest

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// RoundTrip is a row of trades.csv: a sale, with the buys of what it sold.
type RoundTrip struct {
	Strategy string // its name; empty: base that the run began with
	Market   string
	Entered  market.Time // the position's first fill
	Exited   market.Time // the sale's last fill
	Amount   Amount      // of base
	Entry    Amount      // average price, without fees, rounded to the unit of the market's prices
	Exit     Amount
	Fees     Amount // of both sides, in the quote asset, rounded to its unit
	Profit   Amount // after the fees, rounded likewise
	Reason   string // the tag of the sale; "signal" without one
	Worst    Figure // MAE: the furthest price below the entry while it was held, as a part of it; 0 or less
	Best     Figure // MFE: the furthest above
	Part     int    // of a position that was sold in several trades: its number, from 1; 0: sold at once
}

// Return is the profit as a part of what was paid, fees left out.
func (t *RoundTrip) Return() Figure {
	return Figure(t.Profit.Float() / (t.Entry.Float() * t.Amount.Float()))
}

// Fill is one fill of an own order, a row of fills.csv.
type Fill struct {
	Market string
	Time   market.Time
	Side   market.Side
	Price  Amount
	Amount Amount // of base
	Fee    Amount // in the quote asset, rounded to its unit
	Taker  bool
	Tag    string // of the order
}

// kept are the trades and fills of a run.
type kept struct {
	trades []RoundTrip
	fills  []Fill
}

func (k *kept) trade(strategy string, m *market.Market, t *trip, pnl market.Value) {
	worst, best := t.excursions(m)
	k.trades = append(k.trades, RoundTrip{Strategy: strategy, Market: m.Name, Entered: t.entered, Exited: t.exited,
		Amount: base(m, t.amount), Entry: averageOf(m, t.cost, t.amount), Exit: averageOf(m, t.proceeds, t.amount),
		Fees: quote(m, t.fees), Profit: quote(m, pnl), Reason: t.tag(),
		Worst: Figure(worst), Best: Figure(best), Part: t.part})
}

func (k *kept) fill(m *market.Market, f *market.Fill, o *market.Order) {
	k.fills = append(k.fills, Fill{Market: m.Name, Time: f.Time, Side: f.Side, Amount: base(m, f.Amount),
		Price: Amount{market.Money(f.Price), m.PriceDigits}, Fee: quote(m, f.Fee), Taker: f.Taker, Tag: o.Tag})
}

func base(m *market.Market, amount market.Qty) Amount {
	return Amount{market.Money(amount), m.AmountDigits}
}

// quote rounds a value to the unit of the quote asset; at most the largest amount.
func quote(m *market.Market, v market.Value) Amount {
	units, err := v.NearestMoney(m.MoneyDrop())
	if err != nil {
		units = math.MaxInt64 * market.Money(v.Sign())
	}
	return Amount{units, m.QuoteDigits}
}

// Transcript is the result as text, to compare with a file: the fills and the trades, then the
// headline figures and what was refused. It has neither hashes nor the version of the code, and no
// figure that a later version may add. Fills and trades are those that Options.Keep kept.
func (res *Result) Transcript() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n%s to %s\n\nfills\n", res.Title, timeText(market.Time(res.From)),
		timeText(market.Time(res.To)))
	for i := range res.Fills {
		f := &res.Fills[i]
		fmt.Fprintf(&text, "  %s  %s %s %s at %s, fee %s", timeText(f.Time), f.Side, f.Amount, f.Market, f.Price, f.Fee)
		if f.Tag != "" {
			fmt.Fprintf(&text, " (%s)", f.Tag)
		}
		text.WriteByte('\n')
	}
	text.WriteString("\ntrades\n")
	for i := range res.Trades {
		t := &res.Trades[i]
		fmt.Fprintf(&text, "  %s to %s  %s %s from %s to %s: profit %s (%s)\n", timeText(t.Entered), timeText(t.Exited),
			t.Amount, t.Market, t.Entry, t.Exit, t.Profit, t.Reason)
	}
	res.headlines(&text)
	return text.String()
}

// headlines writes the figures of a transcript.
func (res *Result) headlines(text *strings.Builder) {
	p, t, o := &res.Performance, &res.Trips, &res.Orders
	text.WriteString("\nfigures\n")
	for _, row := range [...][2]string{
		{"start equity", p.Start.String() + " " + res.Currency},
		{"final equity", p.Final.String() + " " + res.Currency},
		{"return", p.Return.Percent(2)},
		{"max drawdown", p.Drawdown.Depth.Percent(2)},
		{"exposure", p.Exposure.Percent(2)},
		{"trades", fmt.Sprintf("%d, %d won, %d lost, %d open at the end", t.Count, t.Won, t.Lost, t.Open)},
		{"net profit", t.Net.String() + " " + res.Currency},
		{"fees", p.Fees.String() + " " + res.Currency},
		{"orders", fmt.Sprintf("%d, %d filled, %d fills", o.Orders, o.Filled, o.Fills)},
	} {
		fmt.Fprintf(text, "  %-14s%s\n", row[0], row[1])
	}
	for _, c := range res.Refusals {
		fmt.Fprintf(text, "  %-14s%s, %d times\n", "refused", exchange.Explained(c.Reason), c.Count)
	}
	for _, line := range res.Warnings {
		fmt.Fprintf(text, "  %-14s%s\n", "warning", line)
	}
}

// timeText writes a time of a transcript; seconds only where there are any.
func timeText(t market.Time) string {
	layout := "2006-01-02 15:04"
	if market.FloorTo(t, market.Time(time.Minute)) != t {
		layout += ":05.999"
	}
	return t.Std().Format(layout)
}
