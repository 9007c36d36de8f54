package live

// This file decides everything that follows from answers about orders:
// transitions[outcome][answer]. receive.go finds the row and the column of an answer; carryout.go
// carries out the cell.
//
// A write without an answer is never sent again. Its order is queried until answers show its
// outcome.

// resolution is the state of an order and of its last write, as far as it is known.
type resolution uint8

const (
	resolved            resolution = iota + 1 // the exchange has the order, and has answered every write
	placeInFlight                             // a place was sent and has no answer yet
	updateInFlight                            // an update was sent and has no answer yet
	cancelInFlight                            // a cancel was sent and has no answer yet
	placeUnresolved                           // the answer to a place is missing: the exchange may have the order
	updateUnresolved                          // the answer to an update is missing
	oldUpdateUnresolved                       // the same, and the process that knew its terms has died
	cancelUnresolved                          // the answer to a cancel is missing, or the order's end is not seen yet
	ended                                     // the order has ended; a fill or a fee of it may still be missing
	absent                                    // it was inferred that a place never arrived
	// it has ended in the account, and lists show it open, or a trade has filled it
	endedListed
	endedCancelling // the same, and a cancel of it is in flight
	outcomes        // length of the table
)

// answer is an answer of the exchange about an order.
type answer uint8

// The answers to a query (GET /order).
const (
	noAnswer            answer = iota + 1 // a time-out, a 5xx, a broken answer: nothing new is known
	answerRefuted                         // it cannot be true of the own order: it counts as none
	notFound                              // 240, the first in a row that counts
	notFoundAgain                         // 240, too soon after the first
	notFoundLong                          // 240, late enough after the first (patience)
	foundOpen                             // the order has not ended; a status of no known name does not end it
	foundChanged                          // the same, and it has the values that the unresolved update asked for
	foundEnded                            // the order has ended
	foundChangedEnded                     // the same, with the values that the unresolved update asked for
	listsFailed                           // the lists did not answer, or the order was found meanwhile
	listsRefuted                          // they cannot be true of the own order: they count as none
	listsOpen                             // the order is among the open orders
	listsTrades                           // it is not among them, and has trades
	listsTradesLong                       // the same, of a place, long after its window
	listsNothing                          // neither list has it
	tradesSeen                            // trades of the order, from the market's trades
	noticedOpen                           // an event: the order has not ended
	noticedChanged                        // the same, and the update without an answer has been carried out
	noticedEnded                          // an event: the order has ended
	noticedChangedEnded                   // the same, and the update without an answer had been carried out
	noticeRefuted                         // an event that cannot be true of the own order: it counts as none
	listedOpen                            // two lists in a row, asked after its end, show it open
	listedAgain                           // three or four lists
	listedLong                            // five lists: enough for a query and a cancel to have come through
	accepted                              // the write in flight: done, the order is open
	acceptedEnded                         // the write in flight: done, and the order has ended
	acceptedCancel                        // the cancel in flight: accepted, without the state of the order
	refused                               // the write in flight: it certainly changed nothing
	refusedNotFound                       // the same, because the exchange does not know the order (240)
	unanswered                            // the write in flight: no answer, or one without its outcome
	writeRefuted                          // the write in flight: an answer that cannot be true of the own order
	answers                               // length of a row
)

// moment is when an answer was queried, relative to the window of the unresolved write. Other
// outcomes have no window: always after.
type moment uint8

const (
	early   moment = iota // before the write was unresolved: the answer may be older than the write
	within                // the exchange may still take the write
	after                 // the window and the margin are over: the exchange has taken it or never will
	moments               // length of a cell
)

// effect is the change of the account by an answer.
type effect uint8

const (
	nothing           effect = iota
	fold                     // the record is folded
	foldPlaced               // the record is folded as the answer to the place
	foldUpdated              // the record is folded as the answer to the update
	foldRefused              // the record is folded, then the write is reported as refused: it changed nothing
	foldTrades               // the fills are folded
	reportRefused            // the write is reported as refused
	reportUnknown            // the write is reported as unknown
	reportNotFound           // log and findings: an accepted order is not found
	logListed                // log: an order that is not found is listed as open
	endAbsent                // the place is reported as refused: it certainly never arrived
	endByTrades              // the order ends, with the fills of its trades
	reportListedEnded        // log and findings: an order that has ended in the account is listed as open
	reopen                   // the order is opened again, and the record is folded
	cancelListed             // a cancel is sent for the order, which is not open in the account
	haltListed               // the same, and all strategies are halted
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
	askLists                  // the lists are queried, at once
	laterList                 // after five seconds; the lists again after ten minutes not found
	anew                      // after a second; the next 240 is the first again
	never                     // no more, unless the order has been reopened
)

