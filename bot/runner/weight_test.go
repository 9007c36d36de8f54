package runner

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/prices"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/strategy/shipped"
)

// The bot whose weight is measured: six strategies on ten markets with one group. What is not
// written here has its default.
const weightHead = `
[exchange]
base_url = "https://exchange.test/v2"
key_env = "KEY"
secret_env = "SECRET"
`

// weightSections are the strategies, each with its number of markets.
var weightSections = []struct {
	kind, params string
	markets      int
}{
	{"smacross", `fast = 3, slow = 8`, 2}, {"breakout", `channel = 5`, 2}, {"rsirevert", `low = 45, high = 55`, 2},
	{"grid", `levels = 3`, 2}, {"dca", `every_candles = 1`, 1}, {"maker", `book = true`, 1},
}

// tenMarkets is an exchange with ten markets, which counts the weight of all keys of an account
// together: so the auditor sees what the bot has used.
func tenMarkets(c *sandbox.Config) {
	one := c.Markets[0]
	c.Assets, c.Markets = c.Assets[:1], nil
	for i := range 10 {
		name := fmt.Sprint("M", i)
		c.Assets = append(c.Assets, sandbox.Asset{Symbol: name, Decimals: 8})
		one.Name, one.Liquidity.Levels, one.Liquidity.Size = name+"-EUR", 5, "5"
		one.Source = prices.Synthetic{Price: fmt.Sprint(3000 + 700*i), Volatility: 0.3}
		c.Markets = append(c.Markets, one)
	}
	c.Markets[0].Name, c.Assets[1].Symbol = "BTC-EUR", "BTC"
	c.Accounts[0].Balances = map[string]string{"EUR": "100000"}
	c.Accounts[1].Balances = map[string]string{"EUR": "100000"}
	c.Accounts[0].Keys[0].Budget, c.Accounts[0].Keys[1].Budget = 1_000_000, 0
	c.Budget = api.Budget{PerIP: 1_000_000, PerAccount: true}
}

// used are the points of a minute that the exchange has counted, and the writes among them: they
// weigh a point each, however the bot hears of prices.
type used struct{ key, ip, writes int }

// weighed lets a bot trade and returns what the exchange counted in the minutes after its first.
func weighed(t *testing.T, minutes int, change func(*stage)) (all []used) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 5, tenMarkets)
		s.kinds, s.config, s.traffic.limits = shipped.Definitions(), weightHead, limits{value: 1e9}
		s.traffic.gauge.auditor = nil
		from := 0
		for i, one := range weightSections {
			var markets []string
			for range one.markets {
				markets = append(markets, fmt.Sprintf("%q", s.Units.Markets()[from].Name))
				from++
			}
			s.config += section(one.kind, one.kind, strings.Join(markets, ", "), "1m",
				fmt.Sprintf("allocation = \"15000\"\ncod_group_id = 1\nparams = { %s }\n", one.params))
			s.config = strings.Replace(s.config, "operator_id = 7", fmt.Sprint("operator_id = ", i+1), 1)
		}
		change(s)
		m := &scales{stage: s}
		var err error
		m.client, err = rest.New(rest.Config{BaseURL: "https://exchange.test/v2",
			Key:    rest.NewSecret(bottest.AuditorKey),
			Secret: rest.NewSecret("secret of the auditor"), Transport: m})
		require.NoError(t, err)
		p := s.start()
		for minute := range minutes + 1 {
			time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute - time.Millisecond)))
			if u := m.read(); minute > 0 {
				all = append(all, u)
			}
			time.Sleep(time.Millisecond)
		}
		require.NoError(t, p.end())
		require.Positive(t, s.AgreeOnFile().Fills)
	})
	return all
}

// scales ask an exchange what it has counted.
type scales struct {
	*stage
	client *rest.Client // with the auditor's key
	left   int          // as the last answer says
	before int          // writes up to the last reading
}

// RoundTrip is of http.RoundTripper.
func (m *scales) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := (&wire{traffic: m.traffic, quiet: true}).RoundTrip(r)
	m.left = int(number(answer.Header.Get("Service-Ratelimit-Remaining")))
	return answer, err
}

// read is what was counted in this minute, without the question.
func (m *scales) read() (u used) {
	const budget, forTime, forBalance = 1_000_000, 1, 5
	_, err := m.client.Time(context.Background())
	require.NoError(m.T, err)
	u.ip = budget - m.left - forTime
	_, err = m.client.Balances(context.Background(), "EUR")
	require.NoError(m.T, err)
	u.key = budget - m.left - forBalance
	m.traffic.mu.Lock()
	defer m.traffic.mu.Unlock()
	u.writes, m.before = m.traffic.count-m.before, m.traffic.count
	return u
}

// Lists are asked for each five minutes while the account channel is open.
func TestAStreamWeighsAFifthOfPolls(t *testing.T) {
	bottest.Unraced(t)
	asking := func(how string, minutes int) (points float64) {
		writes := 0
		for _, u := range weighed(t, minutes, func(s *stage) { s.hears = how }) {
			points += float64(u.key+u.ip-u.writes) / float64(minutes)
			writes += u.writes
		}
		t.Logf("%s: %.0f points a minute, besides %d writes", how, points, writes/minutes)
		return points
	}
	polls, streams := asking(overPolls, 3), asking(overStream, 10)
	require.Positive(t, streams)
	require.LessOrEqual(t, 5*streams, polls)
}
