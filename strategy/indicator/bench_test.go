package indicator_test

import (
	"testing"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy/indicator"
)

// BenchmarkScan is the floor: reading the closes of the same candles.
func BenchmarkScan(b *testing.B) {
	all, sum := walk(1<<12), market.Price(0)
	for i := 0; b.Loop(); i++ {
		sum += all[i&(1<<12-1)].Close
	}
	if sum == 0 {
		b.Fatal("no prices")
	}
}

// BenchmarkPush is a push of each indicator, through two calls that cannot be inlined.
func BenchmarkPush(b *testing.B) {
	all := walk(1 << 12)
	for _, f := range figures() {
		b.Run(f.name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				f.push(all[i&(1<<12-1)])
			}
		})
	}
}

func BenchmarkSMA(b *testing.B) {
	all, average := walk(1<<12), indicator.NewSMA(50)
	for i := 0; b.Loop(); i++ {
		average.Push(all[i&(1<<12-1)].Close)
	}
}

func BenchmarkDonchian(b *testing.B) {
	all, channel := walk(1<<12), indicator.NewDonchian(50)
	for i := 0; b.Loop(); i++ {
		channel.Push(all[i&(1<<12-1)])
	}
}

func BenchmarkBollinger(b *testing.B) {
	all, band := walk(1<<12), indicator.NewBollinger(20, 2)
	for i := 0; b.Loop(); i++ {
		band.Push(all[i&(1<<12-1)].Close)
	}
}
