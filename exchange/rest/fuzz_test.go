package rest

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/wire"
	"github.com/tidemark-trading/tidemark/market"
)

// slow reads by encoding/json what the decoders read by hand, member by member: the same answers,
// or an error where they have one. Members are looked up in a map, since a struct's are found in
// any case.
type slow struct{ bad bool }

func (s *slow) members(raw json.RawMessage) (all map[string]json.RawMessage) {
	s.bad = json.Unmarshal(raw, &all) != nil || all == nil || s.bad
	return all
}

func (s *slow) elements(raw json.RawMessage) (all []json.RawMessage) {
	s.bad = json.Unmarshal(raw, &all) != nil || all == nil || s.bad
	return all
}

// text returns a string or how a number, true or false is written; false for null or absent.
func (s *slow) text(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", false
	}
	switch raw[0] {
	case '{', '[':
		s.bad = true
		return "", false
	case '"':
		var text string
		s.bad = json.Unmarshal(raw, &text) != nil || s.bad
		return text, true
	}
	return string(raw), true
}

func (s *slow) fixed(raw json.RawMessage, digits uint8) int64 {
	text, ok := s.text(raw)
	n, err := market.ParseFixed(text, digits)
	s.bad = s.bad || !ok || err != nil || n < 0
	return n
}

// member is fixed for a member, which may be absent but not null.
func (s *slow) member(all map[string]json.RawMessage, name string, digits uint8) int64 {
	raw, there := all[name]
	if !there {
		return 0
	}
	return s.fixed(raw, digits)
}

func (s *slow) integer(raw json.RawMessage) int64 {
	text, ok := s.text(raw)
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	s.bad = s.bad || err != nil
	return n
}

func (s *slow) millis(raw json.RawMessage) market.Time {
	t, err := market.TimeOfMillis(s.integer(raw))
	s.bad = s.bad || err != nil
	return t
}

func (s *slow) column(row []json.RawMessage, at int, digits uint8) int64 {
	if at >= len(row) {
		s.bad = true
		return 0
	}
	return s.fixed(row[at], digits)
}

func (s *slow) levels(raw json.RawMessage, m *market.Market) (levels []market.Level) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	for _, element := range s.elements(raw) {
		row := s.elements(element)
		levels = append(levels, market.Level{Price: market.Price(s.column(row, 0, m.PriceDigits)),
			Amount: market.Qty(s.column(row, 1, m.AmountDigits))})
	}
	return levels
}

// repeated reports whether an object in the text has two members of one name: then the decoders
// check both, encoding/json the last.
func repeated(text []byte) bool {
	s := wire.NewScanner(text)
	found := false
	var walk func()
	walk = func() {
		switch s.Peek() {
		case '{':
			names := map[string]bool{}
			for s.Object(); s.Member(); {
				found = found || names[string(s.Name())]
				names[string(s.Name())] = true
				walk()
			}
		case '[':
			for s.Array(); s.Element(); {
				walk()
			}
		default:
			s.Discard()
		}
	}
	walk()
	return found
}

func FuzzBook(f *testing.F) {
	m, _ := deskMarket(f, 2)
	f.Add(bookText(3))
	for _, seed := range []string{`{"market":"BTC-EUR","bids":[["7.5E+4","1"]],"asks":null,"nonce":"9","timestamp":1}`,
		`{"market":"BTC-EUR","bids":[["123456.78","0.12345678"],["1","2"]]}`,
		`{"\u006darket":"BTC-EUR","x":[1.5e-3,{"a":"\ud800"}],"bids":[["1234567.12","1",3],[1,2.5]]}                `} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var have, want market.OrderBook
		err := parseBook(text, m, &have)
		if repeated(text) {
			return
		}
		var s slow
		all := s.members(text)
		name, _ := s.text(all["market"])
		want = market.OrderBook{Market: 1, Nonce: s.integer(all["nonce"]),
			Time: market.Time(s.integer(all["timestamp"])), Bids: s.levels(all["bids"], m), Asks: s.levels(all["asks"],
				m)}
		s.bad = s.bad || name != "BTC-EUR" || want.Time < 0 || want.Time == math.MaxInt64
		require.Equal(t, s.bad, err != nil, "%v", err)
		if err == nil {
			require.Equal(t, want.Nonce, have.Nonce)
			require.Equal(t, want.Time, have.Time)
			require.Equal(t, append([]market.Level{}, want.Bids...), append([]market.Level{}, have.Bids...))
			require.Equal(t, append([]market.Level{}, want.Asks...), append([]market.Level{}, have.Asks...))
		}
	})
}

