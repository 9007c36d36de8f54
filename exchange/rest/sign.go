package rest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"
)

// Signer makes the signatures of specification 5. After the first it allocates nothing; it is not
// safe for concurrent use.
type Signer struct {
	mac     hash.Hash
	message []byte
	sum     []byte
}

// NewSigner returns a signer for an API secret.
func NewSigner(secret Secret) *Signer {
	return &Signer{mac: hmac.New(sha256.New, []byte(secret.Reveal())), message: make([]byte, 0, 512),
		sum: make([]byte, 0, sha256.Size)}
}

// AppendSignature appends the 64 lowercase hexadecimal digits that sign a request: HMAC-SHA256 over
// timestamp (Unix milliseconds, as in its header), method in upper case, path as on the wire with
// /v2 and query, and body as sent.
func (s *Signer) AppendSignature(dst []byte, timestamp int64, method, path string, body []byte) []byte {
	s.message = strconv.AppendInt(s.message[:0], timestamp, 10)
	s.message = append(s.message, method...)
	s.message = append(s.message, path...)
	s.message = append(s.message, body...)
	s.mac.Reset()
	s.mac.Write(s.message)
	s.sum = s.mac.Sum(s.sum[:0])
	return hex.AppendEncode(dst, s.sum)
}
