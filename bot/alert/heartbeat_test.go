package alert

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
)

func TestAHeartbeatFollowsTheTurnsOfTheLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heart, err := NewHeartbeat(&config.AlertsSection{Heartbeat: "https://hc.example.com/SECRET?create=1"}, nil)
		require.NoError(t, err)
		var log bytes.Buffer
		var got []string
		down := false
		a := NewSender(nil, heart, zerolog.New(&log))
		synctest.Wait() // the worker has its client
		heart.place.http.Transport = inMemory{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			got = append(got, r.URL.String()+" "+string(body))
			if down {
				w.WriteHeader(http.StatusNotFound)
			}
		})}
		a.Begin()
		synctest.Wait()
		require.Equal(t, []string{"https://hc.example.com/SECRET/start?create=1 "}, got)
		got = nil
		for range 150 {
			a.Beat(time.Now())
			time.Sleep(time.Second)
		}
		synctest.Wait()
		require.Equal(t, []string{"https://hc.example.com/SECRET?create=1 ", "https://hc.example.com/SECRET?create=1 ",
			"https://hc.example.com/SECRET?create=1 "}, got, "one at once, then one a minute")
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Len(t, got, 3, "a loop that does not turn gives no sign of life")
		got, down = nil, true
		a.Fail("the disk is full")
		a.Stop(time.Second)
		require.Equal(t, []string{"https://hc.example.com/SECRET/fail?create=1 the disk is full"}, got)
		require.Contains(t, log.String(), "the receiver answered 404")
		require.NotContains(t, log.String(), "SECRET")
	})
}

func TestTheURLOfAHeartbeatIsASecret(t *testing.T) {
	none, err := NewHeartbeat(&config.AlertsSection{}, nil)
	require.NoError(t, err)
	require.Nil(t, none)
	none.beat(time.Now())
	for _, row := range []config.AlertsSection{
		{Heartbeat: "http://hc.example.com/SECRET"}, {Heartbeat: "SECRET"},
		{Heartbeat: "https://hc.example.com/SECRET", HeartbeatEnv: "SECRET"},
		{HeartbeatEnv: "SECRET"}, {HeartbeatFile: "/nowhere/SECRET"},
	} {
		_, err := NewHeartbeat(&row, func(string) string { return "" })
		require.ErrorContains(t, err, "alerts")
		if row.HeartbeatFile == "" { // a file is named: it is no secret
			require.NotContains(t, err.Error(), "SECRET")
		}
	}
}

func TestTheMoneyOfAnAlertIsALine(t *testing.T) {
	m := Money{Currency: "EUR", Equity: "1012.30", DayResult: "12.30", OpenOrders: 3, Positions: []Holding{
		{Strategy: "maker", Market: "BTC-EUR", Amount: "0.02", Value: "1010.00", Protected: true},
		{Strategy: "dip", Market: "ETH-EUR", Amount: "1", Unprotected: "0.5"}}}
	require.Equal(t, "equity 1012.30 EUR, today +12.30, open orders 3; dip 1 ETH-EUR, WITHOUT EXIT: 0.5; "+
		"maker 0.02 BTC-EUR worth 1010.00 EUR, protected", m.Text())
	for range 7 {
		m.Positions = append(m.Positions, Holding{Strategy: "a", Market: "X-EUR", Amount: "1"})
	}
	require.Contains(t, m.Text(), "; a 1 X-EUR; and 3 more positions")
	one := Alert{Kind: Halt, Bot: "live", Text: "maker is halted", Money: &Money{Currency: "EUR", Equity: "5",
		DayResult: "-1"}}
	require.Equal(t, "[halt] live: maker is halted\nequity 5 EUR, today -1, open orders 0, no position", one.line())
}
