package live

import (
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// mostKeyRefusals is how many commands in a row the exchange may refuse for the key's sake. A key
// that has been revoked, or may not trade any more, does not mend by itself, and to go on asking
// earns a ban.
const mostKeyRefusals = 5

// heedKey halts all strategies when the exchange refuses the key again and again. Cancels are not
// counted: a halt causes some.
func (l *Loop) heedKey(kind market.CommandKind, err error) {
	var no *exchange.Error
	switch {
	case exchange.OutcomeOf(err) == exchange.Unknown || kind == market.CommandCancel:
	case !as(err, &no) || !no.OfKey():
		l.keyRefused = 0
	default:
		if l.keyRefused++; l.keyRefused < mostKeyRefusals {
			return
		}
		l.keyRefused = 0
		l.Log.Error().Err(err).Msg("the exchange refuses the key: all strategies are halted")
		l.Findings.Remark("key refused", err.Error())
		l.take(l.Engine.HaltAll(l.stamp(), "the exchange refuses the key: "+err.Error()))
	}
}
