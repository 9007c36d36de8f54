package plan

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/bot/config"
	"github.com/tidemark-trading/tidemark/exchange/rest"
)

// The bounds of settings.
const (
	maxDepth    = 1000    // levels of a book (specification 8)
	maxRecordMB = 1 << 30 // a petabyte
	maxWeight   = 10_000  // points of one request
	maxLogMB    = 1 << 20 // a terabyte
	maxLogKeep  = 10_000  // files
	minLists    = 10 * time.Second
	maxLists    = time.Hour // what no event tells stays unknown so long
	minKeep     = 7 * 24 * time.Hour
	minStop     = time.Second // orders are not cancelled in less
)

// checkBounds refuses numbers, and a name, that would have another effect than the user meant.
func (p *Live) checkBounds() error {
	if name := p.Config.Bot.Name; strings.EqualFold(name, "all") {
		return config.Keyf([]string{"bot", "name"}, "%q is no name for a bot: a person types it to confirm what "+
			"concerns this bot alone; choose another name", name)
	}
	for _, s := range [...]struct {
		section, key string
		span         config.Span
	}{
		{"bot", "stop_within", p.Config.Bot.StopWithin}, {"exchange", "window", p.Config.Exchange.Window},
		{"poll", "tickers", p.Config.Poll.Tickers}, {"poll", "books", p.Config.Poll.Books},
		{"poll", "rules", p.Config.Poll.Rules}, {"poll", "orders", p.Config.Poll.Orders},
		{"poll", "balances", p.Config.Poll.Balances}, {"poll", "settle", p.Config.Poll.Settle},
	} {
		if s.span == 0 {
			return config.Keyf([]string{s.section, s.key}, "is 0; leave it out for the default")
		}
	}
	if within := time.Duration(p.Config.Bot.StopWithin); within < minStop {
		return config.Keyf([]string{"bot", "stop_within"},
			"%s is less than %s, in which no order is cancelled and confirmed", within, minStop)
	}
	if p.Config.Bot.RecordMB > maxRecordMB {
		return config.Keyf([]string{"bot", "record_mb"}, "%d is more than any disk has; 0 keeps no recording",
			p.Config.Bot.RecordMB)
	}
	if keep := time.Duration(p.Config.Bot.Keep); keep > 0 && keep < minKeep {
		return config.Keyf([]string{"bot", "keep"}, "%s is less than 7 days, in which the exchange may still "+
			"tell of an ended order; 0s keeps everything", keep)
	}
	if bot := &p.Config.Bot; bot.LogMB < 1 || bot.LogMB > maxLogMB {
		return config.Keyf([]string{"bot", "log_mb"}, "%d is not in 1 to %d", bot.LogMB, maxLogMB)
	} else if bot.LogKeep < 1 || bot.LogKeep > maxLogKeep {
		return config.Keyf([]string{"bot", "log_keep"}, "%d is not in 1 to %d", bot.LogKeep, maxLogKeep)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Config.Exchange.Weights)) {
		points := p.Config.Exchange.Weights[name]
		if _, known := rest.WeightOf(strings.TrimSuffix(name, allMarkets)); !known || points == 0 ||
			points > maxWeight {
			return config.Keyf([]string{"exchange", "weights", name},
				"want 1 to %d points of an endpoint that is named as in \"GET /ordersOpen\" or \"GET "+
					"/ordersOpen all\"", maxWeight)
		}
	}
	if p.Config.Poll.Depth == 0 || p.Config.Poll.Depth > maxDepth {
		return config.Keyf([]string{"poll", "depth"}, "%d is not in 1 to %d", p.Config.Poll.Depth, maxDepth)
	}
	return nil
}

// checkStream refuses words of [stream] that are not known, and lists that come too often or too
// rarely.
func checkStream(s *config.StreamSection) error {
	if every := time.Duration(s.Lists); every < minLists || every > maxLists {
		return config.Keyf([]string{"stream", "lists"}, "%s is not in %s to %s", every, minLists, maxLists)
	}
	for _, one := range [...]struct{ key, word string }{{"feed", s.Feed}, {"tickers", cmp.Or(s.Tickers, s.Feed)},
		{"books", cmp.Or(s.Books, s.Feed)}, {"candles", cmp.Or(s.Candles, s.Feed)},
		{"account", cmp.Or(s.Account, s.Feed)}} {
		if !slices.Contains(config.Feeds, one.word) {
			return config.Keyf([]string{"stream", one.key}, "%q is not one of %s", config.Clip(one.word),
				strings.Join(config.Feeds, ", "))
		}
	}
	if !slices.Contains(config.OrderWays, s.Orders) {
		return config.Keyf([]string{"stream", "orders"}, "%q is not one of %s", config.Clip(s.Orders),
			strings.Join(config.OrderWays, ", "))
	}
	return nil
}

// checkAges refuses a max_data_age below the interval between two prices: most of the time, nothing
// would be opened.
func (p *Live) checkAges() error {
	for i := range p.Strategies {
		s := &p.Strategies[i]
		if age := time.Duration(s.Limits.MaxDataAge); age != 0 && age < time.Duration(p.Config.Poll.Tickers) {
			return config.Keyf([]string{"strategies", s.Name, "risk", "max_data_age"},
				"%s is less than poll.tickers, %s: prices would be too old most of the time", age,
				time.Duration(p.Config.Poll.Tickers))
		}
	}
	return nil
}
