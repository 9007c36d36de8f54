package api

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"sync"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// Limits of the headers of a request (specification 5, venue-facts 2.2). A timestamp from 1973
// to 5138 is one in milliseconds; seconds and microseconds of our days are not.
const (
	KeyLength       = 64
	signatureLength = 2 * sha256.Size
	defaultWindow   = 10_000 // ms
	minWindow       = 100
	maxWindow       = 60_000
	minTimestamp    = 100_000_000_000
	maxTimestamp    = 99_999_999_999_999
)

// Key is one API key with its secret and permissions (specification 5).
type Key struct {
	Key, Secret           string
	Read, Trade, Withdraw bool
	Addresses             []string // that it may be used from; none: any
	Unconfirmed           bool     // it has not been confirmed by e-mail: 306
	Budget                int      // points a minute, over Budget.PerKey; 0: that
}

// activeKey is an API key at work.
type activeKey struct {
	*Key
	account   int // as call.account
	rights    Right
	addresses []netip.Addr
	budget    int        // points a minute
	limit     []string   // budget as the value of a header
	meter     Usage      // guarded by the limiter
	payer     *activeKey // whose budget and meter count: its own, or of a budget for the account those of its first key
	macs      sync.Pool
}

func newKey(config *Key, account int, name string, otherwise int) (*activeKey, error) {
	if len(config.Key) != KeyLength {
		return nil, fmt.Errorf("a key of account %s has %d characters, not %d", name, len(config.Key), KeyLength)
	}
	k := &activeKey{Key: config, account: account, rights: config.rights(), budget: points(config.Budget, otherwise)}
	k.payer = k
	k.limit = []string{strconv.Itoa(k.budget)}
	for _, text := range config.Addresses {
		address, err := netip.ParseAddr(text)
		if err != nil {
			return nil, fmt.Errorf("a key of account %s: %w", name, err)
		}
		k.addresses = append(k.addresses, address.Unmap())
	}
	return k, nil
}

// rights returns a key's permissions.
func (k *Key) rights() (all Right) {
	if k.Read {
		all |= Read
	}
	if k.Trade {
		all |= Trade
	}
	if k.Withdraw {
		all |= Withdraw
	}
	return all
}

// credentialHeaders are the names of the headers that carry credentials, as net/http spells them.
type credentialHeaders struct{ key, signature, timestamp, window string }

func credentialHeadersOf(prefix string) credentialHeaders {
	name := func(last string) string { return http.CanonicalHeaderKey(prefix + "-Access-" + last) }
	return credentialHeaders{name("Key"), name("Signature"), name("Timestamp"), name("Window")}
}

// identify returns whose request this is; nil for one without credentials at a public endpoint. A
// key comes with a refusal where it is genuine but lacks a right: of those the request needs, trade
// is missed first, then read, then withdraw. Which key a request shows stands in the headers of the
// first prefix that has any.
func (d *Door) identify(q *Request, r *http.Request, now market.Time) (*activeKey, *exchange.Error) {
	for i := range d.credentials {
		names := &d.credentials[i]
		shown := q.credentials(r.Header, names)
		if !shown {
			continue
		}
		k, refusal := d.authenticate(q, now, func() netip.Addr { return PeerOf(r.RemoteAddr) },
			func(k *activeKey) bool { return k.signed(q, r, d.strict) })
		if refusal != nil {
			return nil, refusal
		}
		return k, k.lacks(q.Endpoint.Needs)
	}
	if q.Endpoint.Public() {
		return nil, nil
	}
	return nil, exchange.ErrCode(300)
}

// credentials are the values of the headers of one prefix.
type credentials struct {
	key, signature, timestamp, window string
	hasWindow                         bool
}

