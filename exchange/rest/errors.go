package rest

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"github.com/tidemark-trading/tidemark/exchange"
)

var (
	// ErrLate is wrapped where the exchange's time has come too close to the end of a request's
	// window.
	ErrLate = errors.New("the access window is over, or nearly; prepare it anew")
	// ErrNoCatalog is wrapped where a method needs the units of markets and Use has not been
	// called.
	ErrNoCatalog = errors.New("the client has no catalog yet")
	// ErrNoKey is wrapped where a private endpoint is asked without a key.
	ErrNoKey = errors.New("a private endpoint needs a key and its secret")
	// ErrFalseTime is wrapped where the exchange tells a time that cannot be true: what was known
	// of its clock stays.
	ErrFalseTime = errors.New("a time that cannot be true")
	// ErrMismatch is wrapped where an answer speaks of something else than what was asked.
	ErrMismatch = errors.New("the answer is not about what was asked")
)

// errTooLong is wrapped where an answer is longer than maxAnswer.
var errTooLong = errors.New("the answer is longer than 16 MiB")

// notSent says that a request certainly did not leave this process, and why.
func notSent(reason error) error { return fmt.Errorf("%w: %w", exchange.ErrNotSent, reason) }

// certainlyNot marks a transport's error which says that there never was a connection to send by.
func certainlyNot(err error) error {
	var dial *net.OpError
	var untrusted *tls.CertificateVerificationError
	if errors.As(err, &dial) && dial.Op == "dial" || errors.As(err, &untrusted) {
		return notSent(err)
	}
	return err
}
