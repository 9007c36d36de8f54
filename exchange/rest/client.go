package rest

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark-trading/tidemark/market"
)

// The bounds of an access window (specification 5, venue-facts 2.2).
const (
	minWindow     = 100 * time.Millisecond
	maxWindow     = time.Minute
	defaultWindow = 10 * time.Second
)

// maxResponse is the longest answer that is read, in bytes. The longest expected one, a book of
// 1000 levels, has about 60 KB.
const maxResponse = 16 << 20

// Config configures a Client. The zero value of a field stands for the default that its comment
// names.
type Config struct {
	BaseURL string            // with or without /v2; https, or http to a loopback address
	Key     Secret            // none: public endpoints only
	Secret  Secret            // of Key
	Prefix  string            // the brand in the headers, without the dash; "Service"
	Window  market.Duration   // in which the exchange may carry a request out, 100 ms … 60 s; 10 s
	Margin  market.Duration   // least time before the end of the window for Send; a fifth of the window
	Timeout market.Duration   // of one attempt; the window and 5 s
	Tries   int               // attempts of a GET; 4
	Weights map[string]Weight // replace those of the table, by endpoint
	Budget  Budget            // nil: none

	SignPublic bool // with a key, sign market data too: it then costs the key's points, not those of the IP address

	Transport http.RoundTripper // nil: one of its own; it must neither follow redirects nor repeat writes
	Now       func() time.Time  // nil: the machine's clock
}

// Client speaks to one exchange with one key. It is safe for concurrent use.
type Client struct {
	config    Config
	origin    string // "https://host"
	names     headerNames
	weights   [len(endpoints)]Weight
	transport http.RoundTripper
	catalog   atomic.Pointer[directory]
	clock     clock
	signers   sync.Pool
	buffers   sync.Pool
}

// headerNames are the names of the credential headers as net/http spells them.
type headerNames struct{ key, signature, timestamp, window string }

// New returns a client; it sends nothing yet. An error names the wrong setting. Call Sync before
// the first signed request, and Use before the first request in a market's units.
func New(config Config) (*Client, error) {
	c := &Client{config: config}
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("rest: %w", err)
	}
	c.names = headersOf(c.config.Prefix)
	c.transport = c.config.Transport
	if c.transport == nil {
		c.transport = newTransport(c.config.Timeout)
	}
	c.signers.New = func() any { return NewSigner(c.config.Secret) }
	c.buffers.New = func() any { return new(bytes.Buffer) }
	c.clock.start(c.config.Now)
	return c, nil
}

// Close closes idle connections. Running requests go on.
func (c *Client) Close() {
	if t, ok := c.transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// Use sets the catalog of all markets and orders. The catalog must get no further markets or
// assets.
func (c *Client) Use(cat *market.Catalog) { c.catalog.Store(newDirectory(cat)) }

// validate checks the config and fills in its defaults.
func (c *Client) validate() (err error) {
	config := &c.config
	if c.origin, err = Origin(config.BaseURL); err != nil {
		return err
	}
	if config.Key.IsZero() != config.Secret.IsZero() {
		return errors.New("key and secret belong together: only one of them is set")
	}
	config.Prefix = cmp.Or(config.Prefix, "Service")
	if strings.Trim(config.Prefix, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "" {
		return fmt.Errorf("prefix %q is no part of a header's name", config.Prefix)
	}
	config.Window = cmp.Or(config.Window, defaultWindow)
	if config.Window < minWindow || config.Window > maxWindow {
		return fmt.Errorf("window %s lies outside %s … %s", config.Window, minWindow, maxWindow)
	}
	config.Margin = cmp.Or(config.Margin, config.Window/5)
	if config.Margin < 0 || config.Margin >= config.Window {
		return fmt.Errorf("margin %s leaves nothing of the window %s", config.Margin, config.Window)
	}
	if config.Timeout <= 0 {
		config.Timeout = config.Window + 5*time.Second
	}
	if config.Tries <= 0 {
		config.Tries = 4
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	return c.setWeights()
}

// setWeights applies Config.Weights to the table.
func (c *Client) setWeights() error {
	for i := range endpoints {
		c.weights[i] = endpoints[i].weight
	}
	for name, weight := range c.config.Weights {
		at := endpointNamed(name)
		if at < 0 {
			return fmt.Errorf("weight of %q: there is no such endpoint; they are named as in \"GET /{market}/book\"",
				name)
		}
		if weight.One < 0 || weight.All < 0 {
			return fmt.Errorf("weight of %q is negative", name)
		}
		c.weights[at] = weight
	}
	return nil
}

// WeightOf returns the weight of an endpoint, "GET /ordersOpen", in the table; false: there is no
// such endpoint.
func WeightOf(name string) (Weight, bool) {
	if at := endpointNamed(name); at >= 0 {
		return endpoints[at].weight, true
	}
	return Weight{}, false
}

// endpointNamed returns the place of an endpoint in the table, or -1.
func endpointNamed(name string) int {
	for i := range endpoints {
		if endpoints[i].name == name {
			return i
		}
	}
	return -1
}

// Weight returns the weight of an endpoint by Config.Weights, otherwise by the table; the zero
// Weight where there is no such endpoint.
func (c *Client) Weight(name string) Weight {
	if at := endpointNamed(name); at >= 0 {
		return c.weights[at]
	}
	return Weight{}
}

// Origin returns scheme and host of a base URL, as "https://host". It refuses the URLs that Config
// refuses. Its errors repeat at most the host: a password, a path or a query may be a secret.
func Origin(base string) (string, error) {
	u, err := url.Parse(base)
	if err != nil {
		return "", errors.New("the base URL cannot be read; it should look like https://api.example.com/v2")
	}
	switch path := strings.TrimSuffix(u.EscapedPath(), "/"); {
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || strings.HasSuffix(u.Host, ":"):
		return "", errors.New("the base URL should look like https://api.example.com/v2")
	case u.User != nil:
		return "", errors.New("the base URL holds a password; keys have their own settings")
	case path != "" && path != version || strings.ContainsAny(base, "?#"):
		return "", fmt.Errorf("the base URL may have the path %s and nothing behind it", version)
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		return "", fmt.Errorf("http://%s would send keys and orders in clear: use https://%s, or a loopback address "+
			"for an exchange on this machine", u.Host, u.Host)
	}
	if port, err := strconv.Atoi(u.Port()); u.Port() != "" && (err != nil || port < 1 || port > 65535) {
		return "", errors.New("the base URL has a port that is not in 1 to 65535")
	}
	return u.Scheme + "://" + strings.ToLower(u.Host), nil
}

// isLoopback reports whether a host is this machine.
func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}

func headersOf(prefix string) headerNames {
	name := func(last string) string { return http.CanonicalHeaderKey(prefix + "-Access-" + last) }
	return headerNames{name("Key"), name("Signature"), name("Timestamp"), name("Window")}
}

// newTransport returns a transport with connections of its own.
func newTransport(timeout market.Duration) *http.Transport {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: (&net.Dialer{Timeout: min(timeout, 5*time.Second),
			KeepAlive: 15 * time.Second}).DialContext,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:   5 * time.Second,
		ResponseHeaderTimeout: timeout,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          32,
		MaxIdleConnsPerHost:   32,
		IdleConnTimeout:       90 * time.Second,
	}
}
