package indicator_test

import (
	"fmt"
	"slices"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

func ExampleLevel() {
	average := indicator.NewSMA(2)
	average.Push(100_00)
	average.Push(100_01)
	fmt.Println(average.Value())
	fmt.Println(average.Below(0), average.Above(0))
	fmt.Println(average.Below(5*market.Percent), average.Above(5*market.Percent))
	// Output:
	// 10000.5
	// 10000 10001
	// 9500 10501
}

func ExampleSMA() {
	average := indicator.NewSMA(3)
	for _, price := range []market.Price{10, 20, 30, 70} {
		average.Push(price)
		fmt.Println(average.Ready(), average.Sum())
	}
	// Output:
	// false 10
	// false 30
	// true 60
	// true 120
}

func ExampleEMA() {
	average := indicator.NewEMA(3)
	for _, price := range []market.Price{10, 20, 30, 70} {
		average.Push(price)
	}
	fmt.Println(average.Value())
	// Output: 45
}

func ExampleRSI() {
	strength := indicator.NewRSI(2)
	for _, price := range []market.Price{100, 130, 120} {
		strength.Push(price)
	}
	fmt.Println(strength.Value())
	// Output: 75
}

func ExampleATR() {
	reach := indicator.NewATR(2)
	reach.Push(market.Candle{High: 110, Low: 100, Close: 100})
	reach.Push(market.Candle{High: 130, Low: 120, Close: 125}) // opened with a gap
	fmt.Println(reach.Value())
	// Output: 20
}

func ExampleStdDev() {
	deviation := indicator.NewStdDev(4)
	for _, price := range []market.Price{10, 10, 20, 20} {
		deviation.Push(price)
	}
	fmt.Println(deviation.Mean(), deviation.Value())
	// Output: 15 5
}

func ExampleBollinger() {
	band := indicator.NewBollinger(4, 2)
	for _, price := range []market.Price{10, 10, 20, 20} {
		band.Push(price)
	}
	fmt.Println(band.Lower(), band.Middle(), band.Upper())
	// Output: 5 15 25
}

func ExampleDonchian() {
	channel := indicator.NewDonchian(2)
	for _, c := range []market.Candle{{High: 50, Low: 40}, {High: 30, Low: 20}, {High: 45, Low: 25}} {
		channel.Push(c)
	}
	fmt.Println(channel.Low(), channel.High())
	// Output: 20 45
}

func ExampleVWAP() {
	average := indicator.NewVWAP(2)
	average.Push(market.Candle{High: 11, Low: 9, Close: 10, Volume: 3})
	average.Push(market.Candle{High: 22, Low: 18, Close: 20, Volume: 1})
	fmt.Println(average.Value())
	// Output: 12.5
}

func ExampleWMA() {
	average := indicator.NewWMA(3)
	for _, price := range []market.Price{10, 20, 30} {
		average.Push(price)
	}
	fmt.Printf("%.2f\n", average.Value()) // (1·10 + 2·20 + 3·30) ÷ 6
	// Output: 23.33
}

func ExampleMACD() {
	macd := indicator.NewMACD(2, 4, 2)
	for _, price := range []market.Price{10, 12, 14, 16, 18, 20, 16, 12} {
		macd.Push(price)
	}
	fmt.Printf("%.2f %.2f %.2f\n", macd.Value(), macd.Signal(), macd.Histogram())
	// Output: -1.09 -0.42 -0.68
}

func ExampleADX() {
	index := indicator.NewADX(3)
	for i := range market.Price(10) {
		index.Push(market.Candle{High: 110 + 2*i, Low: 100 + 2*i, Close: 105 + 2*i})
	}
	fmt.Println(index.Value(), index.Plus(), index.Minus())
	// Output: 100 20 0
}

func ExampleSupertrend() {
	trend := indicator.NewSupertrend(2, 1)
	for _, close := range []market.Price{100, 100, 100, 120, 130, 100} {
		trend.Push(market.Candle{High: close + 2, Low: close - 2, Close: close})
		if trend.Ready() {
			fmt.Print(trend.Up(), " ", trend.Value(), "  ")
		}
	}
	// Output: false 104  false 104  true 107  true 117.5  false 122.25
}

func ExampleRegression() {
	line := indicator.NewRegression(3)
	for _, price := range []market.Price{10, 13, 13} {
		line.Push(price)
	}
	fmt.Println(line.Value(), line.Slope())
	// Output: 13.5 1.5
}

func ExampleStochastic() {
	place := indicator.NewStochastic(2, 1, 2)
	for _, close := range []market.Price{100, 110, 105} {
		place.Push(market.Candle{High: close, Low: close - 10, Close: close})
	}
	fmt.Printf("%.2f %.2f\n", place.Value(), place.Signal())
	// Output: 66.67 83.33
}

func ExampleKeltner() {
	band := indicator.NewKeltner(2, 2, 1.5)
	band.Push(market.Candle{High: 110, Low: 90, Close: 100})
	band.Push(market.Candle{High: 120, Low: 100, Close: 110})
	fmt.Println(band.Lower(), band.Middle(), band.Upper())
	// Output: 75 105 135
}

func ExampleChandelier() {
	stops := indicator.NewChandelier(2, 3)
	stops.Push(market.Candle{High: 110, Low: 100, Close: 105})
	stops.Push(market.Candle{High: 120, Low: 110, Close: 115})
	fmt.Println(stops.Long(), stops.Short()) // the ATR is 12.5: the second range counts its gap
	// Output: 82.5 137.5
}

func ExampleOBV() {
	balance, slope := indicator.NewOBV(), indicator.NewSlope(2)
	for _, c := range []market.Candle{{Close: 10, Volume: 5}, {Close: 11, Volume: 3}, {Close: 10, Volume: 1}} {
		balance.Push(c)
		slope.Push(balance.Value())
	}
	fmt.Println(balance.Value(), slope.Value())
	// Output: 7 1
}

func ExampleZScore() {
	score := indicator.NewZScore(4)
	for _, price := range []market.Price{10, 10, 10, 30} {
		score.Push(price)
	}
	fmt.Printf("%.3f\n", score.Value())
	// Output: 1.732
}

func ExampleRank() {
	rank := indicator.NewRank(5)
	for _, x := range []float64{3, 9, 5, 1, 7} {
		rank.Push(x)
	}
	fmt.Println(rank.Value())
	// Output: 75
}

func ExampleLineCross() {
	var x indicator.LineCross
	average := indicator.NewEMA(3)
	for _, close := range []market.Price{10, 11, 12, 20, 8} {
		if average.Push(close); average.Ready() {
			fmt.Print(x.Push(float64(close), average.Value()), " ")
		}
	}
	// Output: 0 0 -1
}

func ExampleSince() {
	var since indicator.Since
	for _, close := range []market.Price{10, 12, 11, 11} {
		since.Push(close > 11)
	}
	fmt.Println(since.Ready(), since.Count())
	// Output: true 2
}

// Any function over a slice becomes an indicator.
func ExampleBatch() {
	median := indicator.NewBatch(3, func(x []float64) []float64 {
		slices.Sort(x)
		return x[:2]
	})
	for _, price := range []market.Price{10, 50, 20, 30} {
		median.Push(float64(price))
	}
	fmt.Println(median.Value())
	// Output: 30
}
