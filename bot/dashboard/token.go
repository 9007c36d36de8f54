package dashboard

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/bot/host"
)

// tokenBytes is the length of a token; a file has it in hexadecimal digits.
const tokenBytes = 32

// removeIt is what to do about a file that is no token's.
const removeIt = "remove it, and the next start makes a new one"

// Token reads the token in a file, or makes both at the first start. Only the owner of the file may
// read it. made is a new token; empty: the file was there. Another token in the file ends the
// sessions of the one before.
func Token(path string) (token *host.Fresh[string], made string, err error) {
	if made, err = newToken(path); err == nil {
		token, err = host.NewFresh(func() (string, error) { return readToken(path) }, path)
	}
	return token, made, err
}

// newToken makes a token and its file; it is empty where the file is there.
func newToken(path string) (token string, err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("token of the dashboard: %w", err)
	}
	token = secret()
	if _, err = file.WriteString(token + "\n"); err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return "", fmt.Errorf("token of the dashboard: %w", errors.Join(err, os.Remove(path)))
	}
	return token, nil
}

// secret is a new secret: of a token, of a session, of a form.
func secret() string {
	random := make([]byte, tokenBytes)
	_, _ = rand.Read(random) // it never fails
	return hex.EncodeToString(random)
}

func readToken(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", fmt.Errorf("token of the dashboard: %w", err)
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("token of the dashboard: others may read %s; %s", path, removeIt)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("token of the dashboard: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if random, err := hex.DecodeString(token); err != nil || len(random) != tokenBytes {
		return "", fmt.Errorf("token of the dashboard: %s has none; %s", path, removeIt)
	}
	return token, nil
}

// right is a right that a token gives, to look or to act, and the cookie of a browser that has
// shown the token.
type right struct {
	name  string
	of    *host.Fresh[string]
	lasts time.Duration // until a browser has to show the token again
}

// The rights. A browser may look for a month, and act for half a day.
func looks(token *host.Fresh[string]) right { return right{"look", token, 30 * 24 * time.Hour} }
func acts(token *host.Fresh[string]) right  { return right{"act", token, 12 * time.Hour} }

// token is the token now; while its file holds none, the one before.
func (r *right) token() string {
	token, _, _ := r.of.Latest()
	return token
}

// cookieName tells the dashboards of one machine apart: browsers send the cookies of all its ports
// to each of them.
func (r *right) cookieName() string {
	sum := sha256.Sum256([]byte(r.token()))
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
	if err != nil || !host.Same(mac, r.mac(session, begins)) || now.Sub(time.Unix(seconds, 0)) >= r.lasts {
		return ""
	}
	return session
}

func (r *right) mac(session, begins string) string {
	mac := hmac.New(sha256.New, []byte(r.token()))
	mac.Write([]byte("tidemark dashboard " + r.name + " " + session + " " + begins))
	return hex.EncodeToString(mac.Sum(nil))
}
