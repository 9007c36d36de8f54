package sandbox

import (
	"slices"
	"strconv"
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/exchange/sandbox/api"
	"github.com/tidemark-trading/tidemark/exchange/sim"
	"github.com/tidemark-trading/tidemark/market"
)

// shortestExpiry is the least that a timer of cancel on disconnect can be set to, in seconds
// (venue-facts 3.8).
const shortestExpiry = 10

// disconnects are the armed timers of cancel on disconnect (venue-facts 3.8): a duty of the
// exchange.
type disconnects struct {
	ex     *Exchange
	timers []timer // in the order in which they were first armed
	next   market.Time
}

// timer cancels the open orders of one group of an account at a time.
type timer struct {
	Account sim.AccountID
	Group   uint16
	At      market.Time
}

// due returns when the next timer expires.
func (d *disconnects) due() market.Time {
	if len(d.timers) == 0 {
		return never
	}
	return d.next
}

// run ends the groups whose timer expires at at; their timers are gone then.
func (d *disconnects) run(at market.Time) {
	for i := 0; i < len(d.timers); i++ {
		if expired := d.timers[i]; expired.At <= at {
			d.timers = slices.Delete(d.timers, i, i+1)
			i--
			d.ex.endGroup(expired.Account, expired.Group, at)
		}
	}
	d.plan()
}

// arm sets the timer of a group, anew if it has one.
func (d *disconnects) arm(set timer) {
	d.ex.store.markUrgent()
	if have := d.find(set.Account, set.Group); have != nil {
		have.At = set.At
	} else {
		d.timers = append(d.timers, set)
	}
	d.plan()
}

// disarm stops the timer of a group, if it has one.
func (d *disconnects) disarm(a sim.AccountID, group uint16) {
	d.ex.store.markUrgent()
	d.timers = slices.DeleteFunc(d.timers, func(t timer) bool { return t.Account == a && t.Group == group })
	d.plan()
}

// find returns the timer of a group, or nil.
func (d *disconnects) find(a sim.AccountID, group uint16) *timer {
	for i := range d.timers {
		if t := &d.timers[i]; t.Account == a && t.Group == group {
			return t
		}
	}
	return nil
}

// armed counts the groups of an account that have a timer.
func (d *disconnects) armed(a sim.AccountID) int {
	count := 0
	for i := range d.timers {
		if d.timers[i].Account == a {
			count++
		}
	}
	return count
}

// plan finds the earliest timer.
func (d *disconnects) plan() {
	d.next = never
	for i := range d.timers {
		d.next = min(d.next, d.timers[i].At)
	}
}

// endGroup cancels all open orders of a group, by market, oldest first.
func (ex *Exchange) endGroup(id sim.AccountID, group uint16, at market.Time) {
	for _, have := range ex.accounts[id].orders {
		if have == nil {
			continue
		}
		var members []market.OrderID // first: a cancel may fire triggers, which end others
		for r := have.open.oldest; r != nil; r = r.links[byState].newer {
			if ex.orderOf(r).CodGroupID == group {
				members = append(members, r.id)
			}
		}
		for _, member := range members {
			ex.venue.Cancel(member, at, market.CancelOnDisconnect)
		}
	}
}

// postCancelOrdersAfter is POST /cancelOrdersAfter (venue-facts 3.8): it arms the timer of a group,
// sets it anew, or stops it with expiryAfterSeconds 0. A timer expires at the first whole second
// that is not earlier than asked for; the answer has that time, 0 for a stopped timer. 1 to 9
// seconds are 205; so is a group more than Rules.GroupsPerAccount.
func (ex *Exchange) postCancelOrdersAfter(c *api.Call) *exchange.Error {
	group, seconds, expiry := uint16(c.Integer("codGroupId", 0)), c.Integer("expiryAfterSeconds", 0), int64(0)
	d := &ex.disconnects
	switch {
	case seconds == 0:
		d.disarm(ex.accounts.caller(c).id, group)
	case seconds < shortestExpiry:
		return exchange.Invalid("expiryAfterSeconds")
	case d.find(ex.accounts.caller(c).id, group) == nil &&
		d.armed(ex.accounts.caller(c).id) >= max(1, ex.config.Rules.GroupsPerAccount):
		return exchange.Invalid("codGroupId")
	default:
		at := -market.FloorTo(-c.Now.Add(time.Duration(seconds)*time.Second), market.Time(time.Second))
		d.arm(timer{Account: ex.accounts.caller(c).id, Group: group, At: at})
		expiry = int64(at) / int64(time.Second)
	}
	c.Out = strconv.AppendInt(append(c.Out, `{"codGroupId":`...), int64(group), 10)
	c.Out = strconv.AppendInt(append(c.Out, `,"timeOfExpirySeconds":`...), expiry, 10)
	c.Out = append(c.Out, '}')
	return nil
}
