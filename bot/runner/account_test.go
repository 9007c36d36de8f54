package runner

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/doctor"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/exchange/rest"
	"github.com/tidemark-trading/tidemark/exchange/sandbox"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/fault"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/strategy"
)

// A state file tells of orders and money of one account at one exchange.
func TestAStateFileOfAnotherAccountIsRefused(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 4, nil)
		p := s.start()
		time.Sleep(time.Minute)
		require.NoError(t, p.end())
		own := s.config
		for _, c := range []struct{ old, new, says string }{
			{`"https://exchange.test/v2"`, `"https://elsewhere.test/v2"`,
				"exchange.base_url: is at https://elsewhere.test, and the orders and money in " + s.Folder +
					" are at https://exchange.test; name another bot.state or"},
			{`"https://exchange.test/v2"`, "\"https://elsewhere.test/v2\"\nmoved_from = \"https://exchange.test/v2\"",
				""},
			{`"https://exchange.test/v2"`, `"https://exchange.test"`,
				"exchange.base_url: is at https://exchange.test, and the orders and money in " + s.Folder +
					" are at https://elsewhere.test"},
			{`"https://exchange.test/v2"`, "\"https://EXCHANGE.test\"\nmoved_from = \"https://elsewhere.test\"", ""},
			{"\"KEY\"\nsecret_env = \"SECRET\"", "\"OTHER\"\nsecret_env = \"OTHERS\"",
				"exchange.key: is another than in the last run, and the exchange knows nothing of order "},
			{"\"KEY\"\nsecret_env = \"SECRET\"", "\"AUDITOR\"\nsecret_env = \"AUDITORS\"", ""},
		} {
			s.config = strings.Replace(own, c.old, c.new, 1)
			require.NotEqual(t, own, s.config, c.old)
			findings, err := doctor.Examine(t.Context(), s.plan(&wire{traffic: s.traffic}),
				doctor.Options{Getenv: os.Getenv, OnWait: func(string) {}})
			require.NoError(t, err)
			accounts := slices.DeleteFunc(findings, func(f doctor.Finding) bool { return f.Check != "account" })
			require.Equal(t, c.says != "" || strings.Contains(c.new, "AUDITOR"), len(accounts) == 1, "%v", accounts)
			p, err := s.open()
			if c.says != "" {
				require.ErrorContains(t, err, c.says)
				require.ErrorAs(t, err, new(*config.KeyError))
				continue
			}
			require.NoError(t, err, c.new)
			ctx := p.ctx()
			go func() { p.done <- p.trade(ctx) }()
			time.Sleep(30 * time.Second)
			require.NoError(t, p.end())
		}
		require.Equal(t, 2, strings.Count(s.log.String(), "the key is another than in the last run"),
			"that of another account, and another of this one")
	})
}

func TestAnExchangeOnThisMachineMayHaveAnotherPort(t *testing.T) {
	require.True(t, statedir.SameExchange(config.OriginOf("http://127.0.0.1:8080/v2"),
		config.OriginOf("http://localhost:9000")))
	require.False(t, statedir.SameExchange(config.OriginOf("http://127.0.0.1:8080/v2"),
		config.OriginOf("https://api.example.com/v2")))
	require.True(t, statedir.SameExchange(config.OriginOf("https://api.example.com/v2"),
		config.OriginOf("https://API.example.com")))
	require.False(t, statedir.SameExchange(config.OriginOf("https://api.example.com"),
		config.OriginOf("https://api.example.com:444")))
}

// A ban that ends in an hour is known to the process that comes after a kill, seconds after it
// began.
func TestABanIsWrittenDownAtOnce(t *testing.T) {
	ban := fault.Fault{Kind: fault.Error, Code: 105, Endpoints: []string{"POST /order"},
		After: 2*time.Minute + 10*time.Second, Count: 1, Key: bottest.BotKey}
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 4, func(c *sandbox.Config) { c.Faults = []fault.Fault{ban} })
		p := s.start()
		for !strings.Contains(s.log.String(), "the exchange has banned the key") {
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		p.kill()
		p.bury()
		text, err := s.Stored().Blob(statedir.WeightBudgetBlob)
		require.NoError(t, err)
		var kept rest.WeightBudgetState
		require.NoError(t, json.Unmarshal(text, &kept))
		require.Greater(t, kept.Key.BannedUntilMS, time.Now().UnixMilli())
	})
}

