package lang

// dim is the dimension of a figure: what it may be compared with, and how a number beside it
// scales.
type dim struct {
	kind   kind
	price  int8 // power of the price
	volume int8 // power of the amount
}

type kind uint8

const (
	free      kind = iota // a number that takes the dimension of what stands beside it
	freePart              // such a number in percent
	ratio                 // a number
	scale                 // 0 to 100
	percent               // such as of roc
	count                 // of candles, hours
	condition             //
	label                 // a word of a signal
	price                 // a price
	distance              // between two prices
	amount                // everything else with units; of a price: what may be a price or a distance
)

// The dimensions that have a name.
var (
	aPrice     = dim{kind: price, price: 1}
	aDistance  = dim{kind: distance, price: 1}
	aVolume    = dim{kind: amount, volume: 1}
	someMoney  = dim{kind: amount, price: 1, volume: 1}
	aCondition = dim{kind: condition}
)

// String names a dimension in an error.
func (d dim) String() string {
	switch d.kind {
	case free, ratio:
		return "a number"
	case scale:
		return "0 to 100"
	case percent, freePart:
		return "a percentage"
	case count:
		return "a count"
	case condition:
		return "a condition"
	case label:
		return "a word"
	case price:
		return "a price"
	case distance:
		return "a distance between prices"
	}
	switch (dim{price: d.price, volume: d.volume}) {
	case dim{price: 1}:
		return "a price"
	case dim{volume: 1}:
		return "a volume"
	case dim{price: 1, volume: 1}:
		return "an amount of money"
	}
	return "of an odd unit"
}

// bare reports whether a figure has no unit.
func (d dim) bare() bool { return d.price == 0 && d.volume == 0 && d.number() }

// number reports whether it is a figure: no condition, no word.
func (d dim) number() bool { return d.kind != condition && d.kind != label }

// literal reports whether it is a number of the rule, which takes a dimension.
func (d dim) literal() bool { return d.kind == free || d.kind == freePart }

// takes reports whether a number of the rule takes a dimension. One in percent takes no unit: 2% of
// what, is not said.
func (d dim) takes(of dim) bool {
	return d.kind == free && of.number() || d.kind == freePart && of.bare()
}

// alike is the dimension of two figures that may be compared.
func alike(a, b dim) (dim, bool) {
	switch {
	case a == b || b.takes(a):
		return a, true
	case a.takes(b):
		return b, true
	case !a.number() || !b.number() || a.price != b.price || a.volume != b.volume:
		return dim{}, false
	case a.kind == ratio || b.kind == amount:
		return b, true
	case b.kind == ratio || a.kind == amount:
		return a, true
	}
	return dim{}, false
}

// sum is the dimension of a sum, or of a difference.
func sum(a, b dim, minus bool) (dim, bool) {
	switch {
	case a.kind == price && b.kind == price && minus:
		return aDistance, true
	case a.kind == price && b.kind == price:
		return dim{kind: amount, price: 1}, true
	case a.kind == price && b.kind == distance, b.kind == price && a.kind == distance && !minus:
		return aPrice, true
	case a.kind == price && b.kind == free, b.kind == price && a.kind == free:
		return aPrice, true
	}
	return alike(a, b)
}

// product is the dimension of a product, or of a quotient where sign is -1.
func product(a, b dim, sign int8) dim {
	d := dim{kind: amount, price: a.price + sign*b.price, volume: a.volume + sign*b.volume}
	if d.price == 0 && d.volume == 0 {
		d.kind = ratio
	}
	switch {
	case (b.literal() || b.kind == ratio) && a.kind != price && (b.kind != ratio || !a.literal()):
		d.kind = a.kind
	case (a.literal() || a.kind == ratio) && b.kind != price && sign > 0:
		d.kind = b.kind
	case a.kind == distance && b.bare():
		d.kind = distance
	}
	if d.literal() { // of a number and a word, such as 100 * rising
		d.kind = ratio
	}
	return d
}
