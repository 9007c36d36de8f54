package footprint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
)

// row is one line of a story: at a second, an own order or fill, or an event and what is left of
// it.
type row struct {
	at   market.Time
	tell any    // Rest, market.Fill, market.OrderBook, market.Trade, market.Ticker
	want string // of an event; "-": nothing
}

func playRows(t *testing.T, rows []row) Counts {
	m := New(newCatalog(t))
	for _, r := range rows {
		at := r.at * 1e9
		ev := &market.Event{At: at, Market: 1}
		switch what := r.tell.(type) {
		case Rest:
			what.At, what.Market = at, 1
			m.Rest(what)
			continue
		case market.Fill:
			what.Time, what.Market = at, 1
			m.Fill(&what)
			continue
		case market.OrderBook:
			what.Market = 1
			ev.Kind, ev.Book = market.KindBook, &what
		case market.Trade:
			what.Market = 1
			ev.Kind, ev.Trade = market.KindTrade, &what
		case market.Ticker:
			what.Market = 1
			ev.Kind, ev.Ticker = market.KindTicker, &what
		}
		require.Equal(t, r.want, describe(m.Clean(ev)), "second %d", r.at)
	}
	return m.Counts()
}

// describe writes an event as "99x5 98x3 | 101x2", "99x5" or "last 99, 98x1 | 101x2".
func describe(ev *market.Event) string {
	switch {
	case ev == nil:
		return "-"
	case ev.Trade != nil:
		return fmt.Sprintf("%dx%d", ev.Trade.Price, ev.Trade.Amount)
	case ev.Ticker != nil:
		k := ev.Ticker
		return fmt.Sprintf("last %d, %dx%d | %dx%d", k.Last, k.Bid, k.BidSize, k.Ask, k.AskSize)
	}
	var words []string
	for _, l := range ev.Book.Bids {
		words = append(words, fmt.Sprintf("%dx%d", l.Price, l.Amount))
	}
	words = append(words, "|")
	for _, l := range ev.Book.Asks {
		words = append(words, fmt.Sprintf("%dx%d", l.Price, l.Amount))
	}
	return strings.Join(words, " ")
}

// levels reads "99x5 98x3".
func levels(t *testing.T, text string) (list []market.Level) {
	for _, word := range strings.Fields(text) {
		var l market.Level
		_, err := fmt.Sscanf(word, "%dx%d", &l.Price, &l.Amount)
		require.NoError(t, err)
		list = append(list, l)
	}
	return list
}

func book(t *testing.T, bids, asks string) market.OrderBook {
	return market.OrderBook{Bids: levels(t, bids), Asks: levels(t, asks)}
}

func TestOwnOrdersLeaveTheBooks(t *testing.T) {
	counts := playRows(t, []row{
		{1, book(t, "99x5", "101x2"), "99x5 | 101x2"},
		{2, Rest{Order: 1, Side: market.Buy, Price: 99, Amount: 2}, ""},
		{2, Rest{Order: 2, Side: market.Buy, Price: 100, Amount: 1}, ""},
		{3, book(t, "100x1 99x7", "101x2"), "99x5 | 101x2"},
		{4, Rest{Order: 1, Side: market.Buy, Price: 99, Amount: 1}, ""}, // a part was filled
		{5, Rest{Order: 2, Side: market.Buy, Price: 98, Amount: 1}, ""}, // an update
		{6, book(t, "99x6 98x1", "101x2"), "99x5 | 101x2"},
		{7, Rest{Order: 1}, ""},
		{8, book(t, "99x5 98x3", "101x2"), "99x5 98x2 | 101x2"},
		{9, market.OrderBook{Time: 6_500_000_000, Bids: levels(t, "99x6")}, "99x6 |"}, // an old snapshot: as of now
		{9, book(t, "99x5", "101x2"), "99x5 | 101x2"},
	})
	require.Equal(t, Counts{Books: 3}, counts)
}

// The order is known to rest where the snapshot shows less.
func TestASnapshotWithLessThanTheOrderIsCounted(t *testing.T) {
	counts := playRows(t, []row{
		{2, Rest{Order: 1, Side: market.Sell, Price: 101, Amount: 3}, ""},
		{3, book(t, "99x5", "101x2 102x1"), "99x5 | 102x1"},
	})
	require.Equal(t, Counts{Books: 1, Unseen: 1}, counts)
}

func TestOwnTradesAsTakerLeaveTheRecordingThoseAsMakerStay(t *testing.T) {
	counts := playRows(t, []row{
		{1, market.Trade{Price: 100, Amount: 4}, "100x4"},
		{2, market.Fill{Side: market.Buy, Taker: true, Price: 101, Amount: 2}, ""},
		{2, market.Trade{Price: 101, Amount: 2, Side: market.Buy}, "-"},
		{2, market.Trade{Price: 101, Amount: 2, Side: market.Buy}, "101x2"}, // another's
		{3, market.Fill{Side: market.Buy, Price: 99, Amount: 2}, ""},
		{3, market.Trade{Price: 99, Amount: 2, Side: market.Sell}, "99x2"},
		{4, market.Fill{Side: market.Buy, Taker: true, Price: 101, Amount: 2}, ""},
		{70, market.Trade{Price: 99, Amount: 2, Side: market.Sell}, "99x2"},
	})
	require.Equal(t, Counts{Trades: 1, Untraded: 1}, counts)
}

