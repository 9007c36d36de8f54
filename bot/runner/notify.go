package runner

import (
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// notifier sends the state of the service to systemd (sd_notify(3)). A nil notifier sends nothing.
type notifier struct {
	socket   string
	every    time.Duration // between two pings; 0: systemd has no watchdog
	last     time.Time
	extended time.Time // last request for more time to stop
}

// The longest time of a message, for which the loop waits. Messages that are sent only once get
// notifyTimeout: a busy machine may not run the process for a tenth of a second.
const (
	pingTimeout   = 100 * time.Millisecond
	notifyTimeout = 2 * time.Second
)

// newNotifier reads systemd's environment variables; nil: they are not set.
func newNotifier(getenv func(string) string) *notifier {
	if getenv == nil || getenv("NOTIFY_SOCKET") == "" {
		return nil
	}
	socket := getenv("NOTIFY_SOCKET")
	if strings.HasPrefix(socket, "@") {
		socket = "\x00" + socket[1:] // an abstract name
	}
	n := &notifier{socket: socket}
	micros, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64)
	if pid := getenv("WATCHDOG_PID"); err == nil && micros > 0 && (pid == "" || pid == strconv.Itoa(os.Getpid())) {
		n.every = time.Duration(micros) * time.Microsecond / 3
	}
	return n
}

// send sends a message that will be repeated; it may get lost.
func (n *notifier) send(message string) { n.sendWithin(message, pingTimeout) }

func (n *notifier) sendWithin(message string, patience time.Duration) {
	if n == nil {
		return
	}
	connection, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: n.socket, Net: "unixgram"})
	if err != nil {
		return
	}
	defer connection.Close()
	if connection.SetWriteDeadline(time.Now().Add(patience)) == nil {
		_, _ = connection.Write([]byte(message))
	}
}

// ping sends a sign of life when one is due. Only the loop calls it, at each turn: a loop that
// hangs sends none.
func (n *notifier) ping(now time.Time) {
	if n == nil || n.every == 0 || now.Sub(n.last) < n.every {
		return
	}
	n.last = now
	n.send("WATCHDOG=1")
}

// A stop may take longer than systemd's TimeoutStopSec: during it, the bot asks every extendEvery
// for extendBy more.
const (
	extendEvery = 3 * time.Second
	extendBy    = 15 * time.Second
)

// extend asks for more time while the bot stops. Like ping, only the loop calls it, at each turn.
func (n *notifier) extend(now time.Time) {
	if n == nil || now.Sub(n.extended) < extendEvery {
		return
	}
	n.extended = now
	n.send(extendTimeout(extendBy))
}

func extendTimeout(more time.Duration) string {
	return "EXTEND_TIMEOUT_USEC=" + strconv.FormatInt(more.Microseconds(), 10)
}
