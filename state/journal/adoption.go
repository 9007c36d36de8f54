package journal

import (
	"fmt"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
)

// Adoption is a handover from one strategy of a stopped bot to another. Fills that the bot books
// after it are those of To, and count after it, whatever their time.
type Adoption struct {
	By        string
	From, To  string      // names of strategies
	Until     market.Time // the last moment that the file knew before it
	Memory    bool        // To is From under another name, with its own saved state
	Orders    []market.OrderID
	Positions []AdoptedPosition
	Money     []AdoptedMoney // of the allocation of From, that goes to the one of To
}

// AdoptedPosition is a position that goes from one strategy to another.
type AdoptedPosition struct {
	Market market.ID
	Asset  market.AssetID // the base
	Amount market.Qty
	Cost   market.Value
	Worth  Worth // without the account's equity, which does not change
}

// AdoptedMoney is an amount that goes from one allocation to another and is in no position.
type AdoptedMoney struct {
	Asset market.AssetID
	Money market.Money
	Worth Worth // as of AdoptedPosition
}

// bookings are the rows of the table of bookings of an adoption, in their order.
func (r *Adoption) bookings() (rows []Booking) {
	for i := range r.Positions {
		p := &r.Positions[i]
		rows = append(rows, Booking{Kind: BookedAdoption, StrategyName: r.From, To: r.To, At: r.Until, Asset: p.Asset,
			Money: market.Money(p.Amount), Market: p.Market, Cost: p.Cost, Worth: p.Worth})
	}
	for i := range r.Money {
		m := &r.Money[i]
		rows = append(rows, Booking{Kind: BookedAdoption, StrategyName: r.From, To: r.To, At: r.Until, Asset: m.Asset,
			Money: m.Money, Worth: m.Worth})
	}
	return rows
}

// adopted writes a part of an adoption: as a booking, and in the entry.
func (e *recordEncoder) adopted(b *Booking) {
	e.Int(int64(b.At))
	e.texts(b.StrategyName, b.To)
	e.Asset(b.Asset)
	e.Int(int64(b.Money))
	e.Market(b.Market)
	e.Value(b.Cost)
	e.Flags(b.Worth.Known)
	e.Int(int64(b.Worth.Value))
}

func (d *recordDecoder) adopted(b *Booking) {
	b.At = market.Time(d.Int())
	b.StrategyName, b.To = d.Text(), d.Text()
	b.Asset = d.Asset()
	b.Money = market.Money(d.Int())
	b.Market = d.Market()
	b.Cost = d.Value()
	d.Flags(&b.Worth.Known)
	b.Worth.Value = market.Money(d.Int())
}

func (e *recordEncoder) adoption(r *Adoption) {
	e.texts(r.By, r.From, r.To)
	e.Int(int64(r.Until))
	e.Flags(r.Memory)
	putNumbers(e, r.Orders)
	rows := r.bookings()
	e.Uint(uint64(len(rows)))
	for i := range rows {
		e.adopted(&rows[i])
	}
}

// putNumbers appends a list: its length, then the numbers.
func putNumbers[N ~int64](e *recordEncoder, list []N) {
	e.Uint(uint64(len(list)))
	for _, n := range list {
		e.Int(int64(n))
	}
}

func getNumbers[N ~int64](d *recordDecoder) (list []N) {
	for n := d.Count(); n > 0 && d.Err() == nil; n-- {
		list = append(list, N(d.Int()))
	}
	return list
}

func (d *recordDecoder) adoption() *Adoption {
	r := &Adoption{By: d.Text(), From: d.Text(), To: d.Text(), Until: market.Time(d.Int())}
	d.Flags(&r.Memory)
	r.Orders = getNumbers[market.OrderID](d)
	for n := d.Count(); n > 0 && d.Err() == nil; n-- {
		var b Booking
		d.adopted(&b)
		if b.Market != 0 {
			r.Positions = append(r.Positions, AdoptedPosition{Market: b.Market, Asset: b.Asset,
				Amount: market.Qty(b.Money), Cost: b.Cost, Worth: b.Worth})
			continue
		}
		r.Money = append(r.Money, AdoptedMoney{Asset: b.Asset, Money: b.Money, Worth: b.Worth})
	}
	return r
}

// adoption describes a handover.
func (d *describer) adoption(r *Adoption) {
	d.text("by", r.By)
	d.text("from", r.From)
	d.text("to", r.To)
	d.time("until", r.Until)
	d.flag("renamed", r.Memory)
	d.orders(r.Orders)
	for i := range r.Positions {
		p := &r.Positions[i]
		d.inMarket(p.Market)
		d.qty("amount", p.Amount)
		d.value("cost", p.Cost)
	}
	for i := range r.Money {
		d.symbol("asset", r.Money[i].Asset)
		d.money("money", r.Money[i].Money, r.Money[i].Asset)
	}
}

// orders lists ids.
func (d *describer) orders(ids []market.OrderID) {
	var texts []string
	for _, id := range ids {
		texts = append(texts, fmt.Sprint(id))
	}
	d.text("orders", strings.Join(texts, " "))
}

// describeAdopted describes a part of an adoption.
func (d *describer) describeAdopted(b *Booking) {
	d.time("at", b.At)
	d.text("from", b.StrategyName)
	d.text("to", b.To)
	d.inMarket(b.Market)
	d.symbol("asset", b.Asset)
	d.money("amount", b.Money, b.Asset)
	d.value("cost", b.Cost)
}
