package bot

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/exchange/rest"
)

// The bounds of settings.
const (
	mostDepth    = 1000        // levels of a book (specification 8)
	mostRecordMB = 1 << 30     // a petabyte
	mostWeight   = 10_000      // points of one request
	leastStop    = time.Second // orders are not cancelled in less
)

// checkBounds looks at numbers that would be taken and then do something else than what was meant.
func (p *runPlan) checkBounds() error {
	for _, s := range [...]struct {
		section, key string
		span         config.Span
	}{
		{"bot", "stop_within", p.config.Bot.StopWithin}, {"exchange", "window", p.config.Exchange.Window}, {"poll", "tickers", p.config.Poll.Tickers}, {"poll", "books", p.config.Poll.Books},
		{"poll", "rules", p.config.Poll.Rules}, {"poll", "orders", p.config.Poll.Orders}, {"poll", "balances", p.config.Poll.Balances}, {"poll", "settle", p.config.Poll.Settle},
	} {
		if s.span == 0 {
			return config.At([]string{s.section, s.key}, errors.New("is 0; leave it out for the default"))
		}
	}
	if within := time.Duration(p.config.Bot.StopWithin); within < leastStop {
		return config.At([]string{"bot", "stop_within"}, fmt.Errorf("%s is less than %s, in which no order is cancelled and confirmed", within, leastStop))
	}
	if p.config.Bot.RecordMB > mostRecordMB {
		return config.At([]string{"bot", "record_mb"}, fmt.Errorf("%d is more than any disk has; 0 keeps no recording", p.config.Bot.RecordMB))
	}
	for _, name := range slices.Sorted(maps.Keys(p.config.Exchange.Weights)) {
		if _, known := rest.WeightOf(strings.TrimSuffix(name, allMarkets)); !known || p.config.Exchange.Weights[name] == 0 || p.config.Exchange.Weights[name] > mostWeight {
			return config.At([]string{"exchange", "weights", name}, fmt.Errorf("want 1 to %d points of an endpoint that is named as in \"GET /ordersOpen\" or \"GET /ordersOpen all\"", mostWeight))
		}
	}
	if p.config.Poll.Depth == 0 || p.config.Poll.Depth > mostDepth {
		return config.At([]string{"poll", "depth"}, fmt.Errorf("%d is not in 1 to %d", p.config.Poll.Depth, mostDepth))
	}
	return nil
}

// checkAges refuses limits by which the bot would open nothing, or only in the first moment after a price has come.
func (p *runPlan) checkAges() error {
	for i := range p.Strategies {
		s := &p.Strategies[i]
		if age := time.Duration(s.Limits.MaxDataAge); age != 0 && age < time.Duration(p.config.Poll.Tickers) {
			return config.At([]string{"strategies", s.Name, "risk", "max_data_age"}, fmt.Errorf("%s is less than poll.tickers, %s: prices would be too old most of the time", age, time.Duration(p.config.Poll.Tickers)))
		}
	}
	return nil
}
