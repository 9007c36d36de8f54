package sim

import (
	"strconv"
	"strings"
	"time"

	"github.com/tidemark-trading/tidemark/exchange"
	"github.com/tidemark-trading/tidemark/market"
)

// perform carries out one line of a script:
//
//	market [NAME] tick 0.01 quantity 4 notional 2 minBase 0.1 minQuote 5 maxBase 9 maxQuote 900 maxOpen 2
//	set spread 10bps | slippage 5bps | protection 10% | volume 20% | latency 20s
//	set path olhc | fill through | rounding fill
//	set fills 50% | seed 7              the chance that a touch fills a resting order
//	fees MAKER TAKER                    e.g. fees 0.15% 0.25%
//	balance EUR 1000
//	watch below 95 | watch above 105    0 for none; "watch peak 105" rises with the prices that are told;
//	                                    "watch fall 95" and "watch rise 105", a tactic's, are told once
//	expect MARKET                       a command may come while the path stands at an open
//	place ID SIDE TYPE AMOUNT           options: @ PRICE, trigger PRICE, reference R, tif IOC, stp MODE, postOnly,
//	                                    in MARKET, group N; "quote 100" for AMOUNT is an amountQuote
//	update ID FIELD VALUE …             amount, remaining, quote, price, trigger, tif, stp, postOnly; in MARKET
//	cancel ID                           in MARKET
//	on ID COMMAND                       gives the command the moment order ID fills; "on price" when the venue
//	                                    reports a watched price, "on cancel ID" and "on update ID" when the order
//	                                    has been cancelled or updated, "on 02:15" when the path is there: a timer,
//	                                    which makes a tactic; or "on … watch …", "on … on …"
//	attached COMMAND                    the command acts inside the path (a bracket's)
//	earlier COMMAND                     the command, of a timer, arrives at a later point of the same path
//	restart                             the engine forgets what it waits for; a Book is made again, with its orders
//	candle OPEN HIGH LOW CLOSE [vol V] [in MARKET]; several, joined by "|", close at one instant
//	ticker LAST [BID ASK [BIDSIZE ASKSIZE]]  ten seconds after what was before, like a trade and a recorded book
//	trade PRICE [AMOUNT [buy|sell]] [ago 5s]  the side is the taker's; ago: it happened so long before it arrives
//	shows 99x5 98x3 | 101x2 [ago 5s]    a recorded book, bids and asks
//	arrive                              what is on its way and due arrives
//	status NAME [PRICE]                 PRICE: the opening price of an auction
//	wait DURATION                       time passes and nothing else
//	admin ID REASON                     the service itself cancels an order
//	only path: WHY                      shows what the book between accounts does not do, or does otherwise
func (s *stage) perform(words []string) {
	switch verb := words[0]; verb {
	case "only": // which liquidity it is about: TestABookWithAnEndlessHouseDoesTheSame reads it
	case "market":
		s.rules(words[1:])
	case "set":
		s.set(words[1], words[2])
	case "fees":
		s.fees = exchange.Fees{Maker: s.rate(words[1]), Taker: s.rate(words[2])}
	case "balance":
		s.balance(words[1], words[2])
	case "watch":
		s.watch(words[1], s.price(words[2]))
	case "expect":
		s.watches[s.catalog.MarketNamed(words[1]).ID].Open = true
	case "on":
		s.react(words[1], words[2:])
	case "restart":
		s.restart()
	case "place", "update", "cancel", "attached", "earlier":
		s.open()
		s.do(s.now, words)
	case "accounts", "house", "as", "late", "release", "tick", "book":
		s.among(words)
	default:
		s.move(verb, words[1:])
	}
}

