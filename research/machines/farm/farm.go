package farm

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/tidemark-trading/tidemark/market"
	"github.com/tidemark-trading/tidemark/research"
	"github.com/tidemark-trading/tidemark/research/machines"
)

// Farm is a machines.Farm. The zero value is ready to use.
type Farm struct {
	// Tests have less patience; 0: as usual.
	wait     time.Duration
	lonely   time.Duration
	attempts int
	store    int64 // the most bytes of the server's files
}

const (
	usualWait   = 8 * time.Second  // a worker may be silent so long before its groups go to others
	usualLonely = 10 * time.Second // after so long without a worker the coordinator says so
	maxPayload  = 8 << 20          // of a message: 24 sets of 40 years
	partSize    = 512 << 10
	usualTries  = 20 // a group that ended so many workers ends the sweep
	ahead       = 1024
	retry       = 500 * time.Millisecond
)

// patience is how long a worker may be silent.
func (f Farm) patience() time.Duration { return cmp.Or(f.wait, usualWait) }

func (f Farm) tries() int { return cmp.Or(f.attempts, usualTries) }

// The subjects and streams of a sweep with an id.
const hello = "tidemark.hello"

func subject(id string, words ...string) string {
	return "tidemark." + id + "." + strings.Join(words, ".")
}

// jobs is the name of the stream of a sweep's groups.
func jobs(id string) string { return "tidemark-jobs-" + id }

// results is the name of the stream of a sweep's results.
func results(id string) string { return "tidemark-results-" + id }

// resultOf is the subject of a group's result. The results of a block are removed together.
func resultOf(id string, number int) string {
	return subject(id, "result", strconv.Itoa(number/ahead), strconv.Itoa(number))
}

// numberOf is the group at the end of a subject.
func numberOf(subject string) (int, error) {
	return strconv.Atoi(subject[strings.LastIndexByte(subject, '.')+1:])
}

// order is a group as a message.
type order struct {
	Number int         `json:"n"`
	Sets   []uint64    `json:"s"`
	Rung   uint8       `json:"r,omitempty"`
	From   market.Time `json:"f"`
	To     market.Time `json:"t,omitempty"`
}

func (o *order) group() research.Group {
	return research.Group{Number: o.Number, Sets: o.Sets, Rung: o.Rung, From: o.From, To: o.To}
}

func orderOf(g *research.Group) []byte {
	text, _ := json.Marshal(order{g.Number, g.Sets, g.Rung, g.From, g.To}) // of numbers
	return text
}

// A result begins with a byte that says whether it is rows or an error.
const (
	gaveRows  = 'R'
	gaveError = 'E'
)

// greeting is the first message of a worker.
type greeting struct {
	Name    string           `json:"name"`
	Cores   int              `json:"cores"`
	Program machines.Program `json:"program"`
}

// beat is a worker's sign of life. The last one says that the worker leaves: on the subject of the
// others it cannot overtake one of them.
type beat struct {
	Name   string `json:"name"`
	Cores  int    `json:"cores"`
	Groups int    `json:"groups"` // that it has finished since it joined
	Leaves bool   `json:"leaves,omitempty"`
}

// answer is the coordinator's to a greeting.
type answer struct {
	Refused string          `json:"refused,omitempty"`
	Waiting bool            `json:"waiting,omitempty"` // nothing is to be done yet
	ID      string          `json:"id,omitempty"`
	Parts   []machines.Hash `json:"parts,omitempty"` // of the plan
	Wait    int64           `json:"wait,omitempty"`  // see Farm.patience, in nanoseconds
}