// hollow answers some questions at a path with a list that has nothing.
type hollow struct {
	http.RoundTripper
	left       int
	path, body string
}

func (h *hollow) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := h.RoundTripper.RoundTrip(r)
	if err == nil && h.left > 0 && strings.HasSuffix(r.URL.Path, h.path) {
		h.left--
		answer.Body = io.NopCloser(strings.NewReader(h.body))
	}
	return answer, err
}

// Else systemd would be told that the config has a mistake, and not start the bot again.
func TestAnExchangeWithoutMarketsAtTheStartIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 4, nil)
		w := &wire{traffic: s.traffic}
		p := s.plan(w)
		h := &hollow{RoundTripper: w, left: 3, path: "/markets", body: "[]"}
		p.Transport = h
		r, err := openRunner(t.Context(), p, zerolog.New(&s.log), s.options())
		require.NoError(t, err)
		require.NoError(t, r.close())
		require.Zero(t, h.left)
		require.Equal(t, 3, strings.Count(s.log.String(), "the exchange lists no markets"))
		require.NotContains(t, s.log.String(), "cannot be reached")
	})
}

// It is not waited for without end: after a minute an error names the place and the cure, and is no
// mistake in the config.
func TestAnExchangeThatListsNothingForAMinuteIsAnError(t *testing.T) {
	for _, h := range []hollow{{path: "/markets", body: "[]"}, {path: "/markets", body: "{}"},
		{path: "/assets", body: "[]"}, {path: "/assets", body: "[{}]"}} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, 4, nil)
			w := &wire{traffic: s.traffic}
			p := s.plan(w)
			empty := h
			empty.RoundTripper, empty.left = w, 1000
			p.Transport = &empty
			began := time.Now()
			_, err := openRunner(t.Context(), p, zerolog.New(&s.log), s.options())
			require.ErrorContains(t, err, "answers, and the exchange lists no "+strings.TrimPrefix(h.path, "/")+
				": look whether exchange.base_url is that of an exchange", h.body)
			require.False(t, errors.As(err, new(config.UsageError)), "systemd starts it again")
			require.InDelta(t, time.Minute, time.Since(began), float64(5*time.Second))
		})
	}
}

// An exchange in memory that is started again knows nothing of the bot's orders.
func TestAnExchangeThatBeganAnewIsNamedWithTheWayOut(t *testing.T) {
	bottest.Unraced(t)
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 4, nil)
		p := s.start()
		time.Sleep(time.Minute)
		require.NoError(t, p.end())
		p = s.start()
		time.Sleep(10 * time.Second)
		require.NoError(t, p.end())
		require.NotContains(t, s.log.String(), "begun anew: it does not know", "the same exchange")
		other := newStage(t, 4, nil)
		other.Folder = s.Folder
		p, err := other.open()
		require.NoError(t, err)
		require.NoError(t, p.close())
		lines := strings.Split(other.log.String(), "\n")
		said := slices.IndexFunc(lines,
			func(line string) bool { return strings.Contains(line, "the exchange has begun anew: it does not know") })
		require.GreaterOrEqual(t, said, 0)
		require.Contains(t, lines[said], "remove the state folder "+s.Folder+", or name another by bot.state")

		plan := other.plan(&wire{traffic: other.traffic})
		plan.Config.Bot.Mode = config.ModeSandbox
		_, err = openRunner(t.Context(), plan, zerolog.New(&other.log), other.options())
		require.ErrorContains(t, err, "the exchange has begun anew: it does not know the last order that it took; "+
			"begin anew too: remove the folder "+s.Folder)
	})
}

// forgetful is an exchange that knows no single order, and whose trades may be gone as well.
type forgetful struct {
	http.RoundTripper
	trades bool // it has forgotten them too
}

