package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"syscall"
	"time"
)

// renewWithin is how soon a certificate may end before the doctor says so.
const renewWithin = 14 * 24 * time.Hour

// dashboard checks the section [dashboard]: its certificate, and that its address is free.
func (d *doctor) dashboard(now time.Time) {
	const check = "dashboard"
	c := &d.plan.Config.Dashboard
	if c.Listen == "" {
		return
	}
	way := "on this machine"
	switch {
	case c.TLSCert != "":
		if way = d.certificate(check, c.TLSCert, c.TLSKey, now); way == "" {
			return
		}
	case c.BehindProxy:
		way = "behind a proxy, whose X-Forwarded headers it believes"
	}
	on, err := net.Listen("tcp", c.Listen)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		d.warn(check, c.Listen+" is in use", "that is right if this bot runs; else choose another dashboard.listen")
		return
	case err != nil:
		d.fail(check, err.Error(), "choose another dashboard.listen; the bot trades without its dashboard")
		return
	}
	_ = on.Close()
	d.ok(check, "%s, %s", c.Listen, way)
}

// certificate checks a certificate and its key, and returns until when it is valid, in words; empty
// after a finding.
func (d *doctor) certificate(check, cert, key string, now time.Time) string {
	info, err := os.Stat(key)
	if err == nil && info.Mode().Perm()&0o007 != 0 {
		d.fail(check, "every user of this machine may read the key "+key, "chmod o= "+key)
		return ""
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	var leaf *x509.Certificate
	if err == nil {
		leaf, err = x509.ParseCertificate(pair.Certificate[0])
	}
	if err != nil {
		d.fail(check, err.Error(), "correct dashboard.tls_cert and dashboard.tls_key")
		return ""
	}
	until := leaf.NotAfter.UTC().Format("2006-01-02 15:04 UTC")
	if left := leaf.NotAfter.Sub(now); left < renewWithin {
		d.warn(check, "the certificate "+cert+" ends at "+until, "renew it; the bot takes the new one while it runs")
		return ""
	}
	return "over TLS, with a certificate until " + until
}
