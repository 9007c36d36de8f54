// Package operator owns the protocol between a running bot and its operator: the socket in the
// state folder, requests, answers, and the client. For a stopped bot it answers from the state
// file. It never touches an engine: package runner does. Commands and pages talk to a bot through
// this package alone. Start at AskStatus and Act.
package operator

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
)

// Both sides name the version of the protocol in a header; without the header it is version 1, as
// programs up to 31b5e46 wrote it. A new field does not raise the version. A field that changes its
// meaning or goes away does.
const (
	protocolHeader  = "Tidemark-Protocol"
	protocolVersion = 1
)

// NameProtocol sets the version of this program in the header of a request or an answer.
func NameProtocol(head http.Header) { head.Set(protocolHeader, strconv.Itoa(protocolVersion)) }

// CheckProtocol refuses a request or an answer of a newer program. side names its sender. The error
// is a UsageError.
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

// checkAnswer is CheckProtocol for a bot's answer. Its error is no UsageError.
func checkAnswer(head http.Header) error {
	if err := CheckProtocol(head, "the bot"); err != nil {
		return fmt.Errorf("%v", err)
	}
	return nil
}

// The bounds of a request.
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