func (f *forgetful) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := f.RoundTripper.RoundTrip(r)
	switch {
	case err != nil || r.Method != http.MethodGet:
	case strings.HasSuffix(r.URL.Path, "/order"):
		answer.StatusCode = http.StatusNotFound
		answer.Body = io.NopCloser(strings.NewReader(`{"errorCode":240,"error":"No order found."}`))
	case strings.HasSuffix(r.URL.Path, "/trades") && f.trades:
		answer.Body = io.NopCloser(strings.NewReader("[]"))
	}
	return answer, err
}

// An exchange that has forgotten the run's orders and knows its trades has not begun anew, nor has
// one that has forgotten the trades too and has its balances to the unit.
func TestAnExchangeThatForgetsOrdersHasNotBegunAnew(t *testing.T) {
	bottest.Unraced(t)
	for _, c := range []struct{ trades, moved bool }{{false, true}, {true, false}, {true, true}} {
		synctest.Test(t, func(t *testing.T) {
			trades := c.trades
			s := newStage(t, 4, func(c *sandbox.Config) { c.Admin = "open" })
			p := s.start()
			time.Sleep(2 * time.Minute)
			require.NoError(t, p.end())
			if c.moved {
				s.deposit("EUR", "0.01")
			}
			s.wrap = func(next http.RoundTripper) http.RoundTripper { return &forgetful{next, trades} }
			plan := s.plan(&wire{traffic: s.traffic})
			plan.Config.Bot.Mode = config.ModeSandbox
			require.Contains(t, s.log.String(), `"message":"fill"`, "the run has traded")
			r, err := openRunner(t.Context(), plan, zerolog.New(&s.log), s.options())
			if trades && c.moved {
				require.ErrorContains(t, err, "the exchange has begun anew")
			} else {
				require.NoError(t, err)
			}
			require.NoError(t, r.close())
		})
	}
}

// loneKind bids once, where nothing fills.
var loneKind = scripted("lone", buysOnce(func(m strategy.MarketDesk, last market.Price) error {
	_, err := m.Buy(strategy.Amount(1_000_000), strategy.At(last/2/100*100))
	return err
}))

// A last order that was refused or lost, or was cancelled and is forgotten, is no sign that the
// exchange has begun anew.
func TestALastOrderThatEndedIsNoSignOfAnotherExchange(t *testing.T) {
	bottest.Unraced(t)
	halted := func(r *http.Request) *http.Response {
		return &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{}, Request: r,
			Body: io.NopCloser(strings.NewReader(`{"errorCode":423,"error":"halted"}`))}
	}
	for name, place := range map[string]func(http.RoundTripper, *http.Request) (*http.Response, error){
		"refused":   func(_ http.RoundTripper, r *http.Request) (*http.Response, error) { return halted(r), nil },
		"lost":      func(http.RoundTripper, *http.Request) (*http.Response, error) { return nil, errWire },
		"cancelled": func(next http.RoundTripper, r *http.Request) (*http.Response, error) { return next.RoundTrip(r) },
	} {
		synctest.Test(t, func(t *testing.T) {
			s := owned(t, overPolls)
			s.kinds = append(s.kinds, loneKind)
			s.config = strings.NewReplacer("strategies.held", "strategies.lone", `"held"`, `"lone"`).Replace(s.config)
			s.wrap = func(next http.RoundTripper) http.RoundTripper { return placed{next, place} }
			p := s.start()
			time.Sleep(time.Minute)
			require.NoError(t, p.end())
			require.Contains(t, s.log.String(), `"message":"order sent"`, name)
			s.wrap = func(next http.RoundTripper) http.RoundTripper { return &forgetful{next, true} }
			plan := s.plan(&wire{traffic: s.traffic})
			plan.Config.Bot.Mode = config.ModeSandbox
			r, err := openRunner(t.Context(), plan, zerolog.New(&s.log), s.options())
			require.NoError(t, err, name)
			require.NoError(t, r.close())
		})
	}
}

// placed lets a test answer the requests that place orders.
type placed struct {
	next  http.RoundTripper
	place func(http.RoundTripper, *http.Request) (*http.Response, error)
}

// RoundTrip is of http.RoundTripper.
func (p placed) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/order") {
		return p.place(p.next, r)
	}
	return p.next.RoundTrip(r)
}
