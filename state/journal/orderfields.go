package journal

import (
	"fmt"
	"unsafe"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// field is one field of a record in the state file: how it is written, read, and described to
// people.
type field[R any] struct {
	name     string  // for people; empty: not shown
	form     form    // how it is written
	offset   uintptr // where it is in R
	get      func(*recordDecoder, *R)
	describe func(*describer, *R)
}

// form is the way in which a field is written. putFields takes it and the offset instead of a
// function for each field: a commit writes each order twice, and calls by a table took half of the
// time.
type form uint8

const (
	formInt   form = iota // an int64: Int
	formByte              // a uint8: Byte
	formValue             // a market.Value: Value
	formText              // a string: Text
)

// offsetOf returns where in R the field that at returns is.
func offsetOf[R, T any](at func(*R) *T) uintptr {
	var r R
	return uintptr(unsafe.Pointer(at(&r))) - uintptr(unsafe.Pointer(&r))
}

// stateFields are the fields that the record of an order and the record of a report share, in the
// order of their bytes and of their description. Add a new field of market.OrderState at the end,
// with the next recordVersion.
var stateFields = []field[market.OrderState]{
	price("price", func(s *market.OrderState) *market.Price { return &s.Price }),
	price("triggerAmount", func(s *market.OrderState) *market.Price { return &s.TriggerAmount }),
	number("amount", func(s *market.OrderState) *market.Qty { return &s.Amount }, (*describer).qty),
	number("amountRemaining", func(s *market.OrderState) *market.Qty { return &s.AmountRemaining }, (*describer).qty),
	number("amountQuote", func(s *market.OrderState) *market.Money { return &s.AmountQuote }, (*describer).quote),
	number("amountQuoteRemaining", func(s *market.OrderState) *market.Money { return &s.AmountQuoteRemaining },
		(*describer).quote),
	number("onHold", func(s *market.OrderState) *market.Money { return &s.OnHold }, (*describer).held),
	number("filledAmount", func(s *market.OrderState) *market.Qty { return &s.FilledAmount }, (*describer).qty),
	value("filledAmountQuote", func(s *market.OrderState) *market.Value { return &s.FilledAmountQuote }),
	value("feePaid", func(s *market.OrderState) *market.Value { return &s.FeePaid }),
}

// orderEnd are the last fields in the record of an order. Add a new field of market.Order that is
// not in its OrderState at the end, with the next recordVersion.
var orderEnd = []field[market.Order]{
	number("created", func(o *market.Order) *market.Time { return &o.Created }, (*describer).time),
	number("updated", func(o *market.Order) *market.Time { return &o.Updated }, (*describer).time),
	price("stop", func(o *market.Order) *market.Price { return &o.Bracket.Stop }),
	price("target", func(o *market.Order) *market.Price { return &o.Bracket.Target }),
	word("", func(o *market.Order) *market.Leg { return &o.Bracket.Keep }, market.KeepTarget),
	text("tag", func(o *market.Order) *string { return &o.Tag }),
}

// orderWords are the enums of an order, in the order of their bytes and of their description.
var orderWords = []field[market.Order]{
	word("side", func(o *market.Order) *market.Side { return &o.Side }, market.Sell),
	word("orderType", func(o *market.Order) *market.OrderType { return &o.Type }, market.TypeTakeProfitLimit),
	word("status", func(o *market.Order) *market.Status { return &o.Status }, market.StatusUnresolved),
	word("timeInForce", func(o *market.Order) *market.TimeInForce { return &o.TimeInForce }, market.FOK),
	word("selfTradePrevention", func(o *market.Order) *market.SelfTradePrevention { return &o.SelfTradePrevention },
		market.CancelBoth),
	word("", func(o *market.Order) *market.TriggerType { return &o.TriggerType }, market.TriggerPrice),
	word("triggerReference", func(o *market.Order) *market.TriggerReference { return &o.TriggerReference },
		market.MidPrice),
	word("restatementReason", func(o *market.Order) *market.RestatementReason { return &o.RestatementReason },
		market.CancelPostOnly),
}

func price[R any](name string, at func(*R) *market.Price) field[R] {
	return field[R]{
		name:     name,
		offset:   offsetOf(at),
		get:      func(d *recordDecoder, r *R) { *at(r) = d.Price() },
		describe: func(d *describer, r *R) { d.price(name, *at(r)) },
	}
}

// number is a field whose unit does not depend on the process.
func number[R any, T ~int64](name string, at func(*R) *T, tell func(*describer, string, T)) field[R] {
	return field[R]{
		name:     name,
		offset:   offsetOf(at),
		get:      func(d *recordDecoder, r *R) { *at(r) = T(d.Int()) },
		describe: func(d *describer, r *R) { tell(d, name, *at(r)) },
	}
}

func value[R any](name string, at func(*R) *market.Value) field[R] {
	return field[R]{
		name:     name,
		form:     formValue,
		offset:   offsetOf(at),
		get:      func(d *recordDecoder, r *R) { *at(r) = d.Value() },
		describe: func(d *describer, r *R) { d.value(name, *at(r)) },
	}
}

// word is a field of one byte with a text; last is its largest value.
func word[R any, T ~uint8](name string, at func(*R) *T, last T) field[R] {
	return field[R]{
		name:   name,
		form:   formByte,
		offset: offsetOf(at),
		get:    func(d *recordDecoder, r *R) { *at(r) = codec.Enum(&d.Decoder, last) },
		describe: func(d *describer, r *R) {
			if *at(r) != 0 {
				d.text(name, fmt.Sprint(*at(r)))
			}
		},
	}
}

func text[R any](name string, at func(*R) *string) field[R] {
	return field[R]{
		name:     name,
		form:     formText,
		offset:   offsetOf(at),
		get:      func(d *recordDecoder, r *R) { *at(r) = d.Text() },
		describe: func(d *describer, r *R) { d.text(name, *at(r)) },
	}
}

// putFields writes the fields of a record.
func putFields[R any](e *recordEncoder, fields []field[R], r *R) {
	for i := range fields {
		switch at := unsafe.Add(unsafe.Pointer(r), fields[i].offset); fields[i].form {
		case formInt:
			e.Int(*(*int64)(at))
		case formByte:
			e.Byte(*(*byte)(at))
		case formValue:
			e.Value(*(*market.Value)(at))
		case formText:
			e.Text(*(*string)(at))
		}
	}
}

// getFields reads the fields of a record.
func getFields[R any](d *recordDecoder, fields []field[R], r *R) {
	for i := range fields {
		fields[i].get(d, r)
	}
}

// describeFields describes the fields of a record that are not zero.
func describeFields[R any](d *describer, fields []field[R], r *R) {
	for i := range fields {
		if fields[i].name != "" {
			fields[i].describe(d, r)
		}
	}
}
