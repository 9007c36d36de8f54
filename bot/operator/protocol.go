// Package operator owns the protocol between a running bot and its operator: the socket in the
// state folder, requests, answers, and the client. For a stopped bot it answers from the state
// file. It never touches an engine: package runner does. Commands and pages talk to a bot through
// this package alone. Start at AskStatus and Act.
package operator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/bot/books"
	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/renamed"
)

// Both sides name the version of the protocol in a header; without the header it is version 1, as
// programs up to 31b5e46 wrote it. A new field does not raise the version. A field that changes its
// meaning or its name, or goes away, does. Version 2 has other names in answers (package renamed).
// Its requests are those of version 1 and say so, because a bot of version 1 refuses later ones. A
// bot answers in the version that the request's answerHeader asks for, version 1 without it.
const (
	protocolHeader  = "Tidemark-Protocol"
	answerHeader    = "Tidemark-Answer" // of a request: the newest version of answers that its side reads
	requestVersion  = 1
	protocolVersion = 2
)

// nameRequest sets the versions of this program in the header of a request.
func nameRequest(head http.Header) {
	head.Set(protocolHeader, strconv.Itoa(requestVersion))
	head.Set(answerHeader, strconv.Itoa(protocolVersion))
}

// WriteAnswer answers a request, in the newest version that both sides know.
func WriteAnswer(w http.ResponseWriter, request *http.Request, status int, value any) {
	text, err := json.Marshal(value)
	version := protocolVersion
	if asked := versionOf(request.Header, answerHeader); asked < protocolVersion && err == nil {
		version = 1
		text, err = renamed.V1(document(request.URL.Path), text)
	}
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set(protocolHeader, strconv.Itoa(version))
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // a client that has hung up reads nothing
}

// readAnswer is a bot's answer under the names of today.
func readAnswer(head http.Header, path string, text []byte) ([]byte, error) {
	if versionOf(head, protocolHeader) < protocolVersion {
		return renamed.Today(document(path), text)
	}
	return text, nil
}

// versionOf is the version that a header names, 1 where it is missing or names none.
func versionOf(head http.Header, name string) int {
	version, err := strconv.Atoi(head.Get(name))
	if err != nil {
		return 1
	}
	return version
}

// document is the name of the answers on a path of the socket.
func document(path string) string { return strings.TrimPrefix(path, "/") }

// CheckRequest refuses a request of a newer program. The error is a UsageError.
func CheckRequest(head http.Header) error {
	return checkProtocol(head, "the command", requestVersion)
}

// checkProtocol refuses a request or an answer of a newer program. side names its sender, newest is
// the version that this program reads.
func checkProtocol(head http.Header, side string, newest int) error {
	text := head.Get(protocolHeader)
	if text == "" {
		return nil
	}
	version, err := strconv.Atoi(text)
	switch {
	case err != nil || version < 1:
		return config.Usagef("%s names the protocol %.20q, which is no version", side, text)
	case version > newest:
		return config.Usagef("%s speaks protocol %d, this program %d at most; use the program of the same version on "+
			"both sides", side, version, newest)
	}
	return nil
}

// checkAnswer is checkProtocol for a bot's answer. Its error is no UsageError.
func checkAnswer(head http.Header) error {
	if err := checkProtocol(head, "the bot", protocolVersion); err != nil {
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
	WaitMS   int64  `json:"wait_ms,omitempty"`
	SinceMS  int64  `json:"since_ms,omitempty"` // how long ago
	By       string `json:"by,omitempty"`       // who asks, as "user ann": seal, reload, and every action
	From     string `json:"from,omitempty"`     // where from, as "terminal" or "dashboard 127.0.0.1": every action
	Check    bool   `json:"check,omitempty"`    // reload: only say what would change
	Document []byte `json:"document,omitempty"` // seal

	Books   *books.Query  `json:"books,omitempty"` // trades, profit, equity
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
