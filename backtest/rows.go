package backtest

import (
	"math"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// The header lines of the tables.
const (
	tripHeader = "market,side,entry_time_ms,entry_price,exit_time_ms,exit_price,amount,fees,pnl,reason," +
		"strategy,return,mae,mfe,part\n"
	fillHeader   = "time_ms,market,strategy,order,fill_id,side,price,amount,value,fee,fee_currency,taker\n"
	equityHeader = "time_ms,equity,cash,position,exposure\n"
	daysHeader   = "time_ms,return\n" // the end of a UTC day
	orderHeader  = "order,client_order_id,order_id,market,strategy,side,type,status,reason," +
		"restatement_reason,time_in_force,post_only,self_trade_prevention,price,trigger_price,trigger_reference," +
		"triggered,amount,amount_quote,filled_amount,filled_amount_quote,average_price,fee_paid,created_ms,updated_ms\n"
)

// row appends the cells of one line; every cell ends with a comma, which end turns into the end of
// the line.
type row []byte

func (r row) text(s string) row {
	for i := range len(s) {
		if c := s[i]; c == ',' || c == '"' || c == '\r' || c == '\n' {
			return append(append(r, '"'), strings.ReplaceAll(s, `"`, `""`)+`",`...)
		}
	}
	return append(append(r, s...), ',')
}

func (r row) integer(n int64) row { return append(strconv.AppendInt(r, n, 10), ',') }

func (r row) fixed(n int64, digits uint8) row { return append(market.AppendFixed(r, n, digits), ',') }

// unlessZero leaves the cell of a field that does not apply empty.
func (r row) unlessZero(n int64, digits uint8) row {
	if n == 0 {
		return append(r, ',')
	}
	return r.fixed(n, digits)
}

func (r row) value(v market.Value, digits uint8) row { return append(v.Append(r, digits), ',') }

func (r row) amount(a Amount) row { return r.fixed(int64(a.Units), a.Digits) }

// average writes an average price; nothing without an amount.
func (r row) average(m *market.Market, v market.Value, amount market.Qty) row {
	if amount == 0 {
		return append(r, ',')
	}
	return r.amount(averageOf(m, v, amount))
}

// part writes a part of a whole with six decimals; nothing where it is undefined, or huge.
func (r row) part(x float64) row {
	units := math.Round(x * 1e6)
	if !(math.Abs(units) < 1e15) {
		return append(r, ',')
	}
	return r.fixed(int64(units), 6)
}

func (r row) yes(b bool) row { return append(strconv.AppendBool(r, b), ',') }

const hexDigits = "0123456789abcdef"

func (r row) uuid(id uuid.UUID) row {
	if id == (uuid.UUID{}) {
		return append(r, ',')
	}
	var text [36]byte
	at := 0
	for i, b := range id {
		if i >= 4 && i <= 10 && i%2 == 0 {
			text[at] = '-'
			at++
		}
		text[at], text[at+1] = hexDigits[b>>4], hexDigits[b&15]
		at += 2
	}
	return append(append(r, text[:]...), ',')
}

func (r row) end() []byte {
	r[len(r)-1] = '\n'
	return r
}

// appendTrip appends a row of trades.csv. Prices are averages without fees, in the unit of the
// market's prices; money is in the unit of the quote asset.
func appendTrip(dst []byte, m *market.Market, t *trip, pnl market.Value) []byte {
	worst, best := t.excursions(m)
	cost := t.cost.Float(m.ValueDigits)
	return row(dst).text(m.Name).text("long").
		integer(t.entered.Millis()).average(m, t.cost, t.amount).
		integer(t.exited.Millis()).average(m, t.proceeds, t.amount).
		fixed(int64(t.amount), m.AmountDigits).amount(quote(m, t.fees)).amount(quote(m, pnl)).text(t.tag()).
		integer(int64(t.strategy)).part(pnl.Float(m.ValueDigits) / cost).part(worst).part(best).integer(int64(t.part)).
		end()
}

// appendFill appends a row of fills.csv.
func appendFill(dst []byte, c *market.Catalog, f *market.Fill, value market.Value) []byte {
	m := c.Market(f.Market)
	currency := m.Quote
	if f.FeeCurrency != 0 {
		currency = f.FeeCurrency
	}
	return row(dst).integer(f.Time.Millis()).text(m.Name).integer(int64(f.Strategy)).integer(int64(f.Order)).uuid(f.ID).
		text(f.Side.String()).fixed(int64(f.Price), m.PriceDigits).fixed(int64(f.Amount), m.AmountDigits).
		value(value, m.ValueDigits).value(f.Fee, m.ValueDigits).text(c.Asset(currency).Symbol).yes(f.Taker).end()
}

// appendOrder appends a row of orders.csv. Fields that do not apply to the order's type are empty;
// an order without a status has the unknown one.
func appendOrder(dst []byte, m *market.Market, o *market.Order, client uuid.UUID, unknown string) []byte {
	status := o.Status.String()
	if o.Status == 0 {
		status = unknown
	}
	r := row(dst).integer(int64(o.ID)).uuid(client).uuid(o.ExchangeID).text(m.Name).integer(int64(o.Strategy)).
		text(o.Side.String()).text(o.Type.String()).text(status).text(o.Tag).text(o.RestatementReason.String()).
		text(o.TimeInForce.String()).yes(o.PostOnly).text(o.SelfTradePrevention.String()).
		unlessZero(int64(o.Price), m.PriceDigits)
	if o.Type.HasTrigger() {
		r = r.fixed(int64(o.TriggerAmount), m.PriceDigits).text(o.TriggerReference.String()).yes(o.Triggered)
	} else {
		r = append(r, ",,,"...)
	}
	return r.unlessZero(int64(o.Amount), m.AmountDigits).unlessZero(int64(o.AmountQuote), m.QuoteDigits).
		fixed(int64(o.FilledAmount), m.AmountDigits).value(o.FilledAmountQuote, m.ValueDigits).
		average(m, o.FilledAmountQuote, o.FilledAmount).value(o.FeePaid, m.ValueDigits).
		integer(o.Created.Millis()).integer(o.Updated.Millis()).end()
}

// appendSample appends a row of equity.csv. The position is the value of everything except cash.
func appendSample(dst []byte, s sample, digits uint8) []byte {
	exposure := 0.0
	if s.equity > 0 {
		exposure = float64(s.equity-s.cash) / float64(s.equity)
	}
	r := row(dst).integer(s.at.Millis()).fixed(int64(s.equity), digits).fixed(int64(s.cash), digits).
		fixed(int64(s.equity-s.cash), digits)
	return append(market.AppendFixed(r, int64(math.Round(exposure*1e6)), 6), '\n')
}
