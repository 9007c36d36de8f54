package rest

import (
	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// body writes the JSON of a request (specification 5) in the units of a market. Its own methods
// omit zeros.
type body struct {
	wire.Writer
	m *market.Market
}

func begin(m *market.Market) body {
	return body{Writer: wire.Writer{Dst: append(make([]byte, 0, 320), '{')}, m: m}
}

func (w *body) end() []byte { return append(w.Dst, '}') }

// name writes the id that names an order.
func (w *body) name(o *market.Order) {
	if o.ClientOrderID != uuid.Nil {
		w.ID("clientOrderId", o.ClientOrderID)
		return
	}
	w.ID("orderId", o.ExchangeID)
}

func (w *body) integer(name string, n int64) {
	if n != 0 {
		w.Integer(name, n)
	}
}

func (w *body) price(name string, p market.Price) { w.fixed(name, int64(p), w.m.PriceDigits) }

func (w *body) amount(name string, q market.Qty) { w.fixed(name, int64(q), w.m.AmountDigits) }

func (w *body) money(name string, q market.Money) { w.fixed(name, int64(q), w.m.QuoteDigits) }

func (w *body) fixed(name string, n int64, digits uint8) {
	if n != 0 {
		w.Fixed(name, n, digits)
	}
}
