package exchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/tidemark-trading/tidemark/exchange/wire"
)

// The error codes of gate and venue, and those about the outcome of a request (specification 7,
// venue-facts 2). errorTable has these and all others.
const (
	CodeUnknownResult           = 101
	CodeBadJSON                 = 102
	CodeBanned                  = 105
	CodeOverloaded              = 107
	CodeNotInTime               = 108
	CodeTimeout                 = 109
	CodeEngineUnavailable       = 111
	CodeUnsupportedForType      = 202
	CodeRequired                = 203
	CodeNotSupported            = 204
	CodeInvalid                 = 205
	CodeExclusive               = 206 // two parameters that exclude each other
	CodeAmountTooLarge          = 210
	CodePriceTooLarge           = 211
	CodeMinBase                 = 212
	CodePriceTooSmall           = 213
	CodePriceTooFine            = 215
	CodeInsufficientBalance     = 216
	CodeMinQuote                = 217
	CodeDuplicateClientOrderID  = 220
	CodeTimeInForce             = 231
	CodeUnchanged               = 232
	CodeMarketOrderUpdate       = 234
	CodeTooManyOpenOrders       = 235
	CodeOneAmountOnly           = 236 // more than one of amount, amountRemaining, amountQuote
	CodeStopLossParameters      = 237
	CodeStopLossLimitParameters = 238
	CodeSwitchAmountKind        = 239
	CodeNotFound                = 240
	CodeOutOfWindow             = 304
	CodeTick                    = 422
	CodeHalted                  = 423
	CodeCancelOnly              = 424
	CodeAuction                 = 425
	CodeAuctionMatching         = 426
	CodeDecimals                = 429
	CodeNoMarketData            = 430
	CodeNotTrading              = 431
)

// Error is a refusal in the exchange's own words: the body {"errorCode":…,"error":…} and the HTTP
// status it came with.
type Error struct {
	Code    int    // errorCode; 0: the body was not the exchange's JSON
	Status  int    // HTTP status
	Message string // as the exchange words it
}

// Error returns message, code and HTTP status.
func (e *Error) Error() string {
	return fmt.Sprintf("exchange: %s (code %d, HTTP %d)", strings.TrimSuffix(e.Message, "."), e.Code, e.Status)
}

// Is makes errors.Is compare codes, so that a caller may ask for errors.Is(err,
// exchange.ErrCode(exchange.CodeNotFound)).
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Code == e.Code
}

// ErrNotSent says that a command certainly did not leave the process.
var ErrNotSent = errors.New("exchange: the command was not sent")

// ErrUnits is wrapped where numbers of some markets do not fit their units, as after a change of
// tickSize: the result has all other markets.
var ErrUnits = errors.New("exchange: it does not fit the market's units")

// ErrUnknownMarket is wrapped when a record names a market that the catalog does not have.
var ErrUnknownMarket = errors.New("the market is not in the catalog")

// Outcome is the effect of a command that was sent, as far as its answer shows it.
type Outcome uint8

// The outcomes. An unknown one is settled by asking the exchange, never by sending again.
const (
	Accepted Outcome = iota + 1
	Rejected         // the exchange read the command and did nothing
	Unknown          // it may have been carried out or not
)

// String returns the outcome's name.
func (o Outcome) String() string {
	switch o {
	case Accepted:
		return "accepted"
	case Rejected:
		return "rejected"
	case Unknown:
		return "unknown"
	}
	return fmt.Sprintf("outcome(%d)", uint8(o))
}

// OfMarket reports whether a market's present status or rules refused the request: codes 422 to 431
// (specification 7). The caller's rules are out of date: fetch them again.
func (e *Error) OfMarket() bool { return e.Code >= CodeTick && e.Code <= CodeNotTrading }

// OfKey reports whether the exchange refused the API key, not the request (300 to 312 without 304,
// which is about the clock): it does not know the key, or the key lacks the right.
func (e *Error) OfKey() bool { return e.Code >= 300 && e.Code <= 312 && e.Code != CodeOutOfWindow }

// Outcome returns Rejected for the exchange's own JSON with a 4xx status, bans and failed
// authentication included, and Unknown for everything else: a 5xx, a body that was not the
// exchange's.
func (e *Error) Outcome() Outcome {
	if e.Code != 0 && e.Status >= 400 && e.Status < 500 {
		return Rejected
	}
	return Unknown
}

