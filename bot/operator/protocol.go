// Package operator is how a running bot is asked and told what to do: the protocol of the socket in
// its state folder, the questions and answers, and the client. Of a bot that does not run it
// answers from the state file. It never touches an engine: package runner does. Whoever speaks to a
// bot, a command or a page, does it by this package alone. Start at AskStatus and Act.
package operator

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
)

// The protocol between a running bot and the commands that ask it. Both sides name their version in
// a header; a question or answer without one is of version 1, as programs up to 31b5e46 wrote it. A
// new field does not raise the version; a field that changes its meaning or goes away does.
const (
	protocolHeader  = "Tidemark-Protocol"
	protocolVersion = 1
)

// NameProtocol writes the version of this program into the head of a question or an answer.
func NameProtocol(head http.Header) { head.Set(protocolHeader, strconv.Itoa(protocolVersion)) }

// CheckProtocol refuses what a newer program wrote. side is who wrote it.
func CheckProtocol(head http.Header, side string) error {
	text := head.Get(protocolHeader)
	if text == "" {
		return nil
	}
	version, err := strconv.Atoi(text)
	switch {
	case err != nil || version < 1:
		return config.Usagef("%s names the protocol %.20q, which is no version", side, text)
	case version > protocolVersion:
		return config.Usagef("%s speaks protocol %d, this program %d at most; use the program of the same version on "+
			"both sides", side, version, protocolVersion)
	}
	return nil
}

// checkAnswer is CheckProtocol of a bot's answer, which is no mistake of who asked.
func checkAnswer(head http.Header) error {
	if err := CheckProtocol(head, "the bot"); err != nil {
		return fmt.Errorf("%v", err)
	}
	return nil
}

// The bounds of a question.
const (
	AnswerTimeout   = 3 * time.Second  // for an answer that only has to be looked up
	MaxWait         = 10 * time.Minute // that a command may be asked to wait
	MaxRequestBytes = 1 << 16          // bytes of a request
)

// The paths of the socket.
const (
	PathStatus    = "/status"
	PathOrders    = "/orders"
	PathPositions = "/positions"
	PathExplain   = "/explain"
	PathHalt      = "/halt"
	PathResume    = "/resume"
	PathCancelAll = "/cancel-all"
	PathFlatten   = "/flatten"
	PathBackup    = "/backup"
	PathResolve   = "/resolve"
)

// Request is a request. Each path reads the fields that concern it.
type Request struct {
	Strategy string `json:"strategy,omitempty"` // empty: all
	Order    string `json:"order,omitempty"`
	All      bool   `json:"all,omitempty"`
	Foreign  bool   `json:"foreign,omitempty"`
	Reason   string `json:"reason,omitempty"`
	As       string `json:"as,omitempty"` // resolve: "exchange" or "absent"
	File     string `json:"file,omitempty"`
	WaitMS   int64  `json:"wait_ms,omitempty"`
	SinceMS  int64  `json:"since_ms,omitempty"` // how long ago
}

// Failure is the answer to a request that failed.
type Failure struct {
	Error string `json:"error"`
}

// StateText an order is resolved.
const (
	AsExchange = "exchange"
	AsAbsent   = "absent"
)
