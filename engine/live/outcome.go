package live

// This file is the whole of what the loop makes of answers about orders:
// transitions[outcome][answer] is what follows. receive.go finds out row and column of an answer,
// and carries out what the cell says; nothing else decides.
//
// A write whose answer did not come is never sent again. Its order is queried until the answers
// show what became of it.

// outcome is what is known of an order and of the last write that was sent for it.
type outcome uint8

const (
	resolved       outcome = iota + 1 // the exchange has the order, and has answered every write
	placeInFlight                     // a place is on its way, or on its way back
	updateInFlight                    // the same of an update
	cancelInFlight                    // the same of a cancel
	// the answer to a place did not come: whether the exchange has the order is not known
	placeUnresolved
	updateUnresolved    // the answer to an update did not come
	oldUpdateUnresolved // nor to this one, and the process that knew its terms has died
	// the answer to a cancel did not come, or it came and the end of the order is not seen yet
	cancelUnresolved
	ended           // the order has ended; a fill or a fee of it may still be missing
	absent          // it was concluded that a place never arrived
	endedListed     // it has ended by the books, and lists show it open
	endedCancelling // the same, and a cancel of it is on its way
	outcomes        // how many there are, and one
)

// answer is what the exchange has said of an order.
type answer uint8

// The answers to a query (GET /order).
const (
	// a time-out, a 5xx, a broken answer: nothing is known that was not known before
	noAnswer          answer = iota + 1
	answerRefuted            // what it says cannot be true of the own order: it counts as none
	notFound                 // 240, the first in a row that counts
	notFoundAgain            // 240, too soon after the first
	notFoundLong             // 240, as long after the first as is asked for (patience)
	foundOpen                // the order has not ended: a status of no known name is none that ends
	foundChanged             // the same, and it has the values that the unresolved update asked for
	foundEnded               // the order has ended
	foundChangedEnded        // the same, with the values that the unresolved update asked for
	listsFailed              // the lists did not answer, or the order was found while they were asked
	listsRefuted             // what they say cannot be true of the own order: it counts as none
	listsOpen                // the order is among the open orders
	listsTrades              // it is not, and trades of it are known
	listsNothing             // neither list knows it
	tradesTold               // trades of the order, told by themselves
	listedOpen               // two lists in a row, asked after its end, show it open
	listedAgain              // so do more
	listedLong               // so do five: enough for a query and a cancel to have come through
	accepted                 // the write in flight: done, the order is open
	acceptedEnded            // the write in flight: done, and the order has ended
	// the cancel in flight: accepted, which does not tell what the order had come to
	acceptedCancel
	refused         // the write in flight: it certainly did nothing
	refusedNotFound // the same, because the exchange does not know the order (240)
	unanswered      // the write in flight: no answer, or none that says what it did
	writeRefuted    // the write in flight: an answer that cannot be true of the own order
	answers         // how many there are, and one
)

// moment is when an answer was asked for, beside the window of the unresolved write. The other
// outcomes know no window: all is after.
type moment uint8

const (
	early   moment = iota // before the write was known to be unresolved: the answer may be older than the write
	within                // the exchange may still take the write
	after                 // the window and the margin are over: the exchange has taken it or never will
	moments               // how many there are
)

// effect is what an answer does to the books.
type effect uint8

const (
	nothing         effect = iota
	fold                   // the record is folded
	foldPlaced             // the record is folded as the answer to the place
	foldUpdated            // the record is folded as the answer to the update
	foldRefused            // the record is folded, then the write is told as refused: it did nothing
	foldTrades             // the fills are folded
	tellRefused            // the write is told as refused
	tellUnknown            // the write is told as unknown
	tellMissing            // log and findings: an order that the exchange had taken is not found
	tellListed             // log: an order that is not found is listed as open
	endAbsent              // the place is told as refused: it certainly never arrived
	endByTrades            // the order ends, with what its trades tell
	tellListedEnded        // log and findings: an order that has ended by the books is listed as open
	reopen                 // the order is open again, and the record is folded
	cancelListed           // a cancel is sent for the order, which the books do not have open
	haltListed             // the same, and all strategies halt
)

// followUp is when the order is queried next.
type followUp uint8

