// Package stream hears an exchange over its WebSocket (websocket-facts): one connection with the
// channels that are registered on it, and a feed of market events, the same as those of package
// poll. It never trades and never interprets an event. Start at Connection.Run, then at Feed.
//
// Ordering invariant: one goroutine reads a connection. It calls Opened of a channel before the
// channel's first event, Event in the order of arrival, and Closed after the last one.
//
// # Decisions
//
//   - The same events, and REST says what is missing. Each channel begins with a question over
//     REST, and the later of event and answer wins. Candles: the feed of exchange/poll decides what
//     has closed. A mute channel is compared with REST. Price: two requests a minute for all
//     tickers, one for each book.
package stream