// move carries out the lines in which the market moves.
func (s *stage) move(verb string, words []string) {
	switch verb {
	case "candle":
		s.candles(words)
	case "ticker":
		ticker := &market.Ticker{Market: 1, Last: s.price(words[0])}
		if len(words) > 1 {
			ticker.Bid, ticker.Ask = s.price(words[1]), s.price(words[2])
		}
		if len(words) > 3 {
			ticker.BidSize, ticker.AskSize = s.qty(words[3]), s.qty(words[4])
		}
		s.advance(&market.Event{At: s.now.Add(10 * time.Second), Kind: market.KindTicker, Market: 1, Ticker: ticker})
	case "trade":
		s.trade(words)
	case "shows":
		s.shows(words)
	case "arrive":
		s.arrive(s.now)
	case "status":
		s.status(words)
	case "wait":
		s.now = s.now.Add(s.duration(words[0]))
	case "admin":
		if !s.open().Cancel(s.id(words[0]), 0, parsed(market.ParseRestatementReason(words[1]))) {
			s.fail("order ", words[0], " is not open")
		}
	default:
		s.fail("unknown word ", verb)
	}
}

// ago cuts "ago DURATION" off a line that arrives in ten seconds, and returns both times.
func (s *stage) ago(words []string) (rest []string, at, happened market.Time) {
	at = s.now.Add(10 * time.Second)
	n := len(words) - 2
	if n < 0 || words[n] != "ago" {
		return words, at, at
	}
	return words[:n], at, at - market.Time(s.duration(words[n+1]))
}

func (s *stage) trade(words []string) {
	words, at, happened := s.ago(words)
	t := &market.Trade{Market: 1, Price: s.price(words[0])}
	if len(words) > 1 {
		t.Amount, t.Time = s.qty(words[1]), happened
	}
	if len(words) > 2 {
		t.Side = parsed(market.ParseSide(words[2]))
	}
	s.advance(&market.Event{At: at, Kind: market.KindTrade, Market: 1, Trade: t})
}

// shows moves the market by a recorded book.
func (s *stage) shows(words []string) {
	words, at, happened := s.ago(words)
	book := &market.OrderBook{Market: 1, Time: happened}
	side := &book.Bids
	for _, word := range words {
		if word == "|" {
			side = &book.Asks
			continue
		}
		price, amount, _ := strings.Cut(word, "x")
		*side = append(*side, market.Level{Price: s.price(price), Amount: s.qty(amount)})
	}
	s.advance(&market.Event{At: at, Kind: market.KindBook, Market: 1, Book: book})
}

func (s *stage) qty(text string) market.Qty { return parsed(s.catalog.Market(1).ParseQty(text)) }

func (s *stage) status(words []string) {
	ev := market.Event{Kind: market.KindMarketStatus, Market: 1, Status: parsed(market.ParseMarketStatus(words[0]))}
	if len(words) > 1 {
		ev.Price = s.price(words[1])
	}
	s.advance(&ev)
}

// candles moves the markets by candles of a minute that close at one instant.
func (s *stage) candles(words []string) {
	var group []market.Candle
	start := market.Interval1m.StartOf(market.Interval1m.Index(s.now + market.Time(time.Minute) - 1))
	for _, text := range strings.Split(strings.Join(words, " "), " | ") {
		w := strings.Fields(text)
		c := market.Candle{
			Open: s.price(w[0]), High: s.price(w[1]), Low: s.price(w[2]), Close: s.price(w[3]), Start: start, Market: 1,
			Interval: market.Interval1m,
		}
		for i := 4; i < len(w); i += 2 {
			switch w[i] {
			case "vol":
				c.Volume = market.Volume(parsed(market.ParseFixed(w[i+1], 4)))
			case "in":
				c.Market = s.catalog.MarketNamed(w[i+1]).ID
			default:
				s.fail("a candle has no ", w[i])
			}
		}
		if err := c.Check(); err != nil {
			s.fail(err)
		}
		group = append(group, c)
	}
	s.advance(&market.Event{At: group[0].End(), Kind: market.KindCandles, Candles: group})
}

func (s *stage) rules(words []string) {
	m := s.catalog.Market(1)
	if named := s.catalog.MarketNamed(words[0]); named != nil {
		m, words = named, words[1:]
	}
	for i := 0; i < len(words); i += 2 {
		s.rule(m, words[i], words[i+1])
	}
}

