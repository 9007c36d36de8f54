package stream

import (
	"encoding/json"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// FuzzFrame reads any frame as the connection and each channel do. What is read of a frame is what
// encoding/json reads of it, and a delta leads to the same book as levels in a map.
func FuzzFrame(f *testing.F) {
	for _, seed := range []string{
		`{"event":"book","market":"BTC-EUR","nonce":41,"bids":[["501.00","0.05"],["499.00","0"]],"asks":[],` +
			`"timestamp":17}`,
		`{"bids":[["501.00","3"]],"event":"book","nonce":8,"market":"BTC-EUR"}`,
		`{"event":"ticker","market":"BTC-EUR","bestBid":"95001","bestBidSize":"0.05"}`,
		`{"event":"candle","market":"BTC-EUR","interval":"1m","candle":[[1789999980000,"95000","95010","94990",` +
			`"95002","1"]]}`,
		`{"event":"trade","timestamp":17,"timestampNs":18,"market":"BTC-EUR",` +
			`"id":"00000000-0000-0002-0000-00000000002a","amount":"0.01","price":"95002","side":"buy"}`,
		`{"action":"getTime","requestId":17,"response":{"time":1790000000123}}`,
		`{"action":"subscribe","requestId":3,"errorCode":205,"error":"market parameter is invalid."}`,
		`{"event":"subscribed","requestId":4,"subscriptions":{"book":["BTC-EUR"]}}`,
	} {
		f.Add([]byte(seed))
	}
	known := names{}
	for _, m := range newCatalog(f).Markets() {
		known[m.Name] = m
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		checkHead(t, frame)
		var d delta
		if m, err := readDelta(frame, known, &d); err == nil && m != nil {
			checkFold(t, &d)
		}
		var top market.Ticker
		if _, _, err := readTop(frame, known, &top); err == nil {
			require.GreaterOrEqual(t, min(int64(top.Bid), int64(top.Ask), int64(top.Last), int64(top.BidSize)),
				int64(0))
		}
		_, _, _, _ = readCandles(frame, known, nil)
		_, _, _ = readTrade(frame, known)
	})
}

// checkHead compares the head of a frame with what encoding/json finds.
func checkHead(t *testing.T, frame []byte) {
	h, err := readHead(frame)
	if err != nil || channelOf(h.event) != "" {
		return // an event is read to its end by its channel
	}
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(frame, &members))
	var event *string // encoding/json replaces what is no UTF-8, the scanner leaves it
	if utf8.Valid(frame) && json.Unmarshal(members["event"], &event) == nil && event != nil {
		require.Equal(t, *event, string(h.event))
	}
	require.Equal(t, members["errorCode"] != nil, h.refusal != nil)
	require.Equal(t, string(members["response"]), string(h.response))
}

// checkFold compares a delta in a copy with one in maps.
func checkFold(t *testing.T, d *delta) {
	var book bookCopy
	book.load(levelsOf(1, 20), 20)
	start := levelsOf(1, 20)
	lowest, highest := start.Bids[19].Price, start.Asks[19].Price
	bids, asks := map[market.Price]market.Qty{}, map[market.Price]market.Qty{}
	for i := range 20 {
		bids[start.Bids[i].Price], asks[start.Asks[i].Price] = start.Bids[i].Amount, start.Asks[i].Amount
	}
	book.apply(d)
	for _, l := range d.Bids {
		if bids[l.Price] = l.Amount; l.Amount == 0 || l.Price < lowest {
			delete(bids, l.Price)
		}
	}
	for _, l := range d.Asks {
		if asks[l.Price] = l.Amount; l.Amount == 0 || l.Price > highest {
			delete(asks, l.Price)
		}
	}
	got := book.book(1, snapshotDepth)
	require.Len(t, got.Bids, len(bids))
	require.Len(t, got.Asks, len(asks))
	require.True(t, slices.IsSortedFunc(got.Bids, func(a, b market.Level) int { return int(b.Price - a.Price) }))
	require.True(t, slices.IsSortedFunc(got.Asks, func(a, b market.Level) int { return int(a.Price - b.Price) }))
	for _, l := range got.Bids {
		require.Equal(t, bids[l.Price], l.Amount)
	}
	for _, l := range got.Asks {
		require.Equal(t, asks[l.Price], l.Amount)
	}
}
