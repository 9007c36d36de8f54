package farm

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/tidemark-trading/tidemark/research/machines"
)

// startServer starts a server of our own that keeps its messages in a folder, at most so many
// bytes; 0: as the disk has room.
func startServer(d *machines.Door, folder string, store int64, notice func(string)) (*server.Server, error) {
	host, port, err := hostPort(d.Address)
	if err != nil {
		return nil, err
	}
	o := &server.Options{ServerName: "tidemark", Host: host, Port: port, Authorization: d.Token, StoreDir: folder,
		JetStream: true, NoSigs: true, NoSystemAccount: true, MaxPayload: maxPayload, MaxPending: 1 << 30,
		PingInterval: 5 * time.Second, MaxPingsOut: 2, DisableJetStreamBanner: true, JetStreamMaxStore: store}
	if port == 0 {
		o.Port = server.RANDOM_PORT
	}
	if d.Cert != "" {
		pair, err := tls.LoadX509KeyPair(d.Cert, d.Key)
		if err != nil {
			return nil, fmt.Errorf("read the certificate and its key: %w", err)
		}
		o.TLSConfig, o.TLSTimeout = &tls.Config{Certificates: []tls.Certificate{pair},
			MinVersion: tls.VersionTLS12}, 5
	}
	// The server would only log that it cannot listen.
	probe, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("listen for workers: %w", err)
	}
	if err := probe.Close(); err != nil {
		return nil, fmt.Errorf("listen for workers: %w", err)
	}
	s, err := server.NewServer(o)
	if err != nil {
		return nil, fmt.Errorf("start the server for workers: %w", err)
	}
	l := &serverLog{notice: notice, fatal: make(chan string, 1)}
	s.SetLogger(l, false, false)
	s.Start()
	for range readyRounds {
		if s.ReadyForConnections(readyRound) {
			return s, nil
		}
		select {
		case why := <-l.fatal:
			s.Shutdown()
			return nil, fmt.Errorf("start the server for workers, with its files in %s: %s", folder, why)
		default:
		}
	}
	s.Shutdown()
	return nil, errors.New("the server for workers does not start")
}

// A server reads the messages of its folder before it is ready. It may take two minutes.
const (
	readyRound  = 100 * time.Millisecond
	readyRounds = 1200
)

// serverLog tells a person the errors of the server.
type serverLog struct {
	notice func(string)
	fatal  chan string
}

func (l *serverLog) Noticef(string, ...any) {}
func (l *serverLog) Warnf(string, ...any)   {}
func (l *serverLog) Debugf(string, ...any)  {}
func (l *serverLog) Tracef(string, ...any)  {}

func (l *serverLog) Fatalf(format string, args ...any) {
	select {
	case l.fatal <- fmt.Sprintf(format, args...):
	default:
	}
}

func (l *serverLog) Errorf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if strings.Contains(text, "authentication error") {
		l.notice("a worker with a wrong token was refused")
		return
	}
	l.notice("server: " + text)
}
