package journal

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// Field is one value of a row or an entry for people: the specification's name and a plain decimal
// or word.
type Field struct {
	Name, Text string
}

// Fields are the values of a row or an entry, in a fixed order, without the ones that do not apply.
type Fields []Field

// String returns "name=text" for each field, separated by spaces.
func (f Fields) String() string {
	var b strings.Builder
	for i, field := range f {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(field.Name + "=" + field.Text)
	}
	return b.String()
}

// MarshalJSON writes one object of texts, in order.
func (f Fields) MarshalJSON() ([]byte, error) {
	dst := []byte{'{'}
	for i, field := range f {
		if i > 0 {
			dst = append(dst, ',')
		}
		name, err := json.Marshal(field.Name)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(field.Text)
		if err != nil {
			return nil, err
		}
		dst = append(append(append(dst, name...), ':'), text...)
	}
	return append(dst, '}'), nil
}

// describer collects fields. Its market has the units of the numbers that follow.
type describer struct {
	*codec.Names
	market *market.Market
	onHold market.AssetID // the currency of what an order holds; 0: the market's quote
	fields Fields
}

func (d *describer) text(name, text string) {
	if text != "" {
		d.fields = append(d.fields, Field{name, text})
	}
}

func (d *describer) integer(name string, n int64) {
	if n != 0 {
		d.text(name, strconv.FormatInt(n, 10))
	}
}

func (d *describer) time(name string, t market.Time) {
	if t != 0 {
		d.text(name, t.String())
	}
}

func (d *describer) id(name string, id uuid.UUID) {
	if id != uuid.Nil {
		d.text(name, id.String())
	}
}

func (d *describer) flag(name string, is bool) {
	if is {
		d.text(name, "true")
	}
}

// inMarket sets the market of the numbers that follow, and adds its name.
func (d *describer) inMarket(id market.ID) {
	d.market = &market.Market{}
	if id != 0 {
		d.market = d.Catalog().Market(id)
		d.text("market", d.market.Name)
	}
}

func (d *describer) price(name string, p market.Price) {
	if p != 0 {
		d.text(name, d.market.FormatPrice(p))
	}
}

func (d *describer) qty(name string, q market.Qty) {
	if q != 0 {
		d.text(name, d.market.FormatQty(q))
	}
}

func (d *describer) quote(name string, m market.Money) {
	if m != 0 {
		d.text(name, d.market.FormatMoney(m))
	}
}

func (d *describer) value(name string, v market.Value) {
	if v.Sign() != 0 {
		d.text(name, d.market.FormatValue(v))
	}
}

// money is in units of an asset.
func (d *describer) money(name string, m market.Money, asset market.AssetID) {
	switch {
	case m == 0:
	case asset == 0:
		d.quote(name, m)
	default:
		d.text(name, market.FormatFixed(int64(m), d.Catalog().Asset(asset).Digits))
	}
}

// held is money in units of the currency that an order holds.
func (d *describer) held(name string, m market.Money) { d.money(name, m, d.onHold) }

func (d *describer) symbol(name string, asset market.AssetID) {
	if asset != 0 {
		d.text(name, d.Catalog().Asset(asset).Symbol)
	}
}