// check checks a door before anything listens or connects.
func check(d *machines.Door, listens bool) error {
	if d.URL != "" {
		u, err := url.Parse(d.URL)
		switch {
		case err != nil || u.Host == "":
			return errors.New("the URL is none of a NATS server; want one like tls://nats.example.com:4222")
		case u.User != nil:
			return errors.New("the URL has a user or a token in it, which other programs can see; want --token-file")
		case !local(u.Hostname()) && u.Scheme != "tls" && d.Cert == "":
			return fmt.Errorf("the token and all results would travel readable to %s; want tls://, or --tls-cert",
				u.Hostname())
		}
		return checkToken(d.Token, u.Hostname())
	}
	host, _, err := hostPort(d.Address)
	switch {
	case err != nil:
		return err
	case local(host):
	case listens && (d.Cert == "" || d.Key == "" || d.Token == ""):
		return fmt.Errorf("%s can be reached from other machines: want --tls-cert, --tls-key and --token-file", host)
	case !listens && d.Token == "":
		return fmt.Errorf("%s is another machine: want --token-file", host)
	}
	if listens && (d.Cert == "") != (d.Key == "") {
		return errors.New("--tls-cert and --tls-key go together")
	}
	return checkToken(d.Token, host)
}

// leastToken is the least length of a token that other machines may try.
const leastToken = 32

// checkToken refuses a token that can be guessed, where other machines may try it.
func checkToken(token, host string) error {
	if token == "" || len(token) >= leastToken || local(host) {
		return nil
	}
	return fmt.Errorf("the token has %d characters, and machines other than this one may try it: want at least %d; "+
		"make one: openssl rand -hex 32", len(token), leastToken)
}

// hostPort reads HOST:PORT, or a PORT of this machine.
func hostPort(address string) (host string, port int, err error) {
	if !strings.Contains(address, ":") {
		address = "127.0.0.1:" + address
	}
	host, text, err := net.SplitHostPort(address)
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	if err != nil || host == "" || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("%q is no address; want HOST:PORT, or a PORT of this machine", address)
	}
	return host, port, nil
}

// local reports whether a host is this machine.
func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// connect connects to a server. Beyond this machine the connection is always encrypted: a server
// that offers none is not told the token.
func connect(d *machines.Door, name string, more ...nats.Option) (*nats.Conn, error) {
	options := append([]nats.Option{nats.Name("tidemark " + name), nats.MaxReconnects(-1), nats.ReconnectWait(retry),
		nats.ReconnectJitter(retry/5, retry/5), nats.Timeout(5 * time.Second),
		nats.PingInterval(5 * time.Second), nats.ErrorHandler(silent)}, more...)
	if d.Token != "" {
		options = append(options, nats.Token(d.Token))
	}
	address := d.URL
	if address == "" {
		host, port, _ := hostPort(d.Address) // checked before
		address = "nats://" + net.JoinHostPort(host, strconv.Itoa(port))
		if d.Cert != "" || !local(host) {
			options = append(options, nats.Secure())
		}
	}
	if d.Cert != "" {
		roots, err := rootsOf(d.Cert)
		if err != nil {
			return nil, err
		}
		options = append(options, nats.Secure(&tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}))
	}
	return nats.Connect(address, options...)
}

// silent hears of errors that the calls return, too. nats.go would print them.
func silent(*nats.Conn, *nats.Subscription, error) {}

// rootsOf trusts the certificates of a file.
func rootsOf(file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errCertificate, err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%w: %s holds none in PEM", errCertificate, file)
	}
	return roots, nil
}

// explain adds a hint to an error of a connection.
func explain(d *machines.Door, err error) error {
	var unknown x509.UnknownAuthorityError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired):
		return fmt.Errorf("%w: the token is not that of the coordinator; want the same --token-file",
			machines.ErrRefused)
	case errors.As(err, &unknown):
		return fmt.Errorf("%w; want --tls-cert with the coordinator's certificate", err)
	case errors.Is(err, nats.ErrSecureConnWanted):
		return fmt.Errorf("the server at %s does not encrypt: it is not told the token", cmp.Or(d.URL, d.Address))
	}
	return err
}

// final reports whether a connection will fail again and again. A server that is not there may
// come.
func final(err error) bool {
	for _, e := range [...]error{nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrSecureConnWanted,
		nats.ErrSecureConnRequired, errCertificate} {
		if errors.Is(err, e) {
			return true
		}
	}
	return errors.As(err, new(*tls.CertificateVerificationError)) || errors.As(err, new(tls.RecordHeaderError))
}

var errCertificate = errors.New("read the certificate")

// sleep waits, and reports whether ctx is still good.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