func FuzzCandles(f *testing.F) {
	m, _ := deskMarket(f, 2)
	f.Add(candleText(3))
	f.Add([]byte(`[["1538784000000","4999","5012","4999","5012.0","0.45"],[1538784060000,4999,5012,4999,5012,1e-8,"more"]]`))
	f.Add([]byte(`[[15387840600001,"1","1","1","1","1"],[1538784060000,"1","1","1","1","1"],[-538784060000,"1","1","1","1","1"]]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		have, err := appendCandles(nil, text, m, market.Interval1m)
		var s slow
		var want []market.Candle
		for _, element := range s.elements(text) {
			row := s.elements(element)
			if len(row) == 0 {
				s.bad = true
				break
			}
			want = append(want, market.Candle{Market: 1, Interval: market.Interval1m, Start: s.millis(row[0]),
				Open: market.Price(s.column(row, 1, 2)), High: market.Price(s.column(row, 2, 2)),
				Low: market.Price(s.column(row, 3, 2)), Close: market.Price(s.column(row,
					4, 2)), Volume: market.Volume(s.column(row, 5, 8))})
		}
		if repeated(text) {
			return
		}
		require.Equal(t, s.bad, err != nil, "%v", err)
		if err == nil {
			require.Equal(t, want, have)
		}
	})
}

func FuzzPublicTrades(f *testing.F) {
	m, _ := deskMarket(f, 2)
	f.Add(tradeText(3))
	f.Add([]byte(`[{"id":"00000000-0000-0431-0000-000002986190","timestamp":"5","side":"buy","price":1e2,"amount":"1","fee":null}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		have, err := appendPublicTrades(nil, text, m)
		if repeated(text) {
			return
		}
		var s slow
		var want []PublicTrade
		for _, element := range s.elements(text) {
			all := s.members(element)
			trade := PublicTrade{Trade: market.Trade{Market: 1, Time: s.millis(all["timestamp"]),
				Price: market.Price(s.member(all, "price", 2)), Amount: market.Qty(s.member(all, "amount", 8))}}
			if raw, there := all["id"]; there {
				text, _ := s.text(raw)
				id, err := uuid.Parse(text)
				s.bad = s.bad || err != nil
				trade.ID = id
			}
			if raw, there := all["side"]; there {
				text, _ := s.text(raw)
				side, err := market.ParseSide(text)
				s.bad = s.bad || err != nil
				trade.Side = side
			}
			want = append(want, trade)
		}
		require.Equal(t, s.bad, err != nil, "%v", err)
		if err == nil {
			require.Equal(t, want, have)
		}
	})
}

func FuzzTickers(f *testing.F) {
	m, cat := deskMarket(f, 2)
	named := newDirectory(cat).named
	f.Add([]byte(`[{"market":"BTC-EUR","price":"96144","bid":"96143.5","bidSize":"0.25","ask":null,"askSize":7.5E+4},{"market":"X-Y","price":"x"}]`))
	f.Add([]byte(`{"market":"BTC-EUR","price":"1.001"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		have, err := appendTickers(nil, text, named)
		if repeated(text) {
			return
		}
		var s, number slow
		rows := []json.RawMessage{text}
		if first := wire.NewScanner(text); first.Peek() != '{' {
			rows = s.elements(text)
		}
		var want []market.Ticker
		unfit := false
		for _, element := range rows {
			all := s.members(element)
			name, _ := s.text(all["market"])
			read := func(member string, digits uint8) int64 {
				if _, ok := s.text(all[member]); !ok {
					return 0
				}
				return number.fixed(all[member], digits)
			}
			number.bad = false
			ticker := market.Ticker{Market: 1, Last: market.Price(read("price", 2)), Bid: market.Price(read("bid", 2)),
				BidSize: market.Qty(read("bidSize", 8)),
				Ask:     market.Price(read("ask", 2)), AskSize: market.Qty(read("askSize", 8))}
			switch {
			case name != m.Name:
			case number.bad:
				unfit = true
			default:
				want = append(want, ticker)
			}
		}
		if s.bad {
			require.Error(t, err)
			return
		}
		require.Equal(t, unfit, err != nil, "%v", err)
		require.Equal(t, unfit, errors.Is(err, exchange.ErrUnits))
		require.Equal(t, want, have)
	})
}

func FuzzAnswersOfOrders(f *testing.F) {
	m, cat := deskMarket(f, 2)
	f.Add(append(append([]byte{'['}, orderText(cat)...), ']'))
	f.Add([]byte(`{"orderId":"2e7ce7fc-44e2-4d80-a4a7-d079c4750b61","operatorId":543462}`))
	f.Add([]byte(`[{"id":"00000000-0000-0431-0000-000002986190","orderId":"2e7ce7fc-44e2-4d80-a4a7-d079c4750b61","side":"buy","fee":"1","settled":true,"feeCurrency":"EUR"}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := readOrders(text, cat)
		var elements []json.RawMessage
		failed := json.Unmarshal(text, &elements) != nil || elements == nil
		require.Equal(t, failed, err != nil, "%v", err)
		if err == nil {
			require.Len(t, elements, len(list.Records)+len(list.Unread))
		}
		if _, err := appendTrades(nil, text, m, cat); err == nil {
			require.True(t, json.Valid(text))
		}
		if _, err := readCancel(text, m); err == nil {
			require.True(t, json.Valid(text))
		}
	})
}
