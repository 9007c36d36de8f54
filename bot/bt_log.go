package bot

import (
	"bytes"
	"strings"
	"sync"
)

// journalOfLogs keeps what the bot logs.
type journalOfLogs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *journalOfLogs) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *journalOfLogs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// tail is the last lines.
func (l *journalOfLogs) tail(n int) string {
	lines := strings.Split(strings.TrimSpace(l.String()), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