// OutcomeOf returns the outcome of a command by its error: Accepted for nil, Rejected for
// ErrNotSent, an Error's own, Unknown for any other (a broken connection, a time-out).
func OutcomeOf(err error) Outcome {
	if err == nil {
		return Accepted
	}
	if errors.Is(err, ErrNotSent) {
		return Rejected
	}
	var refusal *Error
	if errors.As(err, &refusal) {
		return refusal.Outcome()
	}
	return Unknown
}

// ErrCode returns the Error of a code with the table's status and message; do not change it.
// Details (a parameter's name) choose the table's wording with details. It panics on a code that
// the table does not have.
func ErrCode(code int, details ...any) *Error {
	row := lookup(code)
	if row == nil {
		panic(fmt.Sprintf("exchange: error code %d is not in the table", code))
	}
	if len(details) == 0 {
		return &row.Error
	}
	return &Error{Code: code, Status: row.Status, Message: fmt.Sprintf(row.detailed, details...)}
}

// Required says that a parameter is missing.
func Required(name string) *Error { return ErrCode(CodeRequired, name) }

// Invalid says that a parameter's value is not allowed.
func Invalid(name string) *Error { return ErrCode(CodeInvalid, name) }

// NotSupported says that this request has no such parameter.
func NotSupported(name string) *Error { return ErrCode(CodeNotSupported, name) }

// UnsupportedForType says that a parameter does not go with the order's type.
func UnsupportedForType(name string) *Error { return ErrCode(CodeUnsupportedForType, name) }

// Exclusive says that two parameters exclude each other.
func Exclusive(a, b string) *Error { return ErrCode(CodeExclusive, a, b) }

// TooManyDecimals says that a value has more decimals than the market allows. Its code 429 comes
// with HTTP 400.
func TooManyDecimals(name string) *Error { return ErrCode(CodeDecimals, name) }

// Banned says that the budget of weight points is exceeded and when the ban ends, in Unix
// milliseconds.
func Banned(untilMillis int64) *Error { return ErrCode(CodeBanned, untilMillis) }

// MinimumQuote says that an order is worth less than the market's minimum; both are amounts with
// their asset, "5 EUR" and "0.001 BTC".
func MinimumQuote(quote, base string) *Error { return ErrCode(CodeMinQuote, quote, base) }

// ParseError reads the body of an answer without success. A body that is not the exchange's JSON
// gives an Error with Code 0, whose outcome is Unknown.
func ParseError(status int, body []byte) *Error {
	var answer struct {
		Code    int    `json:"errorCode"`
		Message string `json:"error"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || answer.Code <= 0 {
		return &Error{Status: status, Message: "an answer that is not the exchange's: " + clip(string(body))}
	}
	return &Error{Code: answer.Code, Status: status, Message: answer.Message}
}

// ParseRefusal reads a refusal on the WebSocket, which has no HTTP status (websocket-facts 7): it
// gets that of the same code over REST, or 0, whose outcome is Unknown.
func ParseRefusal(frame []byte) *Error {
	refusal := ParseError(0, frame)
	if row := lookup(refusal.Code); row != nil {
		refusal.Status = row.Status
	}
	return refusal
}

// AppendError appends the body that the exchange sends for e.
func AppendError(dst []byte, e *Error) []byte {
	w := wire.Writer{Dst: append(dst, '{')}
	w.Integer("errorCode", int64(e.Code))
	w.Text("error", e.Message)
	return append(w.Dst, '}')
}

// lookup returns the row of a code, or nil.
func lookup(code int) *errorRow {
	at := sort.Search(len(errorTable), func(i int) bool { return errorTable[i].Code >= code })
	if at == len(errorTable) || errorTable[at].Code != code {
		return nil
	}
	return &errorTable[at]
}

// Explained is a reason that ends in a code of the exchange, such as "exchange 216", with the words
// of the code; any other reason as it is.
func Explained(reason string) string {
	at := strings.LastIndexByte(reason, ' ') + 1
	code, err := strconv.Atoi(reason[at:])
	from := strings.TrimSuffix(strings.TrimSuffix(reason[:at], " "), " answered")
	if err != nil || !strings.HasSuffix(from, "exchange") {
		return reason
	}
	if row := lookup(code); row != nil {
		return reason + ": " + strings.TrimSuffix(row.Message, ".")
	}
	return reason
}

// clip keeps foreign text short in an error.
func clip(text string) string {
	if len(text) > 80 {
		return strings.ToValidUTF8(text[:80], "") + "…"
	}
	return text
}
