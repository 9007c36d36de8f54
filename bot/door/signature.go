package door

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/state/signals"
)

// The headers of Standard Webhooks 1.0.
const (
	headerID        = "Webhook-Id"
	headerTime      = "Webhook-Timestamp"
	headerSignature = "Webhook-Signature"
)

// The bounds of a signature.
const (
	keyPrefix = "whsec_"
	leastKey  = 24 // bytes
	mostKey   = 64
	clockDiff = 5 * time.Minute // between the clocks of sender and bot
)

// ParseKey reads the secret of a source that signs: whsec_ and 24 to 64 bytes in base64.
func ParseKey(text string) ([]byte, error) {
	coded, is := strings.CutPrefix(text, keyPrefix)
	key, err := base64.StdEncoding.DecodeString(coded)
	if !is || err != nil || len(key) < leastKey || len(key) > mostKey {
		return nil, fmt.Errorf("want %s and %d to %d random bytes in base64; make one: "+
			`echo "%s$(openssl rand -base64 32)"`, keyPrefix, leastKey, mostKey, keyPrefix)
	}
	return key, nil
}

// signature is what the headers of a signed request say.
type signature struct {
	id, stamp string
	at        time.Time
	macs      [][]byte // of version 1; a sender that changes its secret sends two
}

// signatureOf reads the headers of a request. Its errors are for the log.
func signatureOf(head http.Header, now time.Time) (*signature, error) {
	if len(head[headerID]) != 1 || len(head[headerTime]) != 1 || len(head[headerSignature]) == 0 {
		return nil, errors.New("webhook-id, webhook-timestamp and webhook-signature are not there once each")
	}
	s := &signature{id: head[headerID][0], stamp: head[headerTime][0]}
	seconds, err := strconv.ParseInt(s.stamp, 10, 64)
	if err != nil {
		return nil, errors.New("webhook-timestamp is no whole number of seconds")
	}
	s.at = time.Unix(seconds, 0)
	if off := now.Sub(s.at); off > clockDiff || off < -clockDiff {
		return nil, fmt.Errorf("webhook-timestamp differs from this machine's clock by %s", off.Round(time.Second))
	}
	for word := range strings.FieldsSeq(strings.Join(head[headerSignature], " ")) {
		coded, is := strings.CutPrefix(word, "v1,")
		mac, err := base64.StdEncoding.DecodeString(coded)
		if is && err == nil && len(mac) == sha256.Size {
			s.macs = append(s.macs, mac)
		}
	}
	if len(s.macs) == 0 || s.id == "" {
		return nil, errors.New("webhook-id is empty, or webhook-signature has no v1,BASE64")
	}
	return s, nil
}

// by reports whether a key has made one of the signatures.
func (s *signature) by(key, body []byte) bool {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(s.id + "." + s.stamp + "."))
	mac.Write(body)
	want, ok := mac.Sum(nil), false
	for _, have := range s.macs {
		ok = hmac.Equal(have, want) || ok
	}
	return ok
}

// prove adds to an arrival what its signature proves: which message it is, and when it was sent.
func (s *signature) prove(a *signals.Arrival) {
	if a.Proof, a.ID = signals.ProofHMAC, s.id; a.Sent == 0 {
		a.Sent = market.Time(s.at.UnixNano())
	}
}
