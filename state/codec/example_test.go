package codec_test

import (
	"fmt"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/codec"
)

// oneMarket is a catalog of BTC-EUR with these decimals of its prices.
func oneMarket(digits uint8) *market.Catalog {
	c := &market.Catalog{}
	for symbol, decimals := range map[string]uint8{"BTC": 8, "EUR": 2} {
		if _, err := c.AddAsset(symbol, decimals); err != nil {
			panic(err)
		}
	}
	if err := c.AddMarket(&market.Market{Name: "BTC-EUR", PriceDigits: digits}); err != nil {
		panic(err)
	}
	return c
}

// A price is written with two decimals and read by a program that has four.
func Example() {
	e := codec.Encoder{Names: codec.NewNames(oneMarket(2), []string{"grid"})}
	e.Market(1)
	e.Int(3521950) // 35219.50
	e.Strategy(1)
	if e.Err() != nil {
		fmt.Println(e.Err())
	}

	finer := oneMarket(4)
	var d codec.Decoder
	d.Open(codec.NewNames(finer, []string{"trend", "grid"}), e.Buf)
	m := finer.Market(d.Market())
	price := d.Price()
	name, number := d.Strategy()
	fmt.Println(len(e.Buf), "bytes:", m.Name, int64(price), m.FormatPrice(price), name, number, d.End())
	// Output: 18 bytes: BTC-EUR 352195000 35219.5 grid 2 <nil>
}

func ExampleEncoder() {
	e := codec.Encoder{Names: codec.NewNames(oneMarket(2), nil)}
	e.Flags(true, false, true)
	e.Int(-3)
	e.Text("stop")
	fmt.Printf("%x\n", e.Buf)
	e.Market(7)
	fmt.Println(e.Err())
	// Output:
	// 05050473746f70
	// market 7 is not of this catalog
}

func ExampleDecoder() {
	var d codec.Decoder
	d.Open(codec.NewNames(oneMarket(2), nil), []byte{0xff, 0x7f, 'a'})
	fmt.Println(d.Int(), d.Text(), d.Left())
	fmt.Println(d.End())
	// Output:
	// -8192  0
	// corrupt: 97 bytes wanted where 0 are left
}
