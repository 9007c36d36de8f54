package exchange

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// ParseNotice reads an event of the channel account (websocket-facts 6), as exactly and as
// tolerantly as ParseOrder. The time of a fill is that of its millisecond, as in every other record
// of it, so that a fill is the same whichever way it comes. At is left zero. The market must be in
// cat (else ErrUnknownMarket), and the event must be "order" or "fill".
func ParseNotice(data []byte, cat *market.Catalog) (Notice, error) {
	var e accountEvent
	if err := e.scan(data); err != nil {
		return Notice{}, fmt.Errorf("account event: %w", err)
	}
	switch e.event {
	case "order":
		order, _, err := ParseOrder(data, cat)
		return Notice{Kind: NoticeOrder, Order: order, Exec: known(e.exec, market.ParseExecutionType)}, err
	case "fill":
		trade, err := e.trade(cat)
		return Notice{Kind: NoticeFill, Trade: trade}, err
	}
	return Notice{}, fmt.Errorf("account event %q: want order or fill", clip(e.event))
}

// accountEvent holds the members that an order's record has not: the event's name and
// executionType, and those of a fill.
type accountEvent struct {
	event, exec                            string
	market, orderID, clientOrderID, sideOf string
	fill                                   fillRecord
}

// scan reads the members. Only fills are checked here: an order is read as a record.
func (e *accountEvent) scan(data []byte) error {
	s := recordScanner{Scanner: wire.NewScanner(data), whole: string(data)}
	for s.Object(); s.Member(); {
		switch string(s.Name()) {
		case "event":
			s.text("event", &e.event)
		case "executionType":
			s.text("executionType", &e.exec)
		case "market":
			s.text("market", &e.market)
		case "orderId":
			s.text("orderId", &e.orderID)
		case "clientOrderId":
			s.text("clientOrderId", &e.clientOrderID)
		case "side":
			s.text("side", &e.sideOf)
		case "fillId":
			s.text("fillId", &e.fill.id)
		default:
			s.fillMember(&e.fill)
		}
	}
	return s.End()
}

// trade converts the members of a fill.
func (e *accountEvent) trade(cat *market.Catalog) (Trade, error) {
	m := cat.MarketNamed(e.market)
	if m == nil {
		return Trade{}, fmt.Errorf("fill event: %q: %w", clip(e.market), ErrUnknownMarket)
	}
	r := reader{cat: cat, m: m}
	t := Trade{Fill: r.fill(&e.fill), ExchangeID: r.id("orderId", e.orderID)}
	t.ClientOrderID, _ = uuid.Parse(e.clientOrderID)
	side, err := market.ParseSide(e.sideOf)
	if err != nil {
		r.fail("side", err)
	}
	if t.Side = side; r.err != nil {
		return Trade{}, False(fmt.Errorf("fill event %s: %w", clip(e.fill.id), r.err))
	}
	return t, nil
}
