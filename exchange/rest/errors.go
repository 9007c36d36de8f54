package rest

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"github.com/tidemark-trading/tidemark/exchange"
)

var (
	// ErrLate is wrapped where too little is left of a request's access window.
	ErrLate = errors.New("the access window is over, or nearly; prepare it anew")
	// ErrNoCatalog is wrapped where a method needs a catalog and Use has not been called.
	ErrNoCatalog = errors.New("the client has no catalog yet")
	// ErrNoKey is wrapped where a private endpoint is called without a key.
	ErrNoKey = errors.New("a private endpoint needs a key and its secret")
	// ErrFalseTime is wrapped where the exchange's time cannot be true: the last measurement stays.
	ErrFalseTime = errors.New("a time that cannot be true")
	// ErrMismatch is wrapped where an answer does not match its request.
	ErrMismatch = errors.New("the answer is not about what was asked")
)

// errTooLong is wrapped where an answer is longer than maxResponse.
var errTooLong = errors.New("the answer is longer than 16 MiB")

// notSent wraps the reason why a request certainly did not leave this process.
func notSent(reason error) error { return fmt.Errorf("%w: %w", exchange.ErrNotSent, reason) }

// markNotSent marks a transport's error as not sent where there never was a connection.
func markNotSent(err error) error {
	var dial *net.OpError
	var untrusted *tls.CertificateVerificationError
	if errors.As(err, &dial) && dial.Op == "dial" || errors.As(err, &untrusted) {
		return notSent(err)
	}
	return err
}
