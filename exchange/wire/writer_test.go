package wire_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

func TestCommasStandBetweenMembersAndElements(t *testing.T) {
	var w wire.Writer
	w.Open('[')
	w.Open('{')
	w.Text("a", "1")
	w.Word("none", "")
	w.Null("b")
	w.Key("c")
	w.Open('[')
	w.Comma()
	w.Quote("x")
	w.Comma()
	w.Decimal(-150, 2)
	w.Close(']')
	w.Boolean("d", true)
	w.Close('}')
	w.Open('{')
	w.Close('}')
	w.Open('[')
	w.Close(']')
	w.Close(']')
	require.Equal(t, `[{"a":"1","b":null,"c":["x","-1.5"],"d":true},{},[]]`, string(w.Dst))
}

func TestNumbersAreWrittenDigitForDigit(t *testing.T) {
	var w wire.Writer
	w.Open('{')
	w.Integer("integer", -9223372036854775808)
	w.Fixed("fixed", 1_50000000, 8)
	w.Padded("padded", 1_50000000, 8)
	w.Value("value", market.ValueOf(9223372036854775807), 10)
	w.Close('}')
	require.Equal(t, `{"integer":-9223372036854775808,"fixed":"1.5","padded":"1.50000000",`+
		`"value":"922337203.6854775807"}`, string(w.Dst))
}

func TestTextsAreEscapedWhereNeeded(t *testing.T) {
	for _, text := range []string{"", "BTC-EUR", `a"b\c`, "line\nfeed", "é€😀", "\x7f", "\u2028"} {
		var w wire.Writer
		w.Quote(text)
		var back string
		require.NoError(t, json.Unmarshal(w.Dst, &back), text)
		require.Equal(t, text, back)
		s := wire.NewScanner(w.Dst)
		require.Equal(t, text, string(s.Token()))
		require.NoError(t, s.End())
	}
}

func TestAUUIDIsWrittenAsTheLibraryWritesIt(t *testing.T) {
	for _, id := range []uuid.UUID{{}, {15: 1}, uuid.MustParse("57b1159b-6bf5-4cde-9e2c-6bd6a5678baf"), uuid.Max} {
		var w wire.Writer
		w.ID("id", id)
		require.Equal(t, `"id":"`+id.String()+`"`, string(w.Dst))
		s := wire.NewScanner(w.Dst[len(`"id":`):])
		require.Equal(t, id, s.ID("id"))
	}
}

func TestLevelsAreReadBack(t *testing.T) {
	m := &market.Market{PriceDigits: 2, AmountDigits: 8}
	for _, levels := range [][]market.Level{
		nil, {{Price: 30000_50, Amount: 1}}, {{Price: 1, Amount: 2}, {Price: 1 << 62, Amount: 1 << 62}, {Price: 3}},
	} {
		var w wire.Writer
		w.Levels(m, levels)
		s := wire.NewScanner(w.Dst)
		have := s.Levels("bids", m, nil)
		require.NoError(t, s.End())
		require.Equal(t, levels, have)
	}
}

func TestWritingAllocatesNothingIntoAUsedBuffer(t *testing.T) {
	w, id := wire.Writer{Dst: make([]byte, 0, 512)}, uuid.UUID{1}
	require.Zero(t, testing.AllocsPerRun(20, func() {
		w.Dst = w.Dst[:0]
		w.Open('{')
		w.Text("market", "BTC-EUR")
		w.ID("id", id)
		w.Integer("n", 5)
		w.Fixed("price", 30000_50, 2)
		w.Value("fee", market.ValueOf(7), 10)
		w.Close('}')
	}))
}

func ExampleWriter() {
	var w wire.Writer
	w.Open('{')
	w.Text("market", "BTC-EUR")
	w.Fixed("price", 30000_50, 2)
	w.Close('}')
	fmt.Println(string(w.Dst))
	// Output: {"market":"BTC-EUR","price":"30000.5"}
}
