package sandbox

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
)

// asks sends one request of weight 1 as an account; "" for none.
func (r *rig) asks(account string) answer {
	return r.through(probe("GET", 0), r.request(account, "GET", "/probe", ""))
}

// resetAt returns when the answer says that the budget is whole again, as time of day.
func (a answer) resetAt(t *testing.T) string {
	ms, err := strconv.ParseInt(a.header.Get("Service-Ratelimit-Resetat"), 10, 64)
	require.NoError(t, err)
	return time.UnixMilli(ms).UTC().Format("15:04:05.000")
}

func TestARequestThatWouldExceedIsNotCarriedOut(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Budget.PerKey = 3 })
	e := probe("GET", api.Read)
	e.Weight = 4
	e.Do = nil // calling it would panic
	r.through(e, r.request("alice", "GET", "/probe", "")).refused(t, 429, 105)
}

func TestWhoIsNotAuthenticatedPaysByAddress(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Budget.PerIP = 100 })
	bad := r.request("alice", "GET", "/balance", "")
	bad.Header.Set("Service-Access-Signature", strings.Repeat("0", 64))
	require.Equal(t, 95, r.do(bad).refused(t, 403, 309).remaining(t))
	require.Equal(t, 94, r.send("", "POST", "/order", "{}").refused(t, 403, 300).remaining(t))
	require.Equal(t, 93, r.get("/nowhere").refused(t, 404, 110).remaining(t)) // an unknown path costs 1
	untyped := r.request("alice", "POST", "/order", "{}")
	untyped.Header.Del("Content-Type")
	require.Equal(t, 92, r.do(untyped).refused(t, 400, 102).remaining(t)) // refused before the key is looked at
	require.Equal(t, 999, r.asks("alice").remaining(t))
}

func TestKeysOfAnAccountMayShareABudget(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.Budget = api.Budget{PerKey: 3, PerAccount: true}
		c.Accounts[0].Keys = append(c.Accounts[0].Keys, api.Key{Key: rigKey("second"), Secret: "secret of second",
			Read: true, Budget: 100})
	})
	require.Equal(t, 2, r.asks("alice").remaining(t))
	require.Equal(t, 1, r.asks("second").remaining(t))
	require.Equal(t, "3", r.asks("second").header.Get("Service-Ratelimit-Limit"))
	r.asks("second").refused(t, 429, 105)
	r.asks("alice").refused(t, 429, 105)
	require.Equal(t, 2, r.asks("bob").remaining(t))
}

func TestAKeyThatLacksARightPaysItself(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Accounts[0].Keys[0].Read = false })
	a := r.send("alice", "GET", "/balance", "").refused(t, 403, 311)
	require.Equal(t, 995, a.remaining(t))
	require.Equal(t, 994, r.asks("alice").remaining(t))
}

func TestABannedAddressHearsOfItsBanOnly(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Budget.PerIP = 1 })
	r.get("/nowhere").refused(t, 404, 110)
	r.get("/nowhere").refused(t, 429, 105)
	r.send("", "POST", "/order", "").refused(t, 429, 105)
}

func TestBudgetsAreSettings(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.Budget = api.Budget{PerKey: 7, PerIP: -1, KeyBan: 2 * time.Minute}
		c.Accounts[1].Keys[0].Budget = 1
	})
	require.Equal(t, "7", r.asks("alice").header.Get("Service-Ratelimit-Limit"))
	require.Equal(t, "1", r.asks("bob").header.Get("Service-Ratelimit-Limit"))
	require.Equal(t, "12:03:00.000", r.asks("bob").refused(t, 429, 105).resetAt(t))
	for range 2000 {
		r.asks("").ok(t)
	}
}

func TestMetersOutliveARestart(t *testing.T) {
	tight := func(c *Config) { c.Budget = api.Budget{PerKey: 2, PerIP: 1} }
	before, after := newRig(t, tight), newRig(t, tight)
	before.ex.door.KeepUsage()
	before.asks("alice")
	before.asks("")
	before.asks("")
	kept := map[string]api.Usage{}
	require.NoError(t, before.ex.door.FlushUsage(func(subject string,
		m api.Usage) error {
		kept[subject] = m
		return nil
	}))
	require.Len(t, kept, 2)
	for subject, m := range kept {
		after.ex.door.SetUsage(subject, m)
	}
	after.ex.door.SetUsage("a key that is gone", api.Usage{})
	require.NoError(t, before.ex.door.FlushUsage(func(string,
		api.Usage) error {
		return errors.New("nothing has changed since")
	}))
	require.Equal(t, 0, after.asks("alice").ok(t).remaining(t))
	after.asks("").refused(t, 429, 105)
	after.asks("bob").ok(t)
}
