package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tidemark-trading/tidemark/bot/chat/telegram"
)

// renewWithin is how soon a certificate may end before the doctor says so.
const renewWithin = 14 * 24 * time.Hour

// dashboard checks the section [dashboard]: its certificate, and that its address is free.
func (d *doctor) dashboard(now time.Time) {
	c := &d.plan.Config.Dashboard
	way, free := d.listens("dashboard", c.Listen, c.TLSCert, c.TLSKey, c.BehindProxy, now)
	if way != "" && !free {
		d.warn("dashboard", c.Listen+" is in use",
			"that is right if this bot runs; else choose another dashboard.listen")
	} else if way != "" {
		d.ok("dashboard", "%s, %s", c.Listen, way)
	}
}

// listens checks an address to listen on, and its certificate. way is how it is reached, in words;
// empty where there is none, or after a finding.
func (d *doctor) listens(section, listen, cert, key string, proxied bool, now time.Time) (way string, free bool) {
	if listen == "" {
		return "", false
	}
	way = "on this machine"
	switch {
	case cert != "":
		if way = d.certificate(section, cert, key, now); way == "" {
			return "", false
		}
	case proxied:
		way = "behind a proxy, whose X-Forwarded headers it believes"
	}
	on, err := net.Listen("tcp", listen)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return way, false
	case err != nil:
		d.fail(section, err.Error(), "choose another "+section+".listen; the bot trades without it")
		return "", false
	}
	_ = on.Close()
	return way, true
}

// certificate checks a certificate and its key, and returns until when it is valid, in words; empty
// after a finding.
func (d *doctor) certificate(section, cert, key string, now time.Time) string {
	info, err := os.Stat(key)
	if err == nil && info.Mode().Perm()&0o007 != 0 {
		d.fail(section, "every user of this machine may read the key "+key, "chmod o= "+key)
		return ""
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	var leaf *x509.Certificate
	if err == nil {
		leaf, err = x509.ParseCertificate(pair.Certificate[0])
	}
	if err != nil {
		d.fail(section, err.Error(), fmt.Sprintf("correct %s.tls_cert and %s.tls_key", section, section))
		return ""
	}
	until := leaf.NotAfter.UTC().Format("2006-01-02 15:04 UTC")
	if left := leaf.NotAfter.Sub(now); left < renewWithin {
		d.warn(section, "the certificate "+cert+" ends at "+until, "renew it; the bot takes the new one while it runs")
		return ""
	}
	return "over TLS, with a certificate until " + until
}

// alerts sends one message to each receiver of alerts, to all of them at once, if wanted.
func (d *doctor) alerts(ctx context.Context, wanted bool) {
	const check = "alerts"
	places := d.plan.Receivers
	switch {
	case len(places) == 0 && wanted:
		d.warn(check, "there is no receiver in [alerts.to]",
			"add one: a halt of a bot without alerts is noticed days later")
		return
	case !wanted && len(places) > 0:
		d.ok(check, "%d receivers, not tried; --alerts sends each a message", len(places))
		return
	}
	failed := make([]string, len(places))
	var sending sync.WaitGroup
	for i, p := range places {
		sending.Go(func() { failed[i] = p.Try(ctx, d.plan.Name()) })
	}
	sending.Wait()
	for i, p := range places {
		if failed[i] == "" {
			d.ok(check, "%s (%s) took a message; check that it arrived", p.Name, p.Template)
		} else {
			d.fail(check, fmt.Sprintf("%s (%s): %s", p.Name, p.Template, failed[i]),
				"check the address of alerts.to."+p.Name+", which is a secret and not shown")
		}
	}
}

// telegram asks Telegram who the bot is: its token is right then. It sends no message.
func (d *doctor) telegram(ctx context.Context) {
	const check = "telegram"
	c := &d.plan.Config.Telegram
	if d.plan.Telegram == "" {
		return
	}
	messenger, err := telegram.New(c.BaseURL, d.plan.Telegram)
	if err != nil {
		d.fail(check, err.Error(), "ask @BotFather for the token")
		return
	}
	defer messenger.Close()
	name, err := messenger.Me(ctx)
	switch {
	case err != nil:
		d.fail(check, err.Error(), "check telegram.token_env or token_file, telegram.base_url and the network")
	case len(c.Chats) == 0:
		d.warn(check, "@"+name+" answers no chat: telegram.chats is empty",
			"write to @"+name+" while the bot runs; its log names the id of your chat")
	default:
		d.ok(check, "@%s answers %s; %s", name, strings.Join(c.Chats, ", "), actsOrReads(c.Act))
	}
}

// actsOrReads says whether the chat acts.
func actsOrReads(act bool) string {
	if act {
		return "it may halt, resume and flatten"
	}
	return "it only looks"
}
