package bot

import (
	"fmt"
	"github.com/tidemark-trading/tidemark/bot/config"
	"net/http"
	"strconv"
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
