package stream

import "errors"

var (
	// ErrClosed is wrapped where a message is to be sent and there is no connection, or for a
	// private one none that is authenticated.
	ErrClosed = errors.New("the stream is not open")
	// ErrBroken is wrapped where a connection ended before the reply to a message.
	ErrBroken = errors.New("the stream ended before the reply")
	// ErrSilent is the reason of a Reset of a channel that sends nothing although there is news.
	ErrSilent = errors.New("a channel is silent although there is news")
)

// errAhead is the error of a candle that begins later than now.
var errAhead = errors.New("it begins ahead of the exchange's clock")
