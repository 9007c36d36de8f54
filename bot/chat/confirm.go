package chat

import (
	"crypto/rand"
	"strings"
	"time"
)

// confirmation is a command that waits for its confirmation.
type confirmation struct {
	code     string
	verb     string // resume, flatten
	path     string // of the operator's socket
	strategy string // empty: all
	until    time.Time
}

// confirmations are the actions that wait, one for each user in each chat. They are in memory only:
// a restart leaves none.
type confirmations map[[2]string]*confirmation

// codeLength is the number of letters and digits of a code: 40 bits.
const codeLength = 8

// ask opens a confirmation in the place of the user's earlier one, and sets its code.
func (c *confirmations) ask(m *Message, d *confirmation, now time.Time) {
	if *c == nil {
		*c = confirmations{}
	}
	for key, open := range *c {
		if now.After(open.until) {
			delete(*c, key)
		}
	}
	d.code = rand.Text()[:codeLength]
	(*c)[[2]string{m.Chat, m.User}] = d
}

// take closes the confirmation of this code, user and chat; nil: there is none, or its time is
// over.
func (c *confirmations) take(m *Message, code string, now time.Time) *confirmation {
	key := [2]string{m.Chat, m.User}
	d := (*c)[key]
	if d == nil || d.code != strings.ToUpper(code) {
		return nil
	}
	delete(*c, key)
	if now.After(d.until) {
		return nil
	}
	return d
}
