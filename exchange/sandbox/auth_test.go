package sandbox

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
)

// private sends a signed GET, altered before, to an endpoint that needs the right to read.
func (r *rig) private(alter func(http.Header)) answer {
	request := r.request("alice", "GET", "/probe", "")
	alter(request.Header)
	return r.through(probe("GET", api.Read), request)
}

func TestATimestampIsInMilliseconds(t *testing.T) {
	r := newRig(t)
	now := rigStart.Millis()
	for _, stamp := range []string{strconv.FormatInt(now/1000, 10), strconv.FormatInt(now*1000, 10),
		strconv.FormatInt(int64(rigStart), 10), "-1", "+" + strconv.FormatInt(now,
			10), "1767614415000.5", "1.7e12", "now", strings.Repeat("9", 30)} {
		r.private(func(h http.Header) { h.Set("Service-Access-Timestamp", stamp) }).refused(t, 403, 302)
	}
}

func TestARequestMustArriveWithinItsWindow(t *testing.T) {
	cases := []struct {
		late   int64 // ms by which the request arrives after its timestamp
		window string
		status int
	}{
		// 10 s where it names none
		{0, "", 200}, {10_000, "", 200}, {10_001, "", 403}, {-10_000, "", 200}, {-10_001, "", 403},
		{100, "100", 200}, {101, "100", 403}, {60_000, "60000", 200}, {60_001, "60000", 403}, {-60_001, "60000", 403},
	}
	for _, c := range cases {
		r := newRig(t)
		stamp := strconv.FormatInt(rigStart.Millis()-c.late, 10)
		a := r.private(func(h http.Header) {
			h.Set("Service-Access-Timestamp", stamp)
			h.Set("Service-Access-Signature", signature("secret of alice", stamp, "GET", "/v2/probe", ""))
			if c.window != "" {
				h.Set("Service-Access-Window", c.window)
			}
		})
		require.Equal(t, c.status, a.status, "%+v: %s", c, a.body)
		if c.status != 200 {
			a.refused(t, 403, 304)
		}
	}
}

func TestASignatureIsHexOfItsLength(t *testing.T) {
	r := newRig(t)
	for _, text := range []string{"00", strings.Repeat("0", 63), strings.Repeat("0", 65), strings.Repeat("g", 64)} {
		r.private(func(h http.Header) { h.Set("Service-Access-Signature", text) }).refused(t, 403, 308)
	}
	r.private(func(h http.Header) {
		h.Set("Service-Access-Signature", strings.ToUpper(h.Get("Service-Access-Signature")))
	}).ok(t)
}

func TestABodyIsSignedAsSentOrAsClientsSignIt(t *testing.T) {
	cases := []struct {
		method, sent, signed string
		lax, strict          int // 0: let in
	}{
		{"POST", `{"a":"1"}`, `{"a":"1"}`, 0, 0},
		{"POST", `{"a": "1", "b": [1, 2]}`, `{"a":"1","b":[1,2]}`, 0, 309}, // signed compact, sent with spaces
		{"POST", `{"a":"1"}`, `{"a": "1"}`, 309, 309},                      // not the other way round
		{"POST", `{"a":"1"}`, ``, 309, 309},
		{"POST", `{"a":"1"}`, `{"a":"2"}`, 309, 309},
		{"POST", `{}`, ``, 309, 309},
		{"GET", `{}`, ``, 0, 0}, // the body part of a GET is empty
		{"GET", " { }\n", ``, 0, 0},
		{"GET", `{"a":"1"}`, ``, 0, 0},
		{"GET", `{"a":"1"}`, `{"a":"2"}`, 309, 309},
		{"GET", `{}`, `{}`, 0, 309}, // some clients sign it
		{"GET", `{"a":"1"}`, `{"a":"1"}`, 0, 309},
		{"DELETE", `{}`, ``, 0, 309}, // {} counts as empty
		{"DELETE", `{"a":"1"}`, `{"a":"1"}`, 0, 0},
		{"DELETE", `[]`, ``, 309, 309},
		{"POST", `{"a": `, `{"a":`, 309, 309}, // no JSON has no compact form
	}
	for _, c := range cases {
		for strict, want := range map[bool]int{false: c.lax, true: c.strict} {
			r := newRig(t, func(config *Config) { config.Rules.Strict = strict })
			request := r.request("", c.method, "/probe", c.sent)
			r.sign(request, "alice", c.signed)
			e := probe(c.method, api.Read)
			e.Params = []api.Parameter{{Name: "a", Kind: api.Text}, {Name: "b", Kind: api.Text}}
			code := 0
			if a := r.through(e, request); a.status == 403 {
				code = 309
				a.refused(t, 403, 309)
			}
			require.Equal(t, want, code, "%+v strict %v", c, strict)
		}
	}
}

func TestAKeyIsUsedAsItsOwnerSaid(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.Accounts[0].Keys[0].Unconfirmed = true
		c.Accounts[1].Keys[0].Addresses = []string{"192.0.2.1", "::1"} // httptest's requests come from the former
	})
	r.private(func(http.Header) {}).refused(t, 403, 306)
	for remote, status := range map[string]int{"192.0.2.1:1": 200, "[::1]:80": 200, "[::ffff:192.0.2.1]:80": 200,
		"192.0.2.2:1": 403, "": 403, "@": 403} {
		request := r.request("bob", "GET", "/probe", "")
		request.RemoteAddr = remote
		a := r.through(probe("GET", api.Read), request)
		require.Equal(t, status, a.status, remote)
		if status != 200 {
			a.refused(t, 403, 307)
		}
	}
}

func TestCredentialsAtAPublicEndpointAreChecked(t *testing.T) {
	r := newRig(t)
	request := r.request("alice", "GET", "/probe", "")
	request.Header.Set("Service-Access-Signature", strings.Repeat("0", 64))
	r.through(probe("GET", 0), request).refused(t, 403, 309)

	window := r.request("", "GET", "/probe", "")
	window.Header.Set("Service-Access-Window", "1") // no credential by itself
	r.through(probe("GET", 0), window).ok(t)
}

func TestEveryPrefixOfTheConfigIsUnderstood(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Prefixes = []string{"acme", "Service"} })
	request := r.request("alice", "GET", "/probe", "")
	r.through(probe("GET", api.Read), request).ok(t)
	for _, last := range []string{"Key", "Timestamp", "Signature"} {
		request.Header.Set("Acme-Access-"+last, request.Header.Get("Service-Access-"+last))
		request.Header.Del("Service-Access-" + last)
	}
	a := r.through(probe("GET", api.Read), request).ok(t)
	require.NotEmpty(t, a.header.Get("Acme-Ratelimit-Limit"))
	require.Empty(t, a.header.Get("Service-Ratelimit-Limit"))

	mixed := r.request("alice", "GET", "/probe", "")
	mixed.Header.Set("Acme-Access-Key", rigKey("alice")) // the first prefix that shows anything counts
	r.through(probe("GET", api.Read), mixed).refused(t, 403, 300)
}

func TestKeysThatCannotWorkAreErrorsOfTheConfig(t *testing.T) {
	for want, wrong := range map[string]api.Key{
		"5 characters":            {Key: "short"},
		"ParseAddr":               {Key: strings.Repeat("1", 64), Addresses: []string{"localhost"}},
		"that another key equals": {Key: rigKey("alice")},
	} {
		config := rigConfig()
		config.Accounts[1].Keys[0] = wrong
		_, err := New(config)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "bob")
	}
}
