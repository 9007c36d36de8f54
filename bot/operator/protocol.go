// Package operator is how a running bot is asked and told what to do: the protocol of the socket in
// its state folder, the questions and answers, and the client. Of a bot that does not run it
// answers from the state file. It never touches an engine: package runner does. Whoever speaks to a
// bot, a command or a page, does it by this package alone. Start at AskStatus and Act.
package operator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/bot/renamed"
)

// The protocol between a running bot and the commands that ask it. Both sides name their version in
// a header; a question or answer without one is of version 1, as programs up to 31b5e46 wrote it. A
// new field does not raise the version; a field that changes its meaning, its name or goes away
// does. Version 2 has other names in answers (package renamed); its questions are those of version
// 1 and say so, because a bot of version 1 refuses later ones. A bot answers in the version that
// the question's answerHeader asks for, version 1 without it.
const (
	protocolHeader  = "Tidemark-Protocol"
	answerHeader    = "Tidemark-Answer" // of a question: the newest version of answers that its side reads
	questionVersion = 1
	protocolVersion = 2
)

// nameQuestion writes the versions of this program into the head of a question.
func nameQuestion(head http.Header) {
	head.Set(protocolHeader, strconv.Itoa(questionVersion))
	head.Set(answerHeader, strconv.Itoa(protocolVersion))
}

// WriteAnswer answers a question, in the newest version that both sides know.
func WriteAnswer(w http.ResponseWriter, question *http.Request, status int, value any) {
	text, err := json.Marshal(value)
	version := protocolVersion
	if asked := versionOf(question.Header, answerHeader); asked < protocolVersion && err == nil {
		version = 1
		text, err = renamed.V1(document(question.URL.Path), text)
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

// CheckQuestion refuses a question that a newer program wrote.
func CheckQuestion(head http.Header) error {
	return checkProtocol(head, "the command", questionVersion)
}

// checkProtocol refuses what a newer program wrote. side is who wrote it, newest the version that
// this program reads.
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

// checkAnswer is checkProtocol of a bot's answer, which is no mistake of who asked.
func checkAnswer(head http.Header) error {
	if err := checkProtocol(head, "the bot", protocolVersion); err != nil {
		return fmt.Errorf("%v", err)
	}
	return nil
}

// The bounds of a question.
const (
	AnswerWithin = 3 * time.Second  // for an answer that only has to be looked up
	LongestAct   = 10 * time.Minute // that a command may be asked to wait
	LongestAsk   = 1 << 16          // bytes of a request
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

// Ask is a request. Each path reads the fields that concern it.
type Ask struct {
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

// How an order is resolved.
const (
	AsExchange = "exchange"
	AsAbsent   = "absent"
)
