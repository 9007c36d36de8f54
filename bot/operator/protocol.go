// Package operator owns the protocol between a running bot and its operator: the socket in the
// state folder, requests, answers, and the client. For a stopped bot it answers from the state
// file. It never touches an engine: package runner does. Commands and pages talk to a bot through
// this package alone. Start at AskStatus and Act.
package operator

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/profit"
)

// Both sides name the version of the protocol in a header. A new field does not raise the version.
// A field that changes its meaning or its name, or goes away, does.
const (
	protocolHeader  = "Tidemark-Socket"
	protocolVersion = 1
)

// nameProtocol sets the version of this program in the header of a request or an answer.
func nameProtocol(head http.Header) { head.Set(protocolHeader, strconv.Itoa(protocolVersion)) }

// WriteAnswer answers a request.
func WriteAnswer(w http.ResponseWriter, status int, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	nameProtocol(w.Header())
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // a client that has hung up reads nothing
}

// CheckRequest refuses a request of another version. A request without a version is taken: a person
// sent it. The error is a UsageError.
func CheckRequest(head http.Header) error {
	if head.Get(protocolHeader) == "" {
		return nil
	}
	return checkProtocol(head, "the command")
}

// checkProtocol refuses a request or an answer of another version. side names its sender.
func checkProtocol(head http.Header, side string) error {
	if text := head.Get(protocolHeader); text != strconv.Itoa(protocolVersion) {
		return config.Usagef("%s speaks protocol %.20q, this program %d; use the program of the same version on both "+
			"sides", side, text, protocolVersion)
	}
	return nil
}

// checkAnswer is checkProtocol for a bot's answer. Its error is no UsageError.
func checkAnswer(head http.Header) error {
	if head.Get(protocolHeader) == "" {
		return errOlderBot
	}
	if err := checkProtocol(head, "the bot"); err != nil {
		return fmt.Errorf("%v", err)
	}
	return nil
}

// errOlderBot is the error about an answer that this protocol does not have.
var errOlderBot = errors.New("the bot runs with an older program, which does not know this question; restart it with " +
	"this one")

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
	PathCancel    = "/cancel"
	PathCancelAll = "/cancel-all"
	PathFlatten   = "/flatten"
	PathBackup    = "/backup"
	PathResolve   = "/resolve"
	PathCanary    = "/canary"
	PathVerify    = "/verify"
	PathSeal      = "/seal"
	PathTrades    = "/trades"
	PathProfit    = "/profit"
	PathEquity    = "/equity"
	PathReload    = "/reload"
	PathRisk      = "/risk"
	PathJournal   = "/journal"
	PathMarket    = "/market"
	PathSystem    = "/system"
	PathGlance    = "/glance"
)

// Request is a request. Each path reads the fields that concern it.
type Request struct {
	Strategy string `json:"strategy,omitempty"` // empty: all
	Order    string `json:"order,omitempty"`
	All      bool   `json:"all,omitempty"`
	Foreign  bool   `json:"foreign,omitempty"`
	Reason   string `json:"reason,omitempty"`
	As       string `json:"as,omitempty"`   // resolve: "exchange" or "absent"
	Gone     string `json:"gone,omitempty"` // resolve: a market that has gone
	File     string `json:"file,omitempty"`
	Passing  bool   `json:"passing,omitempty"` // backup: the copy is removed again, and is none
	WaitMS   int64  `json:"wait_ms,omitempty"`
	SinceMS  int64  `json:"since_ms,omitempty"` // how long ago
	By       string `json:"by,omitempty"`       // who asks, as "user ann": seal, reload, and every action
	From     string `json:"from,omitempty"`     // where from, as "terminal" or "dashboard 127.0.0.1": every action
	Check    bool   `json:"check,omitempty"`    // reload: only say what would change
	Document []byte `json:"document,omitempty"` // seal

	Books   *profit.Query `json:"books,omitempty"` // trades, profit, equity
	Journal *JournalQuery `json:"journal,omitempty"`
	Market  *MarketQuery  `json:"market,omitempty"`
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
