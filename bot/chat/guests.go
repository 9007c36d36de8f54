package chat

import (
	"slices"
	"time"
)

const (
	// strangerEvery is the time between two log lines about a chat that is not allowed.
	strangerEvery = time.Hour
	// maxStrangers bounds the chats that are logged in that time.
	maxStrangers = 20
)

// guests decide who is answered.
type guests struct {
	line *Line
	told map[string]time.Time // by chat and user: when it was logged
}

// allowed reports whether the writer of a message gets an answer.
func (g *guests) allowed(m *Message) bool {
	return slices.Contains(g.line.Chats, m.Chat) && (len(g.line.Users) == 0 || slices.Contains(g.line.Users, m.User))
}

// strange reports whether a message that is not allowed is to be logged: once an hour for each user
// of a chat.
func (g *guests) strange(m *Message, now time.Time) bool {
	if g.told == nil {
		g.told = map[string]time.Time{}
	}
	for key, at := range g.told {
		if now.Sub(at) >= strangerEvery {
			delete(g.told, key)
		}
	}
	key := m.Chat + " " + m.User
	if _, told := g.told[key]; told || len(g.told) >= maxStrangers {
		return false
	}
	g.told[key] = now
	return true
}

// seen are the ids of messages that were taken. A message that is older than maxAge is refused by
// its age, so its id need not be known.
type seen struct{ at map[string]time.Time }

// again reports whether a message was taken before, and remembers it.
func (s *seen) again(id string, now time.Time) bool {
	if id == "" {
		return false
	}
	if s.at == nil {
		s.at = map[string]time.Time{}
	}
	for old, at := range s.at {
		if now.Sub(at) > 3*maxAge { // an age may be maxAge behind or ahead
			delete(s.at, old)
		}
	}
	if _, known := s.at[id]; known {
		return true
	}
	s.at[id] = now
	return false
}
