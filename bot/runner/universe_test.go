package runner

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// memberKind notes the members at each minute's close, buys each once, and asks for a buy of
// ETH-EUR while it is no member.
func memberKind(seen *[]string) strategy.Definition {
	return strategy.Define("member", "buys members", func(struct{}) strategy.Needs { return strategy.Needs{} },
		func(_ struct{}, s strategy.Setup) (strategy.Strategy, error) {
			return &member{seen: seen, markets: s.Markets}, nil
		})
}

type member struct {
	strategy.Base
	seen    *[]string
	markets []*market.Market
}

func (s *member) OnCandle(*strategy.Desk, market.Candle) {}

func (s *member) OnCandles(d *strategy.Desk, g strategy.Group) {
	line := g.End.Std().Format("15:04")
	for _, id := range d.Universe() {
		line += " " + strings.TrimSuffix(d.In(id).Market().Name, "-EUR")
		if d.In(id).Flat() {
			d.In(id).Buy(strategy.Money(100_00))
		}
	}
	*s.seen = append(*s.seen, line)
	for _, m := range s.markets {
		if m.Name == "ETH-EUR" && !d.In(m.ID).Member() {
			d.In(m.ID).Buy(strategy.Money(10_00))
		}
	}
}

// volumes replaces the exchange's 24 h volumes, and breaks the connection while there are none.
type volumes struct {
	next http.RoundTripper
	now  func() string // volumes in quote of BTC, ETH, ADA and XRP
}

func (v *volumes) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path != "/v2/ticker/24h" {
		return v.next.RoundTrip(r)
	}
	now := strings.Fields(v.now())
	if len(now) == 0 {
		return nil, errWire
	}
	var list []string
	for i, asset := range []string{"BTC", "ETH", "ADA", "XRP"} {
		list = append(list, fmt.Sprintf(`{"market":"%s-EUR","volumeQuote":"%s"}`, asset, now[i]))
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: r,
		Body: io.NopCloser(strings.NewReader("[" + strings.Join(list, ",") + "]"))}, nil
}

// universeStage is a stage with four markets and a universe of two.
func universeStage(t *testing.T, now func() string, seen *[]string) *stage {
	s := newStage(t, 7, func(c *sandbox.Config) {
		for _, asset := range []string{"ETH", "ADA", "XRP"} {
			c.Assets = append(c.Assets, sandbox.Asset{Symbol: asset, Decimals: 8})
			m := c.Markets[0]
			m.Name = asset + "-EUR"
			c.Markets = append(c.Markets, m)
		}
	})
	s.traffic.limits = limits{}
	s.kinds = append(s.kinds, memberKind(seen))
	s.config = strings.NewReplacer("strategies.restless", "strategies.week", `"restless"`, `"member"`,
		`markets = ["BTC-EUR"]`, `universe = {rank = "volume1d", top = 2}`, "cod_group_id = 3\n", "",
		"params.seed = 7\n", "").Replace(s.config)
	s.wrap = func(next http.RoundTripper) http.RoundTripper { return &volumes{next, now} }
	return s
}

// A bot with a universe trades its members, takes those of the next day at midnight UTC without a
// restart, names the ones that need a restart, and has them after it. A restart on the same day
// changes nothing, whatever the volumes are.
func TestAUniverseChangesAtMidnightAndARestartKeepsTheDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(24*time.Hour - 4*time.Minute) // until 23:56
		var seen []string
		changes := time.Now().Add(2 * time.Minute)
		s := universeStage(t, func() string {
			switch since := time.Since(changes); {
			case since < 0:
				return "400 300 200 100"
			case since > time.Minute && since < 90*time.Second:
				return "" // at the first attempts to rank
			}
			return "700 1 800 900"
		}, &seen)
		p := s.start()
		time.Sleep(2*time.Minute + 30*time.Second)
		require.NoError(t, p.end())
		require.Equal(t, []string{"23:57 BTC ETH", "23:58 BTC ETH"}, seen)
		require.Contains(t, s.log.String(),
			"universe of week, top 2 by the volume of the last 24 hours, ranked now for "+
				"2000-01-01: BTC-EUR ETH-EUR; ready to come in: ADA-EUR")
		requests := p.plan.Polling(p.client).String()
		for _, name := range []string{"GET /BTC-EUR/candles", "GET /ETH-EUR/candles", "GET /ADA-EUR/candles",
			"GET /ticker/24h: weight 25 every 24h"} {
			require.Contains(t, requests, name)
		}
		require.NotContains(t, requests, "XRP")

		p = s.start() // the volumes are others now
		time.Sleep(time.Minute)
		require.Contains(t, s.log.String(), "ranked earlier today for 2000-01-01: BTC-EUR ETH-EUR; ready to come in: "+
			"ADA-EUR")
		u := p.status().Strategies[0].Universe
		require.Equal(t, "2000-01-01 [BTC-EUR ETH-EUR] []", fmt.Sprint(u.Date, " ", u.Members, " ", u.Missing))
		require.Contains(t, s.log.String(), "the markets of the universes could not be ranked: the members stay")
		time.Sleep(20 * time.Second)
		u = p.status().Strategies[0].Universe
		require.Equal(t, "2000-01-01 [BTC-EUR ETH-EUR] []", fmt.Sprint(u.Date, " ", u.Members, " ", u.Missing),
			"the next day is ranked, and has not begun")
		require.Contains(t, s.log.String(), `"date":"2000-01-02","rule":"top 2 by the volume of the last 24 hours",`+
			`"in":["ADA-EUR"],"out":["ETH-EUR"]`)
		time.Sleep(2*time.Minute + 10*time.Second)
		const missing = "universe of 2000-01-02: 1 of 2 markets are not traded (XRP-EUR); restart to trade them"
		require.Contains(t, s.log.String(), missing)
		status := p.status()
		u = status.Strategies[0].Universe
		require.Equal(t, "2000-01-02 [ADA-EUR BTC-EUR] [XRP-EUR]", fmt.Sprint(u.Date, " ", u.Members, " ", u.Missing))
		require.Contains(t, pulseText(status, ""), "week: "+missing)
		p.look(func() {
			refused := p.engine.Refused(1)
			require.Len(t, refused, 1)
			require.Equal(t, "universe", refused[0].Reason)
		})
		require.NoError(t, p.end())
		require.Equal(t, []string{"23:59 BTC ETH", "00:00 ADA BTC", "00:01 ADA BTC", "00:02 ADA BTC"}, seen[2:])

		p = s.start()
		time.Sleep(90 * time.Second)
		require.Contains(t, s.log.String(), "ranked earlier today for 2000-01-02: XRP-EUR ADA-EUR; ready to come in: "+
			"BTC-EUR")
		require.NoError(t, p.end())
		require.Equal(t, []string{"00:03 XRP ADA"}, seen[6:])
		for i, asset := range []string{"BTC", "ETH", "ADA", "XRP"} {
			m := p.plan.Catalog.MarketNamed(asset + "-EUR")
			require.NotNil(t, m, "what is held is traded on")
			require.NotZero(t, p.account.Position(1, m.ID).Amount, i)
		}
		s.conserved(p)
	})
}

// status asks a bot for its status.
func (p *process) status() *operator.Status {
	answer, err := (&control{r: p.runner}).status(context.Background(), nil)
	require.NoError(p.stage.T, err)
	return answer.(*operator.Status)
}
