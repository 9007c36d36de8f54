package door

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tidemark-trading/tidemark/bot/host"
	"github.com/tidemark-trading/tidemark/internal/bottest"
	"github.com/tidemark-trading/tidemark/state/signals"
)

func TestASignalWithASecretPathIsHeard(t *testing.T) {
	m := makeDoor(t, nil)
	status, answer, head := m.post("/signal/"+madePath, `{"market":"BTCEUR","action":"buy","position":"long"}`)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, `{"signal":1}`, answer)
	require.Equal(t, "application/json", head.Get("Content-Type"))
	require.Equal(t, []string{"BTCEUR buy long"}, m.ear.all())
	require.Equal(t, "tv", m.ear.heard[0].Source)
	require.Equal(t, signals.ProofPath, m.ear.heard[0].Proof)
}

func TestAWrongRequestSaysAsMuchAsItsSenderMayKnow(t *testing.T) {
	own := "/signal/" + madePath
	for _, c := range []struct {
		method, path, body string
		status             int
		answer             string
	}{
		{"GET", own, "", 405, "method not allowed"},
		{"PUT", own, "{}", 405, "method not allowed"},
		{"POST", "/", "{}", 404, "not found"},
		{"POST", "/signal/", "{}", 404, "not found"},
		{"POST", own + "/", "{}", 404, "not found"},
		{"POST", own[:len(own)-1], "{}", 404, "not found"},
		{"POST", "/signals/" + madePath, "{}", 404, "not found"},
		{"POST", own, "BTCEUR Crossing 45,000.00", 400,
			`it is no JSON object, like {"market": "BTC-EUR", "action": "buy"}`},
		{"POST", own, `action=buy market=BTC-EUR`, 400,
			`it is no JSON object, like {"market": "BTC-EUR", "action": "buy"}`},
		{"POST", own, `[]`, 422, `it is no JSON object, like {"market": "BTC-EUR", "action": "buy"}`},
		{"POST", own, `{"action":"bye"}`, 422, `column "action": "bye" is none of buy, sell, exit`},
		{"POST", own, `{"value":"` + strings.Repeat("x", signals.MaxBody) + `"}`, 413,
			"a signal has at most 4096 bytes"},
	} {
		m := makeDoor(t, nil)
		status, answer, head := m.post(c.path, c.body, func(r *http.Request) { r.Method = c.method })
		require.Equal(t, c.status, status, c.path)
		var says struct{ Error string }
		require.NoError(t, json.Unmarshal([]byte(answer), &says))
		require.Equal(t, c.answer, says.Error)
		if status == http.StatusMethodNotAllowed {
			require.Equal(t, "POST", head.Get("Allow"))
		}
	}
}

// All users of TradingView share four addresses: a stranger there must not close the door for them.
func TestTenWrongSecretsCloseAnAddressForWrongOnesAlone(t *testing.T) {
	m := makeDoor(t, nil)
	for range host.MaxTries {
		status, _, _ := m.post("/signal/x", "{}")
		require.Equal(t, http.StatusNotFound, status)
	}
	lines := strings.Count(m.log.String(), "\n")
	for _, path := range []string{"/signal/x", "/signal", "/"} {
		status, _, head := m.post(path, "{}")
		require.Equal(t, http.StatusTooManyRequests, status)
		require.Equal(t, "60", head.Get("Retry-After"))
	}
	require.Equal(t, lines, strings.Count(m.log.String(), "\n"), "the log says no more about it")
	status, _, _ := m.post("/signal/"+madePath, `{"action":"buy"}`)
	require.Equal(t, http.StatusOK, status)
	status, _, _ = m.post("/signal", vectorBody, signed(vectorID, vectorTime, vectorMAC))
	require.Equal(t, http.StatusOK, status)
	status, _, _ = m.post("/signal/x", "{}", from("192.0.2.8"))
	require.Equal(t, http.StatusNotFound, status)
	m.now = m.now.Add(host.TriesFor)
	status, _, _ = m.post("/signal/x", "{}")
	require.Equal(t, http.StatusNotFound, status)
}

