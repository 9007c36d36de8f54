package runner

import (
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// notifier tells systemd how the service is (sd_notify(3)). A nil one tells nobody.
type notifier struct {
	socket string
	every  time.Duration // between two signs of life; 0: nobody waits for them
	last   time.Time
	begged time.Time // when more time to stop was last asked for
}

// How long a message may take: the loop waits for it. What is said once must not be lost on a
// machine so busy that the process does not run for a tenth of a second.
const (
	signPatience = 100 * time.Millisecond
	oncePatience = 2 * time.Second
)

// newNotifier reads what systemd has put into the environment; nil where it is not there.
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

// say sends a message that is soon followed by another of its kind: nothing depends on whether it
// arrives.
func (n *notifier) say(message string) { n.sayWithin(message, signPatience) }

func (n *notifier) sayWithin(message string, patience time.Duration) {
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

// alive gives a sign of life when one is due. The loop calls it at each turn, and nobody else: a
// loop that stands still falls silent.
func (n *notifier) alive(now time.Time) {
	if n == nil || n.every == 0 || now.Sub(n.last) < n.every {
		return
	}
	n.last = now
	n.say("WATCHDOG=1")
}

// A stop may take longer than systemd waits (TimeoutStopSec): while it goes on, the bot asks every
// begEvery for begFor more.
const (
	begEvery = 3 * time.Second
	begFor   = 15 * time.Second
)

// patience asks for time while the bot stops. The loop calls it at each turn, as alive: for a loop
// that stands still nobody asks.
func (n *notifier) patience(now time.Time) {
	if n == nil || now.Sub(n.begged) < begEvery {
		return
	}
	n.begged = now
	n.say(begging(begFor))
}

func begging(more time.Duration) string {
	return "EXTEND_TIMEOUT_USEC=" + strconv.FormatInt(more.Microseconds(), 10)
}
