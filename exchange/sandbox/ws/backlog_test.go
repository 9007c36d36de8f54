package ws

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tidemark-trading/tidemark/market"
)

// queueOf makes a queue of events and answers as an exchange sends them. It also returns the books
// after each nonce.
func queueOf(t *rapid.T) (queue []outgoing, books map[market.ID][]map[string]string) {
	now := map[market.ID]map[string]string{}
	books = map[market.ID][]map[string]string{}
	for n := range rapid.IntRange(1, 30).Draw(t, "messages") {
		id := market.ID(rapid.IntRange(1, 2).Draw(t, "market"))
		one := message{topic: Topic{Channel: Channel(rapid.IntRange(0, int(channels)-1).Draw(t, "channel")),
			Market: id}}
		switch small := rapid.IntRange(0, 3); one.topic.Channel {
		case Ticker:
			text := fmt.Sprintf(`{"event":"ticker","market":"M%d"`, id)
			for bit, name := range []string{"bestBid", "bestAsk", "lastPrice"} {
				if rapid.IntRange(1, 7).Draw(t, "members")&(1<<bit) != 0 {
					text += fmt.Sprintf(`,%q:"%d"`, name, n)
				}
			}
			one.text = []byte(text + "}")
		case Ticker24h:
			one.topic.Market, one.days = 0, fmt.Sprint(small.Draw(t, "days"))
			one.text = fmt.Appendf(nil, `{"event":"ticker24h","data":[{"market":"M%s","last":"%d"}]}`, one.days, n)
		case Candles:
			one.text = fmt.Appendf(nil, `{"event":"candle","market":"M%d","interval":"1m","candle":[[%d,"%d"]]}`, id,
				small.Draw(t, "start"), n)
		case Book:
			if now[id] == nil {
				now[id], books[id] = map[string]string{}, []map[string]string{{}}
			}
			sides := map[string][]string{}
			for range rapid.IntRange(1, 4).Draw(t, "levels") {
				side, price := rapid.SampledFrom([]string{"bids", "asks"}).Draw(t,
					"side"), fmt.Sprint(small.Draw(t, "price"))
				if !strings.Contains(strings.Join(sides[side], ""), `["`+price+`"`) {
					now[id][side+price] = fmt.Sprint(n)
					sides[side] = append(sides[side], fmt.Sprintf(`["%s","%d"]`, price, n))
				}
			}
			one.text = fmt.Appendf(nil,
				`{"event":"book","market":"M%d","nonce":%d,"bids":[%s],"asks":[%s],"timestamp":%d}`,
				id, len(books[id]), strings.Join(sides["bids"], ","), strings.Join(sides["asks"], ","), n)
			books[id] = append(books[id], maps.Clone(now[id]))
		default:
			one.text = fmt.Appendf(nil, `{"event":"e%d","n":%d}`, one.topic.Channel, n)
		}
		queue = append(queue, outgoing{message: &one, twice: rapid.IntRange(0, 9).Draw(t, "fault") == 0})
	}
	return queue, books
}

// shown is what a client knows after some messages, by the plainest reading: the latest value of
// each thing, and all messages whose loss would show.
func shown(t require.TestingT, queue []outgoing) (latest map[string]string, all []string, nonces map[string][]int) {
	latest, nonces = map[string]string{}, map[string][]int{}
	for i := range queue {
		var m map[string]any
		require.NoError(t, json.Unmarshal(queue[i].text, &m), "%s", queue[i].text)
		name := fmt.Sprint(m["event"], m["market"])
		switch queue[i].topic.Channel {
		case Ticker:
			for member, value := range m {
				latest[name+member] = fmt.Sprint(value)
			}
		case Ticker24h:
			latest["day "+queue[i].days] = string(queue[i].text)
		case Candles:
			row := m["candle"].([]any)[0].([]any)
			latest[name+fmt.Sprint(row[0])] = fmt.Sprint(row)
		case Book:
			nonces[name] = append(nonces[name], int(m["nonce"].(float64)))
		default:
			all = append(all, string(queue[i].text))
		}
	}
	return latest, all, nonces
}

// apply brings the events of a market's book above a nonce into a copy.
func apply(t require.TestingT, queue []outgoing, id market.ID, above int, copied map[string]string) {
	for i := range queue {
		if queue[i].topic != (Topic{Channel: Book, Market: id}) {
			continue
		}
		var event struct {
			Nonce      int
			Bids, Asks [][2]string
		}
		require.NoError(t, json.Unmarshal(queue[i].text, &event))
		require.NotZero(t, len(event.Bids)+len(event.Asks), "both sides are empty")
		if event.Nonce <= above {
			continue
		}
		for side, levels := range map[string][][2]string{"bids": event.Bids, "asks": event.Asks} {
			for _, level := range levels {
				copied[side+level[0]] = level[1]
			}
		}
	}
}

// After a conflated queue a client knows what it would know after the whole one: the latest values,
// every other message in its order, each nonce, and the book, whichever snapshot it began with.
func TestAConflatedQueueTellsWhatTheWholeOneDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		queue, books := queueOf(t)
		latest, all, nonces := shown(t, queue)
		size := len(queue)
		short := conflated(append([]outgoing(nil), queue...))
		require.LessOrEqual(t, len(short), size)
		latestNow, allNow, noncesNow := shown(t, short)
		require.Equal(t, latest, latestNow)
		require.Equal(t, all, allNow)
		require.Equal(t, nonces, noncesNow)
		for id, states := range books {
			for snapshot := range states {
				copied := maps.Clone(states[snapshot])
				apply(t, short, id, snapshot, copied)
				require.Equal(t, states[len(states)-1], copied, "snapshot %d", snapshot)
			}
		}
	})
}

func TestAConflatedQueueIsShort(t *testing.T) {
	var queue []outgoing
	for n := range 1000 {
		queue = append(queue,
			outgoing{message: &message{topic: Topic{Channel: Ticker, Market: 1},
				text: []byte(`{"event":"ticker","bestBid":"1"}`)}},
			outgoing{message: &message{topic: Topic{Channel: Book, Market: 1}, text: fmt.Appendf(nil,
				`{"event":"book","market":"M","nonce":%d,"bids":[["1.00","%d"],["2.00","%d"],["3.00","%d"]],`+
					`"asks":[],"timestamp":1}`,
				n, n, n, n)}})
	}
	short := conflated(queue)
	require.Len(t, short, 1001)
	require.Contains(t, string(short[0].text), `"nonce":0,"bids":[["3.00","0"]],"asks":[]`)
	require.Contains(t, string(short[1000].text),
		`"nonce":999,"bids":[["1.00","999"],["2.00","999"],["3.00","999"]],"asks":[]`)
	require.Contains(t, string(short[999].text), "ticker")
}
