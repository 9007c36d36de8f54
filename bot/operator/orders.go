package operator

import (
	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// OrderRow is an own order as a program reads it.
type OrderRow struct {
	Number        int64  `json:"number"`
	ClientOrderID string `json:"client_order_id"`
	OrderID       string `json:"order_id,omitempty"` // the exchange's
	Strategy      string `json:"strategy"`
	Market        string `json:"market"`
	Side          string `json:"side"`
	Type          string `json:"type"`
	State         string `json:"state"`
	InFlight      string `json:"in_flight,omitempty"` // the command that the exchange has not answered
	Waits         bool   `json:"waits,omitempty"`     // that command is not sent yet: it waits for a free connection
	Amount        string `json:"amount,omitempty"`
	AmountQuote   string `json:"amount_quote,omitempty"`
	Price         string `json:"price,omitempty"`
	Trigger       string `json:"trigger,omitempty"`
	Filled        string `json:"filled"`
	FilledQuote   string `json:"filled_quote"`
	Fee           string `json:"fee"`
	Tag           string `json:"tag,omitempty"`
	ErrorCode     int    `json:"error_code,omitempty"`
	CreatedMS     int64  `json:"created_ms"`
	UpdatedMS     int64  `json:"updated_ms"`
}

// Terms describes an order for a person.
func (o *OrderRow) Terms() string {
	text := o.Side + " " + o.Type + " " + o.Amount
	if o.AmountQuote != "" {
		text += "for " + o.AmountQuote
	}
	if o.Price != "" {
		text += " @ " + o.Price
	}
	if o.Trigger != "" {
		text += " when " + o.Trigger
	}
	return text
}

// StateText describes the state of an order for a person.
func (o *OrderRow) StateText() string {
	if o.Waits {
		return o.InFlight + " waits to be sent"
	}
	if o.InFlight != "" {
		return o.State + ", " + o.InFlight + " not answered"
	}
	return o.State
}

// Updated is the time of the exchange's last report on the order, else of its creation.
func (o *OrderRow) Updated() int64 { return max(o.UpdatedMS, o.CreatedMS) }

// OrderOf converts an order of a state file, own or foreign, with the units of a catalog.
func OrderOf(c *market.Catalog, o *journal.OrderRow) OrderRow {
	m := c.Market(o.Market)
	info := OrderRow{Number: int64(o.ID), ClientOrderID: o.ClientOrderID.String(), Strategy: o.StrategyName,
		Market: m.Name, Side: o.Side.String(), Type: o.Type.String(),
		State: o.State.String(), Filled: m.FormatQty(o.FilledAmount), FilledQuote: m.FormatValue(o.FilledAmountQuote),
		Fee: m.FormatValue(o.FeePaid), Tag: o.Tag,
		ErrorCode: o.Code, CreatedMS: o.Created.Millis(), UpdatedMS: o.Updated.Millis()}
	if o.State == 0 {
		info.State = o.Status.String() // a foreign order
	}
	if o.ExchangeID != uuid.Nil {
		info.OrderID = o.ExchangeID.String()
	}
	if o.InFlight != 0 {
		info.InFlight = o.InFlight.String()
	}
	if o.ByQuote() {
		info.AmountQuote = m.FormatMoney(o.AmountQuote)
	} else {
		info.Amount = m.FormatQty(o.Amount)
	}
	if o.Price != 0 {
		info.Price = m.FormatPrice(o.Price)
	}
	if o.TriggerAmount != 0 {
		info.Trigger = m.FormatPrice(o.TriggerAmount)
	}
	return info
}

// Orders is a list of orders.
type Orders struct {
	profit.Answer
	AsOfMS int64      `json:"as_of_ms,omitempty"` // of a stopped bot: when its file was last written
	Orders []OrderRow `json:"orders"`
}

// MaxOrders is the largest number of orders in a list. A list keeps the latest.
const MaxOrders = 10_000

// OrdersOf lists the open orders of a state file, or all, the oldest first.
func OrdersOf(store *journal.Store, all bool) (*Orders, error) {
	list := &Orders{Orders: []OrderRow{}}
	if !all {
		rows, err := store.OpenOrders()
		for i := range rows {
			list.Orders = append(list.Orders, OrderOf(store.Catalog(), &rows[i]))
		}
		return list, err
	}
	err := store.Orders(0, func(o *journal.OrderRow) error {
		list.Orders = append(list.Orders, OrderOf(store.Catalog(), o))
		if len(list.Orders) >= 2*MaxOrders {
			list.Orders = append(list.Orders[:0], list.Orders[MaxOrders:]...)
		}
		return nil
	})
	list.Orders = list.Orders[max(0, len(list.Orders)-MaxOrders):]
	return list, err
}

// stoppedOrders lists the orders of a stopped bot.
func stoppedOrders(store *journal.Store, all bool) (*Orders, error) {
	list, err := OrdersOf(store, all)
	if err == nil {
		list.AsOfMS, err = lastEntryMS(store)
	}
	return list, err
}