func TestTakenLiquidityIsPutBackUntilOthersReplaceIt(t *testing.T) {
	counts := playRows(t, []row{
		{1, book(t, "99x5", "101x4 103x1"), "99x5 | 101x4 103x1"},
		{2, market.Fill{Side: market.Buy, Taker: true, Price: 101, Amount: 3}, ""},
		{3, book(t, "99x5", "101x1 103x1"), "99x5 | 101x4 103x1"},
		{4, book(t, "99x5", "103x1"), "99x5 | 101x3 103x1"},       // others took or cancelled one
		{5, book(t, "99x5", "101x2 103x1"), "99x5 | 101x3 103x1"}, // others put two there
		{6, book(t, "99x5", "101x5 103x1"), "99x5 | 101x5 103x1"},
	})
	require.Equal(t, Counts{Books: 3}, counts)
}

func TestTakenLiquidityEndsWhereItWouldHaveTraded(t *testing.T) {
	took := row{2, market.Fill{Side: market.Buy, Taker: true, Price: 101, Amount: 3}, ""}
	playRows(t, []row{took, // trades at worse prices would have met it first
		{3, book(t, "99x5", "103x9"), "99x5 | 101x3 103x9"},
		{4, market.Trade{Price: 103, Amount: 2, Side: market.Buy}, "103x2"},
		{5, book(t, "99x5", "103x7"), "99x5 | 101x1 103x7"},
		{6, market.Trade{Price: 103, Amount: 2, Side: market.Buy}, "103x2"},
		{7, book(t, "99x5", "103x5"), "99x5 | 103x5"},
	})
	playRows(t, []row{took, // a bid there
		{3, book(t, "101x1", "103x9"), "101x1 | 103x9"},
		{4, book(t, "99x1", "103x9"), "99x1 | 103x9"},
	})
	playRows(t, []row{took, // beyond the recorded levels it is not known
		{3, book(t, "98x1", "99x9 100x1"), "98x1 | 99x9 100x1"},
	})
}

func TestTickersAreThoseOfTheOthers(t *testing.T) {
	counts := playRows(t, []row{
		{1, book(t, "99x5 98x2", "101x4"), "99x5 98x2 | 101x4"},
		{1, market.Ticker{Last: 100, Bid: 99, BidSize: 5, Ask: 101, AskSize: 4}, "last 100, 99x5 | 101x4"},
		{2, Rest{Order: 1, Side: market.Buy, Price: 100, Amount: 1}, ""},
		{3, market.Ticker{Last: 100, Bid: 100, BidSize: 1, Ask: 101, AskSize: 4}, "last 100, 99x5 | 101x4"},
		{3, market.Ticker{Last: 100, Bid: 100, Ask: 101}, "last 100, 99x5 | 101x0"},
		{3, market.Ticker{Last: 100, Bid: 100, BidSize: 3, Ask: 101, AskSize: 4}, "last 100, 100x2 | 101x4"},
		{4, market.Fill{Side: market.Buy, Taker: true, Price: 101, Amount: 4}, ""},
		{5, market.Ticker{Last: 101, Bid: 100, BidSize: 1, Ask: 103, AskSize: 1}, "last 100, 99x5 | 101x4"},
		{6, market.Ticker{Last: 101, Bid: 100, BidSize: 1, Ask: 101, AskSize: 1}, "last 100, 99x5 | 101x5"},
		{7, market.Trade{Price: 101, Amount: 7, Side: market.Buy}, "101x7"},
		{8, market.Ticker{Last: 101, Bid: 100, BidSize: 1, Ask: 101, AskSize: 1}, "last 101, 99x5 | 101x5"},
		{9, Rest{Order: 1}, ""},
		{9, market.Ticker{Last: 101, Bid: 98, BidSize: 1, Ask: 101, AskSize: 1}, "last 101, 98x1 | 101x5"},
	})
	require.Equal(t, int64(7), counts.Tickers)
}

// Without books the price behind the account's own is the latest one of others, and nothing is put
// back.
func TestTickersWithoutBooks(t *testing.T) {
	playRows(t, []row{
		{1, market.Ticker{Last: 100, Bid: 99, BidSize: 5, Ask: 101, AskSize: 4}, "last 100, 99x5 | 101x4"},
		{2, Rest{Order: 1, Side: market.Buy, Price: 100, Amount: 1}, ""},
		{3, market.Ticker{Last: 100, Bid: 100, BidSize: 1, Ask: 101, AskSize: 4}, "last 100, 99x0 | 101x4"},
		{4, market.Fill{Side: market.Buy, Taker: true, Price: 101, Amount: 4}, ""},
		{5, market.Ticker{Last: 101, Bid: 100, BidSize: 1, Ask: 102, AskSize: 4}, "last 100, 99x0 | 102x4"},
		{6, market.Ticker{Last: 102, Bid: 99, BidSize: 1, Ask: 102, AskSize: 4}, "last 102, 99x1 | 102x4"},
	})
}

func TestOtherEventsStay(t *testing.T) {
	m := New(newCatalog(t))
	for _, ev := range []*market.Event{{Kind: market.KindCandles}, {Kind: market.KindMarketStatus}} {
		require.Same(t, ev, m.Clean(ev))
	}
}