// step is the reaction to an answer.
type step struct {
	next resolution
	do   effect
	then followUp
}

// always is one step for all moments.
func always(next resolution, do effect, then followUp) [moments]step {
	s := step{next, do, then}
	return [moments]step{s, s, s}
}

// transitions has the reaction to each answer: transitions[outcome][answer][moment]. A zero step is
// an impossible answer: it changes nothing.
var transitions = [outcomes][answers][moments]step{
	resolved: {
		noAnswer:      always(resolved, nothing, inTurn),
		answerRefuted: always(resolved, nothing, inTurn),
		notFound:      always(resolved, reportNotFound, inFive), // an exchange in trouble answers from an old copy
		notFoundAgain: always(resolved, nothing, inFive),
		notFoundLong:  always(resolved, nothing, askLists),
		foundOpen:     always(resolved, fold, inTurn),
		foundEnded:    always(ended, fold, inTurn),
		listsFailed:   always(resolved, nothing, inFive),
		listsRefuted:  always(resolved, nothing, inFive),
		// two parts of the exchange disagree: the order may fill
		listsOpen:     always(resolved, logListed, laterList),
		listsTrades:   always(ended, endByTrades, inTurn),
		listsNothing:  always(ended, endByTrades, inTurn), // an exchange that began anew has forgotten the trades too
		tradesSeen:    always(resolved, foldTrades, inTurn),
		noticedOpen:   always(resolved, fold, inTurn),
		noticedEnded:  always(ended, fold, inTurn),
		noticeRefuted: always(resolved, nothing, soon),
	},
	placeInFlight: { // what shows that the exchange has the order decides, however late the place's own answer is
		noAnswer:        always(placeInFlight, nothing, inTurn),
		answerRefuted:   always(placeInFlight, nothing, inTurn),
		notFound:        always(placeInFlight, nothing, inTurn), // it has not arrived yet
		notFoundAgain:   always(placeInFlight, nothing, inTurn),
		notFoundLong:    always(placeInFlight, nothing, inTurn),
		foundOpen:       always(resolved, foldPlaced, inTurn), // the query was answered before the place
		foundEnded:      always(ended, foldPlaced, inTurn),
		tradesSeen:      always(placeInFlight, foldTrades, inTurn),
		noticedOpen:     always(resolved, foldPlaced, inTurn), // the event came before the answer
		noticedEnded:    always(ended, foldPlaced, inTurn),
		noticeRefuted:   always(placeInFlight, nothing, soon),
		accepted:        always(resolved, foldPlaced, inTurn),
		acceptedEnded:   always(ended, foldPlaced, inTurn), // filled at once, or ended by post-only, IOC, FOK
		refused:         always(ended, reportRefused, inTurn),
		refusedNotFound: always(ended, reportRefused, inTurn),
		unanswered:      always(placeUnresolved, reportUnknown, soon),
		writeRefuted:    always(placeUnresolved, reportUnknown, soon),
	},
	updateInFlight: {
		noAnswer:            always(updateInFlight, nothing, inTurn),
		answerRefuted:       always(updateInFlight, nothing, inTurn),
		notFound:            always(updateInFlight, reportNotFound, inFive),
		notFoundAgain:       always(updateInFlight, nothing, inFive),
		notFoundLong:        always(updateInFlight, nothing, askLists),
		foundOpen:           always(updateInFlight, fold, inTurn),
		foundEnded:          always(ended, fold, inTurn), // filled before the update came
		listsFailed:         always(updateInFlight, nothing, inFive),
		listsRefuted:        always(updateInFlight, nothing, inFive),
		listsOpen:           always(updateInFlight, logListed, laterList),
		listsTrades:         always(ended, endByTrades, inTurn),
		listsNothing:        always(ended, endByTrades, inTurn),
		tradesSeen:          always(updateInFlight, foldTrades, inTurn),
		noticedOpen:         always(updateInFlight, fold, inTurn), // it may tell of a time before the update
		noticedChanged:      always(resolved, foldUpdated, inTurn),
		noticedEnded:        always(ended, fold, inTurn),
		noticedChangedEnded: always(ended, foldUpdated, inTurn),
		noticeRefuted:       always(updateInFlight, nothing, soon),
		accepted:            always(resolved, foldUpdated, inTurn),
		acceptedEnded:       always(ended, foldUpdated, inTurn),
		refused:             always(resolved, reportRefused, inTurn),
		refusedNotFound:     always(resolved, reportRefused, soon), // it has ended, and the query shows how
		unanswered:          always(updateUnresolved, reportUnknown, soon),
		writeRefuted:        always(updateUnresolved, reportUnknown, soon),
	},
	cancelInFlight: {
		noAnswer:        always(cancelInFlight, nothing, inTurn),
		answerRefuted:   always(cancelInFlight, nothing, inTurn),
		notFound:        always(cancelInFlight, reportNotFound, inFive),
		notFoundAgain:   always(cancelInFlight, nothing, inFive),
		notFoundLong:    always(cancelInFlight, nothing, askLists),
		foundOpen:       always(cancelInFlight, fold, inTurn),
		foundEnded:      always(ended, fold, inTurn),
		listsFailed:     always(cancelInFlight, nothing, inFive),
		listsRefuted:    always(cancelInFlight, nothing, inFive),
		listsOpen:       always(cancelInFlight, logListed, laterList),
		listsTrades:     always(ended, endByTrades, inTurn),
		listsNothing:    always(ended, endByTrades, inTurn),
		tradesSeen:      always(cancelInFlight, foldTrades, inTurn),
		noticedOpen:     always(cancelInFlight, fold, inTurn),
		noticedEnded:    always(ended, fold, inTurn),
		noticeRefuted:   always(cancelInFlight, nothing, soon),
		acceptedCancel:  always(cancelUnresolved, nothing, soon), // it may have filled before, in part or whole
		refused:         always(resolved, reportRefused, inTurn),
		refusedNotFound: always(resolved, reportRefused, soon), // it has filled or ended meanwhile
		unanswered:      always(cancelUnresolved, reportUnknown, soon),
		writeRefuted:    always(cancelUnresolved, reportUnknown, soon),
	},
	placeUnresolved: {
		noAnswer:      always(placeUnresolved, nothing, inTurn),
		answerRefuted: always(placeUnresolved, nothing, inTurn),
		notFound: {
			early:  {placeUnresolved, nothing, atEnd},
			within: {placeUnresolved, nothing, atEnd}, // a delayed request may still arrive
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
		listsTrades: always(placeUnresolved, foldTrades, anew), // it has filled: its record is still to come
		// no query finds it: the exchange keeps its trades alone
		listsTradesLong: {after: {ended, endByTrades, inTurn}},
		listsNothing: {
			early:  {placeUnresolved, nothing, anew},
			within: {placeUnresolved, nothing, anew},
			after:  {absent, endAbsent, never},
		},
		tradesSeen:    always(placeUnresolved, foldTrades, inTurn),
		noticedOpen:   always(resolved, foldPlaced, inTurn),
		noticedEnded:  always(ended, foldPlaced, inTurn),
		noticeRefuted: always(placeUnresolved, nothing, soon),
	},
	updateUnresolved: {
		noAnswer:      always(updateUnresolved, nothing, inTurn),
		answerRefuted: always(updateUnresolved, nothing, inTurn),
		notFound:      always(updateUnresolved, reportNotFound, inFive),
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
		listsFailed:         always(updateUnresolved, nothing, inFive),
		listsRefuted:        always(updateUnresolved, nothing, inFive),
		listsOpen:           always(updateUnresolved, logListed, laterList),
		listsTrades:         always(ended, endByTrades, inTurn),
		listsNothing:        always(ended, endByTrades, inTurn),
		tradesSeen:          always(updateUnresolved, foldTrades, inTurn),
		noticedOpen:         always(updateUnresolved, fold, byEnd),
		noticedChanged:      always(resolved, foldUpdated, inTurn),
		noticedEnded:        always(ended, fold, inTurn),
		noticedChangedEnded: always(ended, foldUpdated, inTurn),
		noticeRefuted:       always(updateUnresolved, nothing, soon),
	},
	oldUpdateUnresolved: { // its terms are unknown: the order's state at the end of the window counts
		noAnswer:      always(oldUpdateUnresolved, nothing, inTurn),
		answerRefuted: always(oldUpdateUnresolved, nothing, inTurn),
		notFound:      always(oldUpdateUnresolved, reportNotFound, inFive),
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
		listsFailed:         always(oldUpdateUnresolved, nothing, inFive),
		listsRefuted:        always(oldUpdateUnresolved, nothing, inFive),
		listsOpen:           always(oldUpdateUnresolved, logListed, laterList),
		listsTrades:         always(ended, endByTrades, inTurn),
		listsNothing:        always(ended, endByTrades, inTurn),
		tradesSeen:          always(oldUpdateUnresolved, foldTrades, inTurn),
		noticedOpen:         always(oldUpdateUnresolved, fold, byEnd),
		noticedChanged:      always(resolved, foldUpdated, inTurn),
		noticedEnded:        always(ended, fold, inTurn),
		noticedChangedEnded: always(ended, foldUpdated, inTurn),
		noticeRefuted:       always(oldUpdateUnresolved, nothing, soon),
	},
	cancelUnresolved: {
		noAnswer:      always(cancelUnresolved, nothing, inTurn),
		answerRefuted: always(cancelUnresolved, nothing, inTurn),
		notFound:      always(cancelUnresolved, reportNotFound, inFive),
		notFoundAgain: always(cancelUnresolved, nothing, inFive),
		notFoundLong:  always(cancelUnresolved, nothing, askLists),
		foundOpen: {
			early:  {cancelUnresolved, fold, byEnd},
			within: {cancelUnresolved, fold, byEnd}, // a cancel is asynchronous: accepted, and done later
			after:  {resolved, foldRefused, inTurn}, // accepted or lost, it changed nothing
		},
		foundEnded:    always(ended, fold, inTurn),
		listsFailed:   always(cancelUnresolved, nothing, inFive),
		listsRefuted:  always(cancelUnresolved, nothing, inFive),
		listsOpen:     always(cancelUnresolved, logListed, laterList),
		listsTrades:   always(ended, endByTrades, inTurn),
		listsNothing:  always(ended, endByTrades, inTurn),
		tradesSeen:    always(cancelUnresolved, foldTrades, inTurn),
		noticedOpen:   always(cancelUnresolved, fold, byEnd),
		noticedEnded:  always(ended, fold, inTurn),
		noticeRefuted: always(cancelUnresolved, nothing, soon),
	},
	ended: { // fees are settled after the end; an exchange may forget the order before
		noAnswer:      always(ended, nothing, inTurn),
		answerRefuted: always(ended, nothing, inTurn),
		notFound:      always(ended, reportNotFound, inMinute),
		notFoundAgain: always(ended, nothing, inMinute),
		notFoundLong:  always(ended, nothing, inMinute),
		foundOpen:     always(ended, fold, inTurn), // an answer that is older than the end
		foundEnded:    always(ended, fold, inTurn),
		listsFailed:   always(ended, nothing, inFive),
		listsRefuted:  always(ended, nothing, inFive),
		listsOpen:     always(ended, nothing, inFive),
		listsTrades:   always(ended, nothing, inFive),
		listsNothing:  always(ended, nothing, inFive),
		tradesSeen:    always(ended, foldTrades, inTurn),
		noticedOpen:   always(ended, nothing, soon), // newer than its end: something is false
		noticedEnded:  always(ended, fold, inTurn),
		noticeRefuted: always(ended, nothing, soon),
		// its end was a lie, or came from an exchange in trouble
		listedOpen: always(endedListed, reportListedEnded, soon),
		// query and lists contradict each other
		listedAgain:     always(endedCancelling, cancelListed, soon),
		listedLong:      always(endedCancelling, haltListed, soon),
		accepted:        always(ended, foldUpdated, inTurn), // an update that the end of the order has overtaken
		acceptedEnded:   always(ended, foldUpdated, inTurn),
		acceptedCancel:  always(ended, nothing, soon),
		refused:         always(ended, reportRefused, inTurn),
		refusedNotFound: always(ended, reportRefused, soon),
		// the order has ended: the write no longer matters
		unanswered:   always(ended, nothing, soon),
		writeRefuted: always(ended, nothing, soon),
	},
	absent: { // queried only when a list shows it after all
		noAnswer:      always(absent, nothing, inTurn),
		answerRefuted: always(absent, nothing, inTurn),
		notFound:      always(absent, nothing, never), // the list was older
		notFoundAgain: always(absent, nothing, never),
		notFoundLong:  always(absent, nothing, never),
		foundOpen:     always(resolved, fold, inTurn), // two 240s and both lists were wrong: the order is open again
		foundEnded:    always(ended, fold, never),
		tradesSeen:    always(absent, nothing, soon),
		noticedOpen:   always(resolved, fold, inTurn),
		noticedEnded:  always(ended, fold, never),
		noticeRefuted: always(absent, nothing, soon),
		// the query after the first list did not find it
		listedOpen:  always(endedListed, reportListedEnded, soon),
		listedAgain: always(endedCancelling, cancelListed, soon),
		listedLong:  always(endedCancelling, haltListed, soon),
	},
	endedListed: {
		noAnswer:        always(endedListed, nothing, inTurn),
		answerRefuted:   always(endedListed, nothing, inTurn), // also: the account lacks the funds that it would hold
		notFound:        always(endedListed, nothing, inTurn),
		notFoundAgain:   always(endedListed, nothing, inTurn),
		notFoundLong:    always(endedListed, nothing, inTurn),
		foundOpen:       always(resolved, reopen, inTurn),
		foundEnded:      always(ended, reopen, inTurn), // the lists were old; later fills are booked
		listsFailed:     always(endedListed, nothing, inTurn),
		listsRefuted:    always(endedListed, nothing, inTurn),
		listsOpen:       always(endedListed, nothing, inTurn),
		listsTrades:     always(endedListed, nothing, inTurn),
		listsNothing:    always(endedListed, nothing, inTurn),
		tradesSeen:      always(endedListed, foldTrades, inTurn),
		noticedOpen:     always(endedListed, nothing, soon),
		noticedEnded:    always(endedListed, nothing, soon),
		noticeRefuted:   always(endedListed, nothing, soon),
		listedOpen:      always(endedListed, nothing, soon),
		listedAgain:     always(endedCancelling, cancelListed, soon),
		listedLong:      always(endedCancelling, haltListed, soon),
		accepted:        always(endedListed, nothing, soon),
		acceptedEnded:   always(endedListed, nothing, soon),
		acceptedCancel:  always(endedListed, nothing, soon),
		refused:         always(endedListed, reportRefused, inTurn),
		refusedNotFound: always(endedListed, reportRefused, inTurn),
		unanswered:      always(endedListed, nothing, soon),
		writeRefuted:    always(endedListed, nothing, soon),
	},
	endedCancelling: {
		noAnswer:      always(endedCancelling, nothing, inTurn),
		answerRefuted: always(endedCancelling, nothing, inTurn), // also: the account lacks the funds that it would hold
		notFound:      always(endedCancelling, nothing, inTurn),
		notFoundAgain: always(endedCancelling, nothing, inTurn),
		notFoundLong:  always(endedCancelling, nothing, inTurn),
		// from here on the cancel is like any other
		foundOpen: always(cancelInFlight, reopen, inTurn),
		// the lists were old; later fills are booked
		foundEnded:      always(ended, reopen, inTurn),
		listsFailed:     always(endedCancelling, nothing, inTurn),
		listsRefuted:    always(endedCancelling, nothing, inTurn),
		listsOpen:       always(endedCancelling, nothing, inTurn),
		listsTrades:     always(endedCancelling, nothing, inTurn),
		listsNothing:    always(endedCancelling, nothing, inTurn),
		tradesSeen:      always(endedCancelling, foldTrades, inTurn),
		noticedOpen:     always(endedCancelling, nothing, soon),
		noticedEnded:    always(endedCancelling, nothing, soon),
		noticeRefuted:   always(endedCancelling, nothing, soon),
		listedOpen:      always(endedCancelling, nothing, soon),
		listedAgain:     always(endedCancelling, nothing, soon),
		listedLong:      always(endedCancelling, haltListed, soon),
		accepted:        always(endedCancelling, nothing, soon),
		acceptedEnded:   always(endedCancelling, nothing, soon),
		acceptedCancel:  always(endedListed, nothing, soon),
		refused:         always(endedListed, reportRefused, inTurn),
		refusedNotFound: always(endedListed, reportRefused, inTurn),
		unanswered:      always(endedListed, nothing, soon),
		writeRefuted:    always(endedListed, nothing, soon),
	},
}