func TestASourceSendsSixtyAMinuteAndTwentyAtOnce(t *testing.T) {
	m := makeDoor(t, nil)
	send := func() (int, string) {
		value := m.now.UnixNano() + int64(len(m.ear.heard)) // another one each time
		status, _, head := m.post("/signal/"+madePath, fmt.Sprintf(`{"value":%d}`, value))
		return status, head.Get("Retry-After")
	}
	for range maxBurst {
		status, _ := send()
		require.Equal(t, http.StatusOK, status)
	}
	status, after := send()
	require.Equal(t, http.StatusTooManyRequests, status)
	require.Equal(t, "1", after)
	passed := 0
	for range 600 {
		m.now = m.now.Add(100 * time.Millisecond)
		if status, _ := send(); status == http.StatusOK {
			passed++
		}
	}
	require.Equal(t, perMinute, passed)
	status, _, _ = m.post("/signal", vectorBody, signed(vectorID, fmt.Sprint(m.now.Unix()), vectorMAC))
	require.Equal(t, http.StatusUnauthorized, status, "a wrong one takes nothing of a source's rate")
	status, _, _ = m.post("/signal", vectorBody, signed(vectorID, vectorTime, vectorMAC))
	require.Equal(t, http.StatusOK, status, "the other source has its own")
}

func TestOnlyAllowedAddressesMaySend(t *testing.T) {
	for _, c := range []struct {
		from, forwarded string
		proxied         bool
		status          int
	}{
		{"192.0.2.7", "", false, 200}, {"::ffff:192.0.2.7", "", false, 200}, {"2001:db8::1", "", false, 200},
		{"198.51.100.1", "", false, 404}, {"198.51.100.1", "192.0.2.7", false, 404},
		{"127.0.0.1", "192.0.2.7", true, 200}, {"127.0.0.1", "192.0.2.7, 198.51.100.1", true, 404},
		{"127.0.0.1", "", true, 404}, {"127.0.0.1", "unknown", true, 404},
	} {
		m := makeDoor(t, func(d *Config) {
			d.Proxied = c.proxied
			d.Allow = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::1/128")}
		})
		status, _, _ := m.post("/signal/"+madePath, `{"action":"buy"}`, func(r *http.Request) {
			r.RemoteAddr = net.JoinHostPort(c.from, "4711")
			r.Header.Set("X-Forwarded-For", c.forwarded)
		})
		require.Equal(t, c.status, status, "%+v", c)
		if status != http.StatusOK {
			require.Contains(t, m.log.String(), "not in signals.door.allow")
		}
	}
}

func TestABotThatDoesNotHearIsNamed(t *testing.T) {
	m := makeDoor(t, nil)
	m.ear.err = errors.New("disk full")
	status, answer, head := m.post("/signal/"+madePath, `{"action":"buy"}`)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Equal(t, `{"error":"the bot does not hear signals now; send it again"}`, answer)
	require.Equal(t, "1", head.Get("Retry-After"))
	require.Contains(t, m.log.String(), "disk full")
	m.ear.err = nil
	status, _, _ = m.post("/signal/"+madePath, `{"action":"buy"}`)
	require.Equal(t, http.StatusOK, status)
	synctest.Test(t, func(t *testing.T) {
		m := makeDoor(t, nil)
		m.ear.hold = make(chan struct{})
		began := time.Now()
		status, _, _ := m.post("/signal/"+madePath, `{"action":"buy"}`)
		require.Equal(t, http.StatusServiceUnavailable, status)
		require.Less(t, time.Since(began), 3*time.Second, "TradingView hangs up then, and sends no more")
	})
}

// A sender that hangs up does not undo its signal.
func TestASignalCountsWhereItsSenderHangsUp(t *testing.T) {
	m := makeDoor(t, nil)
	status, _, _ := m.post("/signal/"+madePath, `{"action":"buy"}`, func(r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		cancel()
		*r = *r.WithContext(ctx)
	})
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, []string{"buy"}, m.ear.all())
}

// pipes is a listener in memory.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	on, more := <-p
	if !more {
		return nil, net.ErrClosed
	}
	return on, nil
}
func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8790} }

// dial opens a connection to a server.
func (p pipes) dial() net.Conn { return p.dialFrom("") }

// dialFrom opens one from an address.
func (p pipes) dialFrom(address string) net.Conn {
	near, far := net.Pipe()
	p <- named{far, address}
	return near
}

// named is a connection from an address.
type named struct {
	net.Conn
	from string
}

func (n named) RemoteAddr() net.Addr { return namedAddress(net.JoinHostPort(n.from, "4711")) }

type namedAddress string

func (a namedAddress) Network() string { return "tcp" }
func (a namedAddress) String() string  { return string(a) }

// serving runs a door over connections in memory.
func serving(t *testing.T, m *made) (on pipes, end func()) {
	on = make(pipes)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Serve(ctx, on) }()
	return on, func() {
		cancel()
		require.NoError(t, <-ended)
	}
}

