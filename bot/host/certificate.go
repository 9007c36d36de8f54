package host

import (
	"crypto/tls"
	"fmt"
)

// Certificate is a certificate with its key, from two files: certificates are renewed while a bot
// runs.
type Certificate struct{ of *Fresh[*tls.Certificate] }

// NewCertificate reads a certificate.
func NewCertificate(cert, key string) (*Certificate, error) {
	of, err := NewFresh(func() (*tls.Certificate, error) {
		read, err := tls.LoadX509KeyPair(cert, key)
		return &read, err
	}, cert, key)
	if err != nil {
		return nil, fmt.Errorf("certificate %s with key %s: %w", cert, key, err)
	}
	return &Certificate{of}, nil
}

// TLS is the configuration of a server with the certificate.
func (c *Certificate) TLS() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate,
		error) {
		latest, _, _ := c.of.Latest() // the one before, while the files do not fit
		return latest, nil
	}}
}