// credentials reads the headers of one prefix and reports whether any of them shows a credential. A
// window alone is none.
func (q *Request) credentials(h http.Header, names *credentialHeaders) bool {
	keys, signatures, timestamps := h[names.key], h[names.signature], h[names.timestamp]
	q.shown = credentials{key: first(keys), signature: first(signatures), timestamp: first(timestamps)}
	if windows := h[names.window]; len(windows) > 0 {
		q.shown.window, q.shown.hasWindow = windows[0], true
	}
	return len(keys)+len(signatures)+len(timestamps) > 0
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

// authenticate makes the checks of venue-facts 2.2 in their order. The window reaches both ways: a
// request that is dated ahead of the exchange's clock by more than the window is refused as one
// that is too old (specification 5 speaks of the latter only). A request that comes again within
// its window is a new one: the specification has no nonce. peer is the address that asks, signed
// checks the signature.
func (d *Door) authenticate(q *Request, now market.Time, peer func() netip.Addr,
	signed func(*activeKey) bool) (*activeKey, *exchange.Error) {
	shown := &q.shown
	if shown.key == "" || shown.signature == "" || shown.timestamp == "" {
		return nil, exchange.ErrCode(300)
	}
	if len(shown.key) != KeyLength {
		return nil, exchange.ErrCode(301)
	}
	at, ok := wholeNumber(shown.timestamp, minTimestamp, maxTimestamp)
	if !ok {
		return nil, exchange.ErrCode(302)
	}
	window := int64(defaultWindow)
	if shown.hasWindow {
		if window, ok = wholeNumber(shown.window, minWindow, maxWindow); !ok {
			return nil, exchange.ErrCode(303)
		}
	}
	if age := now.Millis() - at; age > window || age < -window {
		return nil, exchange.ErrCode(304, window)
	}
	if len(shown.signature) != signatureLength {
		return nil, exchange.ErrCode(308)
	}
	q.message = append(q.message[:0], shown.signature...)
	if _, err := hex.Decode(q.signature[:], q.message); err != nil {
		return nil, exchange.ErrCode(308)
	}
	k := d.keys[shown.key]
	switch {
	case k == nil:
		return nil, exchange.ErrCode(305)
	case k.Unconfirmed:
		return nil, exchange.ErrCode(306)
	case len(k.addresses) > 0 && !slices.Contains(k.addresses, peer()):
		return nil, exchange.ErrCode(307)
	case !signed(k):
		return nil, exchange.ErrCode(309)
	}
	return k, nil
}

// wholeNumber reads a number that is written with digits only.
func wholeNumber(text string, least, most int64) (int64, bool) {
	if text == "" || len(text) > 18 {
		return 0, false
	}
	n := int64(0)
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		n = 10*n + int64(text[i]-'0')
	}
	return n, n >= least && n <= most
}

// signed reports whether the signature is that of the request: timestamp, method, path with /v2 and
// query as they came, body. The body part of a GET is empty, whatever it has (specification 5).
// Clients that sign a compact body but send it with spaces, that sign none but send {} with DELETE,
// or that sign the body of a GET, are right too unless strict.
func (k *activeKey) signed(q *Request, r *http.Request, strict bool) bool {
	q.message = append(q.message[:0], q.shown.timestamp...)
	q.message = append(q.message, r.Method...)
	q.message = append(q.message, requestURI(r)...)
	head := len(q.message)
	if r.Method != http.MethodGet {
		q.message = append(q.message, q.Body...)
	}
	if k.matches(q) {
		return true
	}
	q.message = append(q.message[:head], q.Body...)
	if !strict && r.Method == http.MethodGet && k.matches(q) {
		return true
	}
	if strict || len(q.Body) == 0 {
		return false
	}
	q.compact.Reset()
	if json.Compact(&q.compact, q.Body) != nil {
		return false
	}
	compact := q.compact.Bytes()
	if !q.Endpoint.InBody() && string(compact) == "{}" {
		compact = nil
	}
	if bytes.Equal(compact, q.Body) {
		return false
	}
	q.message = append(q.message[:head], compact...)
	return k.matches(q)
}

// requestURI returns path and query as they came.
func requestURI(r *http.Request) string {
	if len(r.RequestURI) > 0 && r.RequestURI[0] == '/' {
		return r.RequestURI
	}
	return r.URL.RequestURI() // a request through a proxy names the host too; one made by hand has no RequestURI
}

// matches compares the signature with that of the visit's message, in constant time.
func (k *activeKey) matches(q *Request) bool {
	mac, ok := k.macs.Get().(hash.Hash)
	if !ok {
		mac = hmac.New(sha256.New, []byte(k.Secret))
	}
	mac.Reset() // keeps the hash of the secret, so that it is made once
	mac.Write(q.message)
	q.sum = mac.Sum(q.sum[:0])
	k.macs.Put(mac)
	return subtle.ConstantTimeCompare(q.sum, q.signature[:]) == 1
}

// lacks returns the refusal of a key without one of the needed rights.
func (k *activeKey) lacks(needed Right) *exchange.Error {
	missing := needed &^ k.rights
	switch {
	case missing == 0:
		return nil
	case missing&Trade != 0:
		return exchange.ErrCode(310)
	case missing&Read != 0:
		return exchange.ErrCode(311)
	}
	return exchange.ErrCode(312)
}
