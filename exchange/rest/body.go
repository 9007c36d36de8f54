package rest

import (
	"strconv"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
)

// body writes the JSON of a request without white space (specification 5), in the units of a market. Values that are zero are left out.
type body struct {
	dst []byte
	m   *market.Market
}

func begin(m *market.Market) *body {
	return &body{dst: append(make([]byte, 0, 320), '{'), m: m}
}

func (w *body) end() []byte { return append(w.dst, '}') }

func (w *body) key(name string) {
	if len(w.dst) > 1 {
		w.dst = append(w.dst, ',')
	}
	w.dst = append(append(append(w.dst, '"'), name...), '"', ':')
}

// text writes a text that needs no escapes: a word of the specification, the name of a market.
func (w *body) text(name, text string) {
	if text != "" {
		w.key(name)
		w.dst = append(append(append(w.dst, '"'), text...), '"')
	}
}

func (w *body) id(name string, id uuid.UUID) { w.text(name, id.String()) }

// name writes the one id by which an order is named.
func (w *body) name(o *market.Order) {
	if o.ClientOrderID != uuid.Nil {
		w.id("clientOrderId", o.ClientOrderID)
		return
	}
	w.id("orderId", o.ExchangeID)
}

func (w *body) integer(name string, n int64) {
	if n != 0 {
		w.key(name)
		w.dst = strconv.AppendInt(w.dst, n, 10)
	}
}

func (w *body) boolean(name string, b bool) {
	w.key(name)
	w.dst = strconv.AppendBool(w.dst, b)
}

func (w *body) price(name string, p market.Price) { w.fixed(name, int64(p), w.m.PriceDigits) }

func (w *body) amount(name string, q market.Qty) { w.fixed(name, int64(q), w.m.AmountDigits) }

func (w *body) money(name string, q market.Money) { w.fixed(name, int64(q), w.m.QuoteDigits) }

func (w *body) fixed(name string, n int64, digits uint8) {
	if n != 0 {
		w.key(name)
		w.dst = append(market.AppendFixed(append(w.dst, '"'), n, digits), '"')
	}
}