func TestASlowSenderIsCutOffAfterTwoSeconds(t *testing.T) {
	for _, text := range []string{"POST /sig", "POST /signal/" + madePath + " HTTP/1.1\r\nHost: x\r\n",
		"POST /signal/" + madePath + " HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n{"} {
		synctest.Test(t, func(t *testing.T) {
			m := makeDoor(t, nil)
			on, end := serving(t, m)
			near, began := on.dial(), time.Now()
			go func() { _, _ = near.Write([]byte(text)) }()
			_, _ = io.ReadAll(near)
			require.Equal(t, readTime, time.Since(began).Truncate(time.Second), text)
			require.Empty(t, m.ear.all())
			end()
			_ = near.Close()
		})
	}
}

func TestSixtyFourConnectionsAreHeldAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := makeDoor(t, nil)
		on, end := serving(t, m)
		closed := func(near net.Conn) bool {
			_ = near.SetReadDeadline(time.Now().Add(time.Millisecond))
			_, err := near.Read(make([]byte, 1))
			return err == io.EOF
		}
		var busy []net.Conn
		for range maxConnections {
			busy = append(busy, on.dial())
		}
		synctest.Wait()
		extra := on.dial()
		synctest.Wait()
		require.True(t, closed(extra), "none of the others is idle")
		for _, near := range busy[:2] { // two become idle, in this order
			_, err := near.Write([]byte("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"))
			require.NoError(t, err)
			_, err = near.Read(make([]byte, 4096))
			require.NoError(t, err)
			synctest.Wait()
		}
		extra = on.dial()
		synctest.Wait()
		require.False(t, closed(extra))
		require.True(t, closed(busy[0]))
		require.False(t, closed(busy[1]))
		end()
		for _, near := range append(busy, extra) {
			_ = near.Close()
		}
	})
}

// An address that holds all connections loses one to another address, also where all are busy.
func TestNoAddressKeepsOthersOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := makeDoor(t, nil)
		on, end := serving(t, m)
		var all []net.Conn
		dial := func(from string) net.Conn {
			all = append(all, on.dialFrom(from))
			synctest.Wait()
			return all[len(all)-1]
		}
		open := func(near net.Conn) bool {
			_ = near.SetReadDeadline(time.Now().Add(time.Microsecond))
			_, err := near.Read(make([]byte, 1))
			return err != io.EOF
		}
		for i := range maxConnections { // of one machine: its network has all addresses
			dial(fmt.Sprintf("2001:db8::%d", i+1))
		}
		require.False(t, open(dial("2001:db8::1:1")), "it has the most")
		require.True(t, open(dial("192.0.2.1")))
		require.False(t, open(all[0]), "the longest one")
		require.True(t, open(all[1]))
		for range maxConnections/2 - 2 {
			require.True(t, open(dial("192.0.2.1")))
		}
		require.True(t, open(dial("192.0.2.1")), "32 each")
		require.False(t, open(dial("192.0.2.1")))
		require.True(t, open(dial("192.0.2.2")), "each may have one")
		end()
		for _, near := range all {
			_ = near.Close()
		}
	})
}

func TestLongHeadersAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := makeDoor(t, nil)
		on, end := serving(t, m)
		near := on.dial()
		go func() {
			_, _ = fmt.Fprintf(near, "POST / HTTP/1.1\r\nHost: x\r\nX: %s\r\n\r\n", strings.Repeat("x", 2*maxHead))
		}()
		text, _ := io.ReadAll(near)
		require.Contains(t, string(text), "431")
		end()
		_ = near.Close()
	})
}

// clientCertificate makes a certificate that signs itself.
func clientCertificate(t *testing.T, name, mail string) (tls.Certificate, *x509.Certificate) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, Subject: pkix.Name{CommonName: name}, EmailAddresses: []string{mail}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	one, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}, one
}

