package live

import (
	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// maxKeyRefusals is how many commands in a row the exchange may refuse because of the key. A
// revoked key stays refused, and further requests earn a ban.
const maxKeyRefusals = 5

// countKeyRefusals halts all strategies when the exchange refuses the key again and again. Cancels
// do not count: a halt causes some.
func (l *Loop) countKeyRefusals(kind market.CommandKind, err error) {
	var no *exchange.Error
	switch {
	case exchange.OutcomeOf(err) == exchange.Unknown || kind == market.CommandCancel:
	case !as(err, &no) || !no.OfKey():
		l.keyRefused = 0
	default:
		if l.keyRefused++; l.keyRefused < maxKeyRefusals {
			return
		}
		l.keyRefused = 0
		l.Log.Error().Err(err).Msg("the exchange refuses the key: all strategies are halted")
		l.ReconcileLog.Note("key refused", err.Error())
		l.halt(0, "the exchange refuses the key: "+err.Error())
	}
}
