package market

// Input is one call by which something enters the engine of a live bot. Engine.Enter carries it
// out: the loop's first, a replay again. A field that its kind does not name is zero. Pointers and
// slices belong to the maker, as those of an Event.
type Input struct {
	Kind     InputKind
	At       Time       // of an InputEvent and an InputBooking: that of Event
	Event    *Event     // InputEvent, InputBooking
	Strategy StrategyID // InputHalt (0: all), InputWithhold, InputResume, InputFlatten, InputMembers
	Market   ID         // InputUnreliable, InputDelisted
	Reason   string     // InputHalt, InputWithhold, InputFlatten
	Orders   []OrderID  // InputCancel, InputDissolve, InputCancelling
	Order    *Order     // InputAdopt, InputCancelEnded
	Saved    []byte     // InputReopen: the order, as package state saves it
	Members  []ID       // InputMembers: those of the universe …
	From     Time       // … from this time on
	Signal   *Signal    // InputSignal
}

// InputKind says what an Input is. The recording has the numbers: they never change.
type InputKind uint8

// The kinds.
const (
	InputEvent        InputKind = iota + 1 // an event of a feed, of the exchange's answers, or a timer
	InputBooking                           // an event that the bot books: an allocation; its commands are not sent
	InputStart                             // OnStart of all strategies
	InputStop                              // OnStop of all strategies
	InputHalt                              // a strategy, or all, for a reason from outside
	InputResume                            // a halted strategy trades again
	InputCancelAll                         // all orders, for a person
	InputCancel                            // some orders once more
	InputCancelHalted                      // the orders of halted strategies once more
	InputFlatten                           // a strategy sells what it holds
	InputAdopt                             // an order that was sent without the engine
	InputDissolve                          // brackets of orders that were cancelled without the engine
	InputMembers                           // of a universe
	InputDelisted                          // trading in a market has ended for good
	InputReopen                            // an ended order is open at the exchange
	InputCancelling                        // a cancel of the loop is under way for orders
	InputUnreliable                        // prices of a market cannot be true
	InputCancelEnded                       // a cancel of an order that has ended in the account
	InputCancelOthers                      // all orders but the exits of brackets, for a stop
	InputGuard                             // the exits that positions lack: trading begins, or a stop
	InputWithhold                          // a halt of a strategy whose exits the books may not know
	InputFinish                            // the sales of Closes whose exits have gone: a stop that keeps no exits
	InputSignal                            // a signal from outside
	inputKinds
)

var inputNames = table[InputKind]{"input", []string{"", "event", "booking", "start", "stop", "halt", "resume",
	"cancel all", "cancel", "cancel halted", "flatten", "adopt", "dissolve", "members", "delisted", "reopen",
	"cancelling", "unreliable", "cancel ended", "cancel others", "guard", "withhold", "finish",
	"signal"}}

// LastInput is the last kind of Input.
const LastInput = inputKinds - 1

// String returns the kind's name.
func (k InputKind) String() string { return inputNames.text(k) }
