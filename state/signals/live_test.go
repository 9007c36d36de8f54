package signals_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/signals"
)

// said is an arrival in words.
func said(a signals.Arrival) string {
	if a.Wrong != "" {
		return "wrong: " + a.Wrong
	}
	s := &a.Signal
	words := []string{}
	add := func(is bool, word string) {
		if is {
			words = append(words, word)
		}
	}
	add(a.ID != "", "id "+a.ID)
	add(a.Sent != 0, "sent "+short(a.Sent))
	add(s.Time != 0 && s.Time != a.Sent, "about "+short(s.Time))
	add(a.Market != "", a.Market)
	add(s.Action != 0, s.Action.String())
	add(s.Stance != 0, s.Stance.String())
	add(a.Was != 0, "was "+a.Was.String())
	add(a.Price != 0, fmt.Sprint("at ", a.Price))
	add(s.HasValue, fmt.Sprint("value ", s.Value))
	add(s.HasTarget, fmt.Sprint("target ", s.Target))
	add(a.Short, "short")
	add(s.Text != "", "("+s.Text+")")
	return strings.Join(words, " ")
}

func TestALiveSignalIsReadAsARowOfAFile(t *testing.T) {
	amsterdam, err := time.LoadLocation("Europe/Amsterdam")
	require.NoError(t, err)
	for _, c := range []struct {
		body, want string
		o          signals.Options
	}{
		{body: `{"id":"BTCEUR-1","market":"BTCEUR","time":"2024-03-01T12:00:00Z","action":"buy","position":"long",` +
			`"was":"flat","price":"43210.5"}`,
			want: "id BTCEUR-1 sent 03-01 12:00:00 BTCEUR buy long was flat at 43210.5"},
		{body: `{"action": "exit"}`, want: "exit"},
		{body: `{"market":"BTC-EUR","value":0.30000000000000004,"text":"sure"}`,
			want: "BTC-EUR value 0.30000000000000004 (sure)"},
		{body: `{"Market":"BTC-EUR","Target":"25%","known_at":1709294402000,"time":1709294400}`,
			want: "sent 03-01 12:00:02 about 03-01 12:00:00 BTC-EUR target 0.25"},
		{body: `{"time":"2024-03-01 12:00:00","probability":true}`, want: "sent 03-01 11:00:00 value 1",
			o: signals.Options{Zone: amsterdam}},
		{body: `{"time":"2024-03-01","value":7}`, want: "sent 03-02 00:00:00 about 03-01 00:00:00 value 7"},
		{body: `{"time":"2024-03-01T12:00:00Z","value":7}`, want: "sent 03-01 13:00:00 about 03-01 12:00:00 value 7",
			o: signals.Options{Stamped: signals.StampedOpen, Interval: market.Interval1h, Delay: time.Minute}},
		{body: `{"position":"short","was":-1}`, want: "flat was flat short"},
		{body: `{"action":"sell","close":"43210.5","volume":1e3}`, want: "sell"},
		{body: `{"score":1,"market":null}`, want: "value 1"},
		{body: `{"a":1}`, want: "value 1"},

		{body: `buy BTC`, want: `wrong: it is no JSON object, like {"market": "BTC-EUR", "action": "buy"}`},
		{body: `[1]`, want: `wrong: it is no JSON object, like {"market": "BTC-EUR", "action": "buy"}`},
		{body: `{"action":"buy","action":"sell"}`, want: `wrong: "action" stands there twice`},
		{body: `{"action":"buy"} {}`, want: `wrong: something stands behind the JSON object`},
		{body: `{"action":"buy"`, want: `wrong: the JSON ends too early`},
		{body: `{"action":bu}`, want: `wrong: it is no JSON: invalid character 'b' looking for beginn…`},
		{body: `{"action":["buy"]}`, want: `wrong: "action" is a list, or a table in 3 tables; want a text or a number`},
		{body: `{"a":{"b":{"c":{"d":1}}}}`,
			want: `wrong: "a.b.c" is a list, or a table in 3 tables; want a text or a number`},
		{body: `{"action":"buy","postion":"long"}`, want: `wrong: "postion" is no name of a signal; the nearest is "position"`},
		{body: `{"strategy":{"action":"buy"},"action":"sell"}`, want: `wrong: "strategy.action" is no name of a signal`},
		{body: `{"action":"buy","Action":"sell"}`, want: `wrong: "action" stands there twice`},
		{body: `{"actoin":"buy"}`, want: `wrong: "actoin" is no name of a signal; the nearest is "action"; if it is the ` +
			`value, say value = "actoin"`},
		{body: `{"action":"buy","qty":1}`, want: `wrong: "qty" is no name of a signal, which are id, market, `},
		{body: `{"targte":0.5}`, want: `wrong: "targte" is no name of a signal; the nearest is "target"`},
		{body: `{"scores":0.5}`, want: `value 0.5`},
		{body: `{"targte":0.5}`, want: `value 0.5`, o: signals.Options{Value: "targte"}},
		{body: `{"action":"bye"}`, want: `wrong: column "action": "bye" is none of buy, sell, exit`},
		{body: `{"action":"hold"}`, want: `wrong: it says nothing: no action, position, value or target`},
		{body: `{"value":"NaN"}`, want: `wrong: it says nothing: no action, position, value or target`},
		{body: `{"value":"many"}`, want: `wrong: column "value": "many" is no number`},
		{body: `{"time":"yesterday","value":1}`, want: `wrong: column "time": time "yesterday" is neither a Unix time`},
		{body: `{"value":1,"was":"up"}`, want: `wrong: column "was": "up" is none of long, flat`},
		{body: `{"value":1,"price":"dear"}`, want: `wrong: column "price": "dear" is no number`},
		{body: `{"time":"2024-03-01"}`, want: `wrong: no column says anything`},
		{body: `{"BTC-EUR":1,"ETH-EUR":2}`, want: `wrong: it has 2 signals; send one at a time, its market as "market"`},
		{body: `{"value":1,"id":"` + strings.Repeat("x", 201) + `"}`, want: `wrong: column "id": 201 bytes; an id has 200`},
		{body: `{"value":1,"text":"` + strings.Repeat("x", 4096) + `"}`, want: `wrong: 4117 bytes; a signal has 4096`},
		{body: `{"time":"2024-03-01T12:00:00Z","value":7}`, want: `wrong: stamped = "open" needs the length of the candles`,
			o: signals.Options{Stamped: signals.StampedOpen}},
	} {
		a := signals.NewSender("model", c.o).JSON([]byte(c.body))
		got := said(a)
		if strings.HasPrefix(c.want, "wrong: ") {
			require.Contains(t, got, c.want, c.body)
		} else {
			require.Equal(t, c.want, got, c.body)
		}
		require.Equal(t, c.body, string(a.Body))
		require.NotZero(t, a.Hash)
	}
}

