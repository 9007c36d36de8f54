// Package candles is the candle store: one bbolt file of packed candles by market and interval,
// with their known gaps. It imports, exports, verifies and resamples; it never talks to an
// exchange. Start at Store.Put and Reader.Next.
//
// # Decisions
//
//   - Packed columns. A chunk of 4096 intervals, bit-packed in blocks, with checksum and content
//     hash. Same candles, same chunks, whatever the order of import. Read pages are given back, so
//     memory does not grow with the data.
//   - A large import is written beside the series. bbolt keeps the pages of a transaction in
//     memory. So packed chunks go to a temporary file and a second series, which one last
//     transaction puts in place: a killed import has happened or has not. Price: the whole series
//     is written again.
//   - A CSV's first lines decide its form. Separator, columns, times and numbers are read once; a
//     form that two readings fit is refused with the flag that decides. Plain rows are read eight
//     bytes a step, others digit by digit. Price: three ways to read a row, held against each
//     other.
//   - A page of a fetch is complete from its oldest candle on. Only an older candle shows whether
//     intervals before had no trade. Price: a request or two more where a market begins.
//   - Records of markets are a table. One record a UTC day, the first of a day stays, texts as the
//     exchange wrote them, fees with them (a day has one moment from which all of it was known).
//     Price: a backtest unpacks each record of its range.
package candles
