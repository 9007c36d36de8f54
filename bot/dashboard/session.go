package dashboard

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// right is a right that a token gives, to look or to act, and the cookie of a browser that has
// shown the token.
type right struct {
	name, token string
	lasts       time.Duration // until a browser has to show the token again
}

// The rights. A browser may look for a month, and act for half a day.
func looks(token string) right { return right{"look", token, 30 * 24 * time.Hour} }
func acts(token string) right  { return right{"act", token, 12 * time.Hour} }

// cookieName tells the dashboards of one machine apart: browsers send the cookies of all its ports
// to each of them.
func (r *right) cookieName() string {
	sum := sha256.Sum256([]byte(r.token))
	return "tidemark_" + r.name + "_" + hex.EncodeToString(sum[:4])
}

// cookie is the cookie of a session that begins. Its value does not tell the token, and another
// token makes it void.
func (r *right) cookie(session string, now time.Time, secure bool) *http.Cookie {
	begins := strconv.FormatInt(now.Unix(), 10)
	return &http.Cookie{Name: r.cookieName(), Value: session + "." + begins + "." + r.mac(session, begins), Path: "/",
		HttpOnly: true, Secure: secure, SameSite: http.SameSiteStrictMode, MaxAge: int(r.lasts.Seconds())}
}

// sessionOf is the session of a request's cookie; empty: it has none that is valid now.
func (r *right) sessionOf(request *http.Request, now time.Time) string {
	cookie, err := request.Cookie(r.cookieName())
	if err != nil {
		return ""
	}
	session, rest, _ := strings.Cut(cookie.Value, ".")
	begins, mac, _ := strings.Cut(rest, ".")
	seconds, err := strconv.ParseInt(begins, 10, 64)
	if err != nil || !same(mac, r.mac(session, begins)) || now.Sub(time.Unix(seconds, 0)) >= r.lasts {
		return ""
	}
	return session
}

func (r *right) mac(session, begins string) string {
	mac := hmac.New(sha256.New, []byte(r.token))
	mac.Write([]byte("tidemark dashboard " + r.name + " " + session + " " + begins))
	return hex.EncodeToString(mac.Sum(nil))
}
