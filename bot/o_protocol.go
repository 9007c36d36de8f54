package bot

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
)

// The protocol between a running bot and the commands that ask it. Both sides name their version in a header; a question or answer without one is of
// version 1, as programs up to 31b5e46 wrote it. A new field does not raise the version; a field that changes its meaning or goes away does.
const (
	protocolHeader  = "Tidemark-Protocol"
	protocolVersion = 1
)

// nameProtocol writes the version of this program into the head of a question or an answer.
func nameProtocol(head http.Header) { head.Set(protocolHeader, strconv.Itoa(protocolVersion)) }

// checkProtocol refuses what a newer program wrote. side is who wrote it.
func checkProtocol(head http.Header, side string) error {
	text := head.Get(protocolHeader)
	if text == "" {
		return nil
	}
	version, err := strconv.Atoi(text)
	switch {
	case err != nil || version < 1:
		return config.Usagef("%s names the protocol %.20q, which is no version", side, text)
	case version > protocolVersion:
		return config.Usagef("%s speaks protocol %d, this program %d at most; use the program of the same version on both sides", side, version, protocolVersion)
	}
	return nil
}

// checkAnswer is checkProtocol of a bot's answer, which is no mistake of who asked.
func checkAnswer(head http.Header) error {
	if err := checkProtocol(head, "the bot"); err != nil {
		return fmt.Errorf("%v", err)
	}
	return nil
}

// The bounds of a question.
const (
	answerWithin = 3 * time.Second  // for an answer that only has to be looked up
	longestAct   = 10 * time.Minute // that a command may be asked to wait
	longestAsk   = 1 << 16          // bytes of a request
)

// The paths of the socket.
const (
	pathStatus    = "/status"
	pathOrders    = "/orders"
	pathPositions = "/positions"
	pathExplain   = "/explain"
	pathHalt      = "/halt"
	pathResume    = "/resume"
	pathCancelAll = "/cancel-all"
	pathFlatten   = "/flatten"
	pathBackup    = "/backup"
	pathResolve   = "/resolve"
)

// operatorAsk is a request. Each path reads the fields that concern it.
type operatorAsk struct {
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

// operatorError is the answer to a request that failed.
type operatorError struct {
	Error string `json:"error"`
}

// How an order is resolved.
const (
	asExchange = "exchange"
	asAbsent   = "absent"
)