const (
	inTurn    followUp = iota // with waits that grow from one second to a minute
	soon                      // at once, then with growing waits
	byEnd                     // in turn, and no later than when the window is over
	atEnd                     // when the window is over
	inSecond                  // after a second
	apart                     // after the two seconds that make the next 240 count
	inFive                    // after five seconds
	inMinute                  // after a minute
	askLists                  // the lists are asked, at once
	laterList                 // after five seconds; the lists again after ten minutes without a find
	anew                      // after a second; the next 240 is the first again
	never                     // no more, unless the order has been taken back
)

// step is what follows from an answer.
type step struct {
	next outcome
	do   effect
	then followUp
}

// always is the same step whenever the answer was asked for.
func always(next outcome, do effect, then followUp) [moments]step {
	s := step{next, do, then}
	return [moments]step{s, s, s}
}

// transitions is what follows from an answer: transitions[outcome][answer][moment]. A zero step is
// an answer that cannot come: it changes nothing.
var transitions = [outcomes][answers][moments]step{
	resolved: {
		noAnswer:      always(resolved, nothing, inTurn),
		answerRefuted: always(resolved, nothing, inTurn),
		notFound:      always(resolved, tellMissing, inFive), // an exchange in trouble answers from an old copy
		notFoundAgain: always(resolved, nothing, inFive),
		notFoundLong:  always(resolved, nothing, askLists),
		foundOpen:     always(resolved, fold, inTurn),
		foundEnded:    always(ended, fold, inTurn),
		listsFailed:   always(resolved, nothing, inFive),
		listsRefuted:  always(resolved, nothing, inFive),
		// two parts of the exchange disagree: the order may fill
		listsOpen:    always(resolved, tellListed, laterList),
		listsTrades:  always(ended, endByTrades, inTurn),
		listsNothing: always(ended, endByTrades, inTurn), // an exchange that began anew has forgotten the trades too
		tradesTold:   always(resolved, foldTrades, inTurn),
	},
	placeInFlight: { // its own answer comes first, or fails to: until then at most one write of the order is under way
		noAnswer:        always(placeInFlight, nothing, inTurn),
		answerRefuted:   always(placeInFlight, nothing, inTurn),
		notFound:        always(placeInFlight, nothing, inTurn), // it has not arrived yet
		notFoundAgain:   always(placeInFlight, nothing, inTurn),
		notFoundLong:    always(placeInFlight, nothing, inTurn),
		foundOpen:       always(placeInFlight, nothing, inTurn),
		foundEnded:      always(placeInFlight, nothing, inTurn),
		tradesTold:      always(placeInFlight, foldTrades, inTurn),
		accepted:        always(resolved, foldPlaced, inTurn),
		acceptedEnded:   always(ended, foldPlaced, inTurn), // filled at once, or ended by post-only, IOC, FOK
		refused:         always(ended, tellRefused, inTurn),
		refusedNotFound: always(ended, tellRefused, inTurn),
		unanswered:      always(placeUnresolved, tellUnknown, soon),
		writeRefuted:    always(placeUnresolved, tellUnknown, soon),
	},
	updateInFlight: {
		noAnswer:        always(updateInFlight, nothing, inTurn),
		answerRefuted:   always(updateInFlight, nothing, inTurn),
		notFound:        always(updateInFlight, tellMissing, inFive),
		notFoundAgain:   always(updateInFlight, nothing, inFive),
		notFoundLong:    always(updateInFlight, nothing, askLists),
		foundOpen:       always(updateInFlight, fold, inTurn),
		foundEnded:      always(ended, fold, inTurn), // filled before the update came
		listsFailed:     always(updateInFlight, nothing, inFive),
		listsRefuted:    always(updateInFlight, nothing, inFive),
		listsOpen:       always(updateInFlight, tellListed, laterList),
		listsTrades:     always(ended, endByTrades, inTurn),
		listsNothing:    always(ended, endByTrades, inTurn),
		tradesTold:      always(updateInFlight, foldTrades, inTurn),
		accepted:        always(resolved, foldUpdated, inTurn),
		acceptedEnded:   always(ended, foldUpdated, inTurn),
		refused:         always(resolved, tellRefused, inTurn),
		refusedNotFound: always(resolved, tellRefused, soon), // it has ended, and the query tells how
		unanswered:      always(updateUnresolved, tellUnknown, soon),
		writeRefuted:    always(updateUnresolved, tellUnknown, soon),
	},
	cancelInFlight: {
		noAnswer:        always(cancelInFlight, nothing, inTurn),
		answerRefuted:   always(cancelInFlight, nothing, inTurn),
		notFound:        always(cancelInFlight, tellMissing, inFive),
		notFoundAgain:   always(cancelInFlight, nothing, inFive),
		notFoundLong:    always(cancelInFlight, nothing, askLists),
		foundOpen:       always(cancelInFlight, fold, inTurn),
		foundEnded:      always(ended, fold, inTurn),
		listsFailed:     always(cancelInFlight, nothing, inFive),
		listsRefuted:    always(cancelInFlight, nothing, inFive),
		listsOpen:       always(cancelInFlight, tellListed, laterList),
		listsTrades:     always(ended, endByTrades, inTurn),
		listsNothing:    always(ended, endByTrades, inTurn),
		tradesTold:      always(cancelInFlight, foldTrades, inTurn),
		acceptedCancel:  always(cancelUnresolved, nothing, soon), // it may have filled in part, or whole, before
		refused:         always(resolved, tellRefused, inTurn),
		refusedNotFound: always(resolved, tellRefused, soon), // it has filled or ended meanwhile
		unanswered:      always(cancelUnresolved, tellUnknown, soon),
		writeRefuted:    always(cancelUnresolved, tellUnknown, soon),
	},
	placeUnresolved: {
		noAnswer:      always(placeUnresolved, nothing, inTurn),
		answerRefuted: always(placeUnresolved, nothing, inTurn),
		notFound: {
			early:  {placeUnresolved, nothing, atEnd},
			within: {placeUnresolved, nothing, atEnd}, // a request that is held up on its way may still arrive
			after:  {placeUnresolved, nothing, apart},
		},
		notFoundAgain: {
			early:  {placeUnresolved, nothing, atEnd},
			within: {placeUnresolved, nothing, atEnd},
			after:  {placeUnresolved, nothing, inSecond},
		},
		notFoundLong: {
			early:  {placeUnresolved, nothing, atEnd},
			within: {placeUnresolved, nothing, atEnd},
			after:  {placeUnresolved, nothing, askLists},
		},
		foundOpen:    always(resolved, foldPlaced, inTurn),
		foundEnded:   always(ended, foldPlaced, inTurn),
		listsFailed:  always(placeUnresolved, nothing, inSecond),
		listsRefuted: always(placeUnresolved, nothing, inSecond),
		// GET /order has missed it twice: its record is still to come
		listsOpen:   always(placeUnresolved, nothing, anew),
		listsTrades: always(placeUnresolved, nothing, anew), // it has filled: its record is still to come
		listsNothing: {
			early:  {placeUnresolved, nothing, anew},
			within: {placeUnresolved, nothing, anew},
			after:  {absent, endAbsent, never},
		},
		tradesTold: always(placeUnresolved, foldTrades, inTurn),
	},
	updateUnresolved: {
		noAnswer:      always(updateUnresolved, nothing, inTurn),
		answerRefuted: always(updateUnresolved, nothing, inTurn),
		notFound:      always(updateUnresolved, tellMissing, inFive),
		notFoundAgain: always(updateUnresolved, nothing, inFive),
		notFoundLong:  always(updateUnresolved, nothing, askLists),
		foundOpen: {
			early:  {updateUnresolved, fold, byEnd},
			within: {updateUnresolved, fold, byEnd},
			after:  {resolved, foldRefused, inTurn},
		},
		foundChanged: {
			early:  {updateUnresolved, fold, byEnd}, // the order may have had these values before the update
			within: {resolved, foldUpdated, inTurn},
			after:  {resolved, foldUpdated, inTurn},
		},
		foundEnded: always(ended, fold, inTurn),
		foundChangedEnded: {
			early:  {ended, fold, inTurn},
			within: {ended, foldUpdated, inTurn},
			after:  {ended, foldUpdated, inTurn},
		},
		listsFailed:  always(updateUnresolved, nothing, inFive),
		listsRefuted: always(updateUnresolved, nothing, inFive),
		listsOpen:    always(updateUnresolved, tellListed, laterList),
		listsTrades:  always(ended, endByTrades, inTurn),
		listsNothing: always(ended, endByTrades, inTurn),
		tradesTold:   always(updateUnresolved, foldTrades, inTurn),
	},
	oldUpdateUnresolved: { // without its terms only the end of its window tells: what the order is then, it stays
		noAnswer:      always(oldUpdateUnresolved, nothing, inTurn),
		answerRefuted: always(oldUpdateUnresolved, nothing, inTurn),
		notFound:      always(oldUpdateUnresolved, tellMissing, inFive),
		notFoundAgain: always(oldUpdateUnresolved, nothing, inFive),
		notFoundLong:  always(oldUpdateUnresolved, nothing, askLists),
		foundOpen: {
			early:  {oldUpdateUnresolved, fold, byEnd},
			within: {oldUpdateUnresolved, fold, byEnd},
			after:  {resolved, foldUpdated, inTurn},
		},
		foundEnded: {
			early:  {ended, fold, inTurn},
			within: {ended, fold, inTurn},
			after:  {ended, foldUpdated, inTurn},
		},
		listsFailed:  always(oldUpdateUnresolved, nothing, inFive),
		listsRefuted: always(oldUpdateUnresolved, nothing, inFive),
		listsOpen:    always(oldUpdateUnresolved, tellListed, laterList),
		listsTrades:  always(ended, endByTrades, inTurn),
		listsNothing: always(ended, endByTrades, inTurn),
		tradesTold:   always(oldUpdateUnresolved, foldTrades, inTurn),
	},
	cancelUnresolved: {
		noAnswer:      always(cancelUnresolved, nothing, inTurn),
		answerRefuted: always(cancelUnresolved, nothing, inTurn),
		notFound:      always(cancelUnresolved, tellMissing, inFive),
		notFoundAgain: always(cancelUnresolved, nothing, inFive),
		notFoundLong:  always(cancelUnresolved, nothing, askLists),
		foundOpen: {
			early:  {cancelUnresolved, fold, byEnd},
			within: {cancelUnresolved, fold, byEnd}, // a cancel is asynchronous: accepted, and done later
			after:  {resolved, foldRefused, inTurn}, // accepted or lost, it came to nothing
		},
		foundEnded:   always(ended, fold, inTurn),
		listsFailed:  always(cancelUnresolved, nothing, inFive),
		listsRefuted: always(cancelUnresolved, nothing, inFive),
		listsOpen:    always(cancelUnresolved, tellListed, laterList),
		listsTrades:  always(ended, endByTrades, inTurn),
		listsNothing: always(ended, endByTrades, inTurn),
		tradesTold:   always(cancelUnresolved, foldTrades, inTurn),
	},
	ended: { // fees are settled after the end; an exchange may forget the order before
		noAnswer:      always(ended, nothing, inTurn),
		answerRefuted: always(ended, nothing, inTurn),
		notFound:      always(ended, tellMissing, inMinute),
		notFoundAgain: always(ended, nothing, inMinute),
		notFoundLong:  always(ended, nothing, inMinute),
		foundOpen:     always(ended, fold, inTurn), // an answer that is older than the end
		foundEnded:    always(ended, fold, inTurn),
		listsFailed:   always(ended, nothing, inFive),
		listsRefuted:  always(ended, nothing, inFive),
		listsOpen:     always(ended, nothing, inFive),
		listsTrades:   always(ended, nothing, inFive),
		listsNothing:  always(ended, nothing, inFive),
		tradesTold:    always(ended, foldTrades, inTurn),
		// its end was a lie, or came from an exchange in trouble
		listedOpen: always(endedListed, tellListedEnded, soon),
		// the query says that it has ended, the lists that it has not
		listedAgain:     always(endedCancelling, cancelListed, soon),
		listedLong:      always(endedCancelling, haltListed, soon),
		accepted:        always(ended, foldUpdated, inTurn), // an update that the end of the order has overtaken
		acceptedEnded:   always(ended, foldUpdated, inTurn),
		acceptedCancel:  always(ended, nothing, soon),
		refused:         always(ended, tellRefused, inTurn),
		refusedNotFound: always(ended, tellRefused, soon),
		// the order has ended: what the write would have done does not matter
		unanswered:   always(ended, nothing, soon),
		writeRefuted: always(ended, nothing, soon),
	},
	absent: { // queried only where a list shows it after all
		noAnswer:      always(absent, nothing, inTurn),
		answerRefuted: always(absent, nothing, inTurn),
		notFound:      always(absent, nothing, never), // the list was older
		notFoundAgain: always(absent, nothing, never),
		notFoundLong:  always(absent, nothing, never),
		foundOpen:     always(resolved, fold, inTurn), // two 240s and both lists were wrong: the order is ours again
		foundEnded:    always(ended, fold, never),
		tradesTold:    always(absent, nothing, soon),
		// the query that the first list led to did not find it
		listedOpen:  always(endedListed, tellListedEnded, soon),
		listedAgain: always(endedCancelling, cancelListed, soon),
		listedLong:  always(endedCancelling, haltListed, soon),
	},
	endedListed: {
		noAnswer:        always(endedListed, nothing, inTurn),
		answerRefuted:   always(endedListed, nothing, inTurn), // also: the books do not have what it would hold
		notFound:        always(endedListed, nothing, inTurn),
		notFoundAgain:   always(endedListed, nothing, inTurn),
		notFoundLong:    always(endedListed, nothing, inTurn),
		foundOpen:       always(resolved, reopen, inTurn),
		foundEnded:      always(ended, reopen, inTurn), // the lists were old; what it filled after its end is booked
		listsFailed:     always(endedListed, nothing, inTurn),
		listsRefuted:    always(endedListed, nothing, inTurn),
		listsOpen:       always(endedListed, nothing, inTurn),
		listsTrades:     always(endedListed, nothing, inTurn),
		listsNothing:    always(endedListed, nothing, inTurn),
		tradesTold:      always(endedListed, foldTrades, inTurn),
		listedOpen:      always(endedListed, nothing, soon),
		listedAgain:     always(endedCancelling, cancelListed, soon),
		listedLong:      always(endedCancelling, haltListed, soon),
		accepted:        always(endedListed, foldUpdated, inTurn),
		acceptedEnded:   always(ended, foldUpdated, inTurn),
		acceptedCancel:  always(endedListed, nothing, soon),
		refused:         always(endedListed, tellRefused, inTurn),
		refusedNotFound: always(endedListed, tellRefused, inTurn),
		unanswered:      always(endedListed, nothing, soon),
		writeRefuted:    always(endedListed, nothing, soon),
	},
	endedCancelling: {
		noAnswer:      always(endedCancelling, nothing, inTurn),
		answerRefuted: always(endedCancelling, nothing, inTurn), // also: the books do not have what it would hold
		notFound:      always(endedCancelling, nothing, inTurn),
		notFoundAgain: always(endedCancelling, nothing, inTurn),
		notFoundLong:  always(endedCancelling, nothing, inTurn),
		// the answer to the cancel comes, or fails to, like that of any other
		foundOpen: always(cancelInFlight, reopen, inTurn),
		// the lists were old; what it filled after its end is booked
		foundEnded:      always(ended, reopen, inTurn),
		listsFailed:     always(endedCancelling, nothing, inTurn),
		listsRefuted:    always(endedCancelling, nothing, inTurn),
		listsOpen:       always(endedCancelling, nothing, inTurn),
		listsTrades:     always(endedCancelling, nothing, inTurn),
		listsNothing:    always(endedCancelling, nothing, inTurn),
		tradesTold:      always(endedCancelling, foldTrades, inTurn),
		listedOpen:      always(endedCancelling, nothing, soon),
		listedAgain:     always(endedCancelling, nothing, soon),
		listedLong:      always(endedCancelling, haltListed, soon),
		accepted:        always(endedCancelling, foldUpdated, inTurn),
		acceptedEnded:   always(ended, foldUpdated, inTurn),
		acceptedCancel:  always(endedListed, nothing, soon),
		refused:         always(endedListed, tellRefused, inTurn),
		refusedNotFound: always(endedListed, tellRefused, inTurn),
		unanswered:      always(endedListed, nothing, soon),
		writeRefuted:    always(endedListed, nothing, soon),
	},
}
