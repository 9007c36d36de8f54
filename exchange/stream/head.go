package stream

import (
	"bytes"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/wire"
)

// head is what a frame says of itself (websocket-facts 2). Its texts are parts of the frame.
type head struct {
	event    []byte // nil: it is no event
	id       int64  // requestId; 0: none, or none of ours
	signsIn  bool   // it is about authenticate
	response []byte // of an action
	refusal  *exchange.Error
}

// actionAuthenticate is the name of the message that signs in, and of its reply.
const actionAuthenticate = "authenticate"

// eventFirst is how a frame begins whose first member is event.
var eventFirst = []byte(`{"event":"`)

// readHead reads the head of a frame. An event of a channel is not read beyond its name where that
// comes first.
func readHead(frame []byte) (h head, err error) {
	if rest, first := bytes.CutPrefix(frame, eventFirst); first {
		if name, _, found := bytes.Cut(rest, []byte{'"'}); found && channelOf(name) != "" {
			return head{event: name}, nil
		}
	}
	refused := false
	s := wire.NewScanner(frame)
	for s.Object(); s.Member(); {
		switch string(s.Name()) {
		case "event":
			h.event = s.Token()
			h.signsIn = h.signsIn || string(h.event) == actionAuthenticate
		case "action":
			h.signsIn = h.signsIn || string(s.Token()) == actionAuthenticate
		case "requestId":
			h.id = s.Integer("requestId")
		case "response":
			h.response = s.Raw()
		case "errorCode":
			refused = true
			s.Discard()
		default:
			s.Discard()
		}
	}
	if err = s.End(); err == nil && refused {
		h.refusal = exchange.ParseRefusal(frame)
	}
	return h, err
}

// channelOf is the channel of an event; "": it is of none.
func channelOf(event []byte) string {
	switch string(event) {
	case "ticker", "ticker24h", "book":
		return string(event)
	case "candle", "candles":
		return "candles"
	case "trade", "trades":
		return "trades"
	case "order", "fill":
		return "account"
	}
	return ""
}
