package dashboard

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/host"
	"github.com/tidemark-trading/tidemark/bot/operator"
	"github.com/tidemark-trading/tidemark/internal/bottest"
)

func TestTheDashboardServesOverTLSAndTakesARenewedCertificate(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	cert, key, roots := bottest.Certificate(t, dir, 1, now.Add(time.Hour))
	c, err := host.NewCertificate(cert, key)
	require.NoError(t, err)
	b := newMadeUpBot(t, shortFolder(t))
	s, err := New(Config{Bot: Bot{Of: operator.Target{Folder: b.folder}, Name: "demo"}, Look: host.Fixed(lookToken),
		Act:         host.Fixed(actToken),
		Certificate: c, Hosts: []string{"bot.example.com"}, Log: zerolog.Nop()})
	require.NoError(t, err)
	on, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, on) }()
	ask := func(roots *x509.CertPool, path string) *http.Response {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, on.Addr().String())
			}, TLSClientConfig: &tls.Config{RootCAs: roots}},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		answer, err := client.Get("https://bot.example.com" + path)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer
	}
	answer := ask(roots, "/enter?token="+lookToken)
	require.Equal(t, http.StatusSeeOther, answer.StatusCode)
	require.True(t, answer.Cookies()[0].Secure)
	require.EqualValues(t, 1, answer.TLS.PeerCertificates[0].SerialNumber.Int64())

	_, _, renewed := bottest.Certificate(t, dir, 2, now.Add(2*time.Hour))
	require.EqualValues(t, 2, ask(renewed, "/").TLS.PeerCertificates[0].SerialNumber.Int64())
	require.NoError(t, os.WriteFile(cert, []byte("half a certif"), 0o600))
	require.NoError(t, os.Chtimes(cert, now, now))
	require.EqualValues(t, 2, ask(renewed, "/").TLS.PeerCertificates[0].SerialNumber.Int64())
	_, err = host.NewCertificate(cert, key)
	require.ErrorContains(t, err, cert)
	cancel()
	require.NoError(t, <-ended)
}

// behindProxy puts a proxy that does TLS before a visitor's server.
func behindProxy(v *visitor) {
	back, err := url.Parse(v.server.URL)
	require.NoError(v, err)
	proxy := httptest.NewTLSServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(back)
		r.Out.Host = r.In.Host
		r.SetXForwarded()
		r.Out.Header.Set("X-Forwarded-User", `ann "|"`)
	}})
	v.Cleanup(proxy.Close)
	transport := proxy.Client().Transport.(*http.Transport).Clone()
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, proxy.Listener.Addr().String())
	}
	v.client.Transport, v.server.URL = transport, "https://example.com" // a name of httptest's certificate
}

func TestBehindAProxyTheViewerIsNamedAsTheProxyNamesIt(t *testing.T) {
	b := newMadeUpBot(t, shortFolder(t))
	v, _ := serveBot(t, b, func(c *Config) { c.Proxied, c.Hosts = true, []string{"example.com"} })
	direct := v.server.URL
	behindProxy(v)
	_, _, head := v.do(http.MethodGet, "/enter?token="+actToken, nil, nil)
	require.Contains(t, head.Get("Set-Cookie"), "; Secure;")
	spoof := func(r *http.Request) { r.Header.Set("X-Forwarded-For", "203.0.113.7") }
	confirmation := v.opens("/confirm?do=halt")
	status, body, _ := v.do(http.MethodPost, "/act",
		url.Values{"confirmation": {confirmation}, "word": {"demo"}}, spoof)
	require.Equal(t, http.StatusSeeOther, status, body)
	require.Len(t, b.actions(), 1)
	require.Regexp(t, `^/halt\|\|\|dashboard act token, X-Forwarded-User "ann \\"\|\\""\|`+
		`dashboard 127\.0\.0\.1 by X-Forwarded-For, proxy 127\.0\.0\.1:\d+\|$`, b.actions()[0])
	status, _, _ = v.do(http.MethodGet, "/", nil, func(r *http.Request) { r.Host = "evil.example" })
	require.Equal(t, http.StatusMisdirectedRequest, status)
	v.server.URL = direct
}

func TestForwardedHeadersCountBehindAProxyAlone(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = "192.0.2.1:4711"
	r.Header["X-Forwarded-For"] = []string{"1.1.1.1, 2.2.2.2", "203.0.113.9"}
	r.Header.Set("X-Forwarded-User", "ann")
	require.Equal(t, "192.0.2.1", host.AddressOf(r, false).String())
	require.Equal(t, "203.0.113.9", host.AddressOf(r, true).String(), "the last, which the proxy has added")
	require.Equal(t, &caller{by: "dashboard act token", from: "dashboard 192.0.2.1:4711"}, newCaller(r, false))
	r.Header["X-Forwarded-For"] = []string{"203.0.113.9, <script>"}
	require.Equal(t, "192.0.2.1", host.AddressOf(r, true).String())
	require.Equal(t, "dashboard 192.0.2.1:4711", newCaller(r, true).from)
	r.Header.Set("X-Forwarded-User", string(make([]byte, 5000)))
	require.Less(t, len(newCaller(r, true).by), 500, "the bot takes no longer name")
}
