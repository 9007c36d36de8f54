package host

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"
)

// Certificate is a certificate with its key, from two files. It reads them again when they change:
// certificates are renewed while a bot runs.
type Certificate struct {
	cert, key string

	mu   sync.Mutex
	read *tls.Certificate
	of   [2]time.Time // changes of the files that were read
}

// NewCertificate reads a certificate.
func NewCertificate(cert, key string) (*Certificate, error) {
	c := &Certificate{cert: cert, key: key}
	_, err := c.latest()
	if err != nil {
		return nil, fmt.Errorf("certificate %s with key %s: %w", cert, key, err)
	}
	return c, nil
}

// TLS is the configuration of a server with the certificate.
func (c *Certificate) TLS() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate,
		error) {
		return c.latest()
	}}
}

// latest is the certificate in the files; while they cannot be read, or do not fit, the one before.
func (c *Certificate) latest() (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of, err := c.changes()
	if err == nil && (c.read == nil || of != c.of) {
		var read tls.Certificate
		if read, err = tls.LoadX509KeyPair(c.cert, c.key); err == nil {
			c.read, c.of = &read, of
		}
	}
	if c.read != nil {
		return c.read, nil
	}
	return nil, err
}

// changes are the times at which the files were last changed.
func (c *Certificate) changes() (of [2]time.Time, err error) {
	for i, file := range []string{c.cert, c.key} {
		info, err := os.Stat(file)
		if err != nil {
			return of, err
		}
		of[i] = info.ModTime()
	}
	return of, nil
}