func TestAGrowingFileIsReadLineByLine(t *testing.T) {
	s := signals.NewSender("model", signals.Options{})
	require.Equal(t, "wrong: there is no header with the names of the columns", said(s.Line([]byte("1,2"))[0]))
	require.ErrorContains(t, s.Header([]byte("BTC-EUR,other\n")), "is no market as the others are")
	require.Len(t, s.Line([]byte("1,2")), 1)
	require.NoError(t, s.Header([]byte("id;time;BTC-EUR;ETH-EUR\r\n")))
	var got []string
	for _, a := range s.Line([]byte("7;2024-03-01 12:00:01;0,5;-1\r\n")) {
		got = append(got, said(a))
	}
	require.Equal(t, []string{"id 7 BTC-EUR sent 03-01 12:00:01 BTC-EUR value 0.5",
		"id 7 ETH-EUR sent 03-01 12:00:01 ETH-EUR value -1"}, got)
	require.Equal(t, "wrong: 2 columns, the header has 4", said(s.Line([]byte("7;2024-03-01 12:00:01\n"))[0]))
}

// One reader: what a file says, its lines and the same as JSON say too.
func TestARowMeansTheSameWhereverItStands(t *testing.T) {
	header := "time,known_at,market,action,position,value,target,text"
	lines := []string{"2024-03-01T12:00:01Z,2024-03-01T12:00:02.25Z,BTC-EUR,buy,,0.81,,why",
		"2024-03-01 12:00:03,,BTC/EUR,,short,,,", "1709294405,,,exit,,-1e-3,12.5%,", "2024-03-02,,ETH-EUR,,1,,0,"}
	o := signals.Options{}
	_, f, err := read(t, header+"\n"+strings.Join(lines, "\n"), o)
	require.NoError(t, err)
	s := signals.NewSender("model", o)
	require.NoError(t, s.Header([]byte(header)))
	for i, line := range lines {
		fields := map[string]string{}
		for n, text := range strings.Split(line, ",") {
			fields[strings.Split(header, ",")[n]] = text
		}
		body, err := json.Marshal(fields)
		require.NoError(t, err)
		for _, a := range []signals.Arrival{s.Line([]byte(line))[0], s.JSON(body)} {
			require.Empty(t, a.Wrong)
			want := f.Rows[i].Signal
			require.Equal(t, want.Known, a.Sent)
			want.Known, want.Number = 0, 0
			require.Equal(t, want, a.Signal)
		}
	}
}

func TestTheNearestMarketIsNamed(t *testing.T) {
	catalog := &market.Catalog{}
	for _, symbol := range []string{"BTC", "ETH", "EUR"} {
		_, err := catalog.AddAsset(symbol, 8)
		require.NoError(t, err)
	}
	for _, name := range []string{"BTC-EUR", "ETH-EUR"} {
		m := &market.Market{Name: name, Rules: market.Rules{TickSize: 1}}
		require.NoError(t, catalog.AddMarket(m))
	}
	o := signals.Options{Markets: map[string]string{"XBT": "BTC-EUR"}, Known: []string{"BTC-EUR", "ETH-EUR"}}
	for sent, want := range map[string]string{"XBT": "BTC-EUR", "eth/eur": "ETH-EUR", "BINANCE:ETH-EUR": "ETH-EUR"} {
		m, err := o.On(sent, catalog)
		require.NoError(t, err)
		require.Equal(t, want, m.Name)
	}
	m, err := o.On("", catalog)
	require.NoError(t, err)
	require.Nil(t, m)
	_, err = o.On("ETHEUR", catalog)
	require.EqualError(t, err, `"ETHEUR" is no market; map it: markets = { ETHEUR = "ETH-EUR" }`)
	_, err = o.On("ETHH-EUR", catalog)
	require.EqualError(t, err, `"ETHH-EUR" is no market that is traded here; the nearest is ETH-EUR`)
}

func FuzzLiveSignals(f *testing.F) {
	f.Add([]byte(`{"id":"x","market":"BTC-EUR","time":"2024-03-01T12:00:00Z","action":"buy","price":1}`))
	f.Add([]byte(`{"a":{"b":{"c":1}}}`))
	f.Add([]byte("time,value"))
	f.Fuzz(func(t *testing.T, body []byte) {
		s := signals.NewSender("model", signals.Options{})
		require.NotZero(t, s.JSON(body).Hash)
		if s.Header(body) == nil {
			s.Line(body)
		}
	})
}