func TestACertificateOfTheSenderIsAskedForWhereThereIsNoSignature(t *testing.T) {
	cert, key, roots := bottest.Certificate(t, t.TempDir(), 1, time.Now().Add(time.Hour))
	of, err := host.NewCertificate(cert, key)
	require.NoError(t, err)
	right, root := clientCertificate(t, "Webhooks", "hooks@example.com")
	second, root2 := clientCertificate(t, "Others", "others@example.com")
	stranger, _ := clientCertificate(t, "Webhooks", "hooks@example.com")
	clients := &Clients{Roots: x509.NewCertPool(), Subject: "hooks@example.com"}
	clients.Roots.AddCert(root)
	clients.Roots.AddCert(root2)
	m := makeDoor(t, func(c *Config) { c.Certificate, c.Clients, c.Now = of, clients, nil })
	on, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Serve(ctx, on) }()
	send := func(with ...tls.Certificate) (status int, err error) {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
			TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: with}}}
		answer, err := client.Post("https://"+on.Addr().String()+"/signal/"+madePath, "",
			strings.NewReader(`{"action":"buy"}`))
		if err == nil {
			require.NoError(t, answer.Body.Close())
			status = answer.StatusCode
		}
		return status, err
	}
	status, err := send(right)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, signals.ProofCertificate, m.ear.heard[0].Proof)
	status, err = send()
	require.NoError(t, err)
	require.Equal(t, http.StatusNotFound, status)
	status, err = send(second)
	require.NoError(t, err)
	require.Equal(t, http.StatusNotFound, status)
	_, err = send(stranger)
	require.Error(t, err)
	require.Contains(t, m.log.String(), "no certificate of signals.door.client_ca")
	require.Contains(t, m.log.String(), "not of signals.door.client_subject")
	cancel()
	require.NoError(t, <-ended)
}

// Whatever comes, the answer is one of the door's, and what is heard is what the body says.
func FuzzBody(f *testing.F) {
	f.Add([]byte(vectorBody), "/signal/"+madePath)
	f.Add([]byte(`{"id":"{{ticker}}","time":"2024-03-01T12:00:00Z","was":"flat","price":"1e3"}`), "/signal/"+madePath)
	f.Add([]byte(`{"a":{"b":{"c":{}}}}`), "/signal/"+madePath)
	f.Add([]byte(strings.Repeat("[", 5000)), "/signal/"+madePath)
	f.Add([]byte(`{"value":1e999}`), "/signal")
	f.Fuzz(func(t *testing.T, body []byte, path string) {
		if r, err := http.NewRequest(http.MethodPost, path, nil); err != nil || r.URL.Path == "" || path[0] != '/' ||
			strings.ContainsAny(path, " \r\n\t") {
			return // no request has such a path
		}
		m := makeDoor(t, nil)
		status, answer, _ := m.post(path, string(body))
		require.Contains(t, []int{200, 400, 401, 404, 413, 422}, status)
		var says struct {
			Signal int64
			Error  string
		}
		require.NoError(t, json.Unmarshal([]byte(answer), &says))
		require.Equal(t, status == http.StatusOK, says.Signal == 1 && says.Error == "", answer)
		if status != http.StatusOK {
			return
		}
		var object map[string]any
		require.NoError(t, json.Unmarshal(body, &object), "what is heard is JSON for others too")
		require.Equal(t, string(body), string(m.ear.heard[0].Body))
	})
}

// A secret whose file changes counts at once, and the one before no more. What is no secret changes
// nothing. Of two sources with one secret none is heard.
func TestAChangedSecretCountsAtOnce(t *testing.T) {
	one, other := strings.Repeat("0123456789abcdef", 2), strings.Repeat("fedcba9876543210", 2)
	file, at := filepath.Join(t.TempDir(), "path"), time.Unix(1_700_000_000, 0)
	write := func(text string) {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		at = at.Add(time.Second)
		require.NoError(t, os.Chtimes(file, at, at))
	}
	write(one)
	fresh, err := host.NewFresh(func() (s Secret, err error) {
		text, err := os.ReadFile(file)
		if err == nil {
			s.Path, err = ParsePath(string(text))
		}
		return s, err
	}, file)
	require.NoError(t, err)
	m := makeDoor(t, func(c *Config) { c.Sources[0].Secret = fresh })
	says := func(path string) int {
		status, _, _ := m.post("/signal/"+path, `{"value":1}`)
		return status
	}
	require.Equal(t, http.StatusOK, says(one))
	write(other)
	require.Equal(t, http.StatusOK, says(other))
	require.Equal(t, http.StatusNotFound, says(one))
	require.Contains(t, m.log.String(), "the secret of a source has changed")
	write("short")
	require.Equal(t, http.StatusOK, says(other))
	require.Equal(t, 1, strings.Count(m.log.String(), "the changed secret of a source is not taken"))
	require.NotContains(t, m.log.String(), other)
	m.sources[1].Secret = host.Fixed(Secret{Path: other})
	require.Equal(t, http.StatusNotFound, says(other))
	require.Contains(t, m.log.String(), "two sources have one secret now")
}
