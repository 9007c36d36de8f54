package candles_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/candles"
)

func ExampleStore() {
	dir, err := os.MkdirTemp("", "candles")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	store, err := candles.Open(filepath.Join(dir, "candles.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()

	file := strings.NewReader("1577836800,7200.5,7210,7190,7205,1.5\n1577844000,7205,7206,7204,7204.5,0.25\n")
	report, err := store.ImportCSV(file,
		candles.ImportOptions{WriteOptions: candles.WriteOptions{Market: "BTC-EUR", Interval: market.Interval1h}})
	fmt.Println(report.Added, "candles", err)
	gaps, err := store.Gaps("BTC-EUR", market.Interval1h, 0, 0)
	fmt.Println(gaps[0].From, gaps[0].Candles, "missing, no trade:", gaps[0].NoTrade, err)
	// Output:
	// 2 candles <nil>
	// 2020-01-01T01:00:00Z 1 missing, no trade: false <nil>
}

func ExampleReader() {
	dir, err := os.MkdirTemp("", "candles")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	store, err := candles.Open(filepath.Join(dir, "candles.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	m := &market.Market{ID: 1, Name: "BTC-EUR", PriceDigits: 2, VolumeDigits: 8}
	candle := market.Candle{Open: 720050, High: 721000, Low: 719000, Close: 720500, Volume: 150000000,
		Start: market.Interval1h.StartOf(438288)}
	if _, err := store.Put(candles.WriteOptions{Market: m.Name, Interval: market.Interval1h}, []market.Candle{candle},
		2, 8, nil); err != nil {
		fmt.Println(err)
		return
	}

	reader, err := store.Read(candles.ReadOptions{Market: m, Interval: market.Interval1h})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reader.Close()
	for {
		candles, err := reader.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		for i := range candles {
			fmt.Println(candles[i].Start, m.FormatPrice(candles[i].Close))
		}
	}
	// Output: 2020-01-01T00:00:00Z 7205
}
