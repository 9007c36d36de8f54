package bottest

import (
	"bytes"
	"strings"
	"sync"
)

// Log keeps the log of a bot.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends a line.
func (l *Log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

// String is the whole log.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Tail is the last lines.
func (l *Log) Tail(n int) string {
	lines := strings.Split(strings.TrimSpace(l.String()), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