func (s *stage) rule(m *market.Market, name, value string) {
	switch name {
	case "tick":
		m.TickSize = parsed(m.ParsePrice(value))
	case "quantity":
		m.QuantityDecimals = uint8(parsed(strconv.Atoi(value)))
	case "notional":
		m.NotionalDecimals = uint8(parsed(strconv.Atoi(value)))
	case "minBase":
		m.MinOrderInBase = parsed(m.ParseQty(value))
	case "minQuote":
		m.MinOrderInQuote = parsed(m.ParseMoney(value))
	case "maxBase":
		m.MaxOrderInBase = parsed(m.ParseQty(value))
	case "maxQuote":
		m.MaxOrderInQuote = parsed(m.ParseMoney(value))
	case "maxOpen":
		m.MaxOpenOrders = parsed(strconv.Atoi(value))
	default:
		s.fail("a market has no ", name)
	}
}

func (s *stage) set(name, value string) {
	switch name {
	case "spread":
		s.config.HalfSpread = s.rate(value) / 2
	case "slippage":
		s.config.Slippage = s.rate(value)
	case "executionLimit":
		s.config.ExecutionLimit = s.rate(value)
	case "spreadLimit":
		s.config.SpreadLimit = s.rate(value)
	case "referenceLimit":
		s.config.ReferenceLimit = s.rate(value)
	case "protection":
		s.config.PlacementLimit = s.rate(value)
	case "volume":
		s.config.VolumeShare = s.rate(value)
	case "latency":
		s.config.Latency = s.duration(value)
	case "path":
		s.config.Path = parsed(ParsePath(value))
	case "gap":
		s.config.LimitGap = parsed(ParseLimitGap(value))
	case "fill":
		s.config.LimitFill = parsed(ParseLimitFill(value))
	case "fills":
		s.config.MissProbability = market.Rate(market.Pow10(market.RateDigits)) - s.rate(value)
	case "seed":
		s.config.MissSeed = uint64(s.id(value))
	case "rounding":
		s.config.FeeRounding = parsed(exchange.ParseFeeRounding(value))
	default:
		s.fail("there is no setting ", name)
	}
}

func (s *stage) balance(symbol, text string) {
	asset := s.catalog.AssetNamed(symbol)
	money := parsed(market.ParseFixed(text, asset.Digits))
	deposit := func() { parsed(0, s.venue.Deposit(asset.ID, market.Money(money))) }
	if s.venue != nil {
		deposit()
		return
	}
	s.deposits = append(s.deposits, deposit)
}

func (s *stage) watch(side string, price market.Price) {
	switch side {
	case "below":
		s.watches[1].Below = price
	case "above":
		s.watches[1].Above = price
	case "peak":
		s.watches[1].Peak = price
	case "fall":
		s.watches[1].Fall = price
	case "rise":
		s.watches[1].Rise = price
	default:
		s.fail("watch below, above, peak, fall or rise, not ", side)
	}
	s.setTactic()
}

func (s *stage) price(text string) market.Price { return parsed(s.catalog.Market(1).ParsePrice(text)) }

func (s *stage) id(text string) market.OrderID { return market.OrderID(parsed(strconv.Atoi(text))) }

func (s *stage) duration(text string) market.Duration { return parsed(time.ParseDuration(text)) }

// rate reads "10bps" or "0.25%".
func (s *stage) rate(text string) market.Rate {
	if number, found := strings.CutSuffix(text, "bps"); found {
		return market.Rate(parsed(market.ParseFixed(number, market.RateDigits-4)))
	}
	number, found := strings.CutSuffix(text, "%")
	if !found {
		s.fail("a rate ends in bps or %, not ", text)
	}
	return market.Rate(parsed(market.ParseFixed(number, market.RateDigits-2)))
}

// parsed panics where a word cannot be read.
func parsed[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
