// Package runner runs a bot: it builds engine, loop, journal and feeds of a plan, gives the
// strategies their money, answers on the socket, watches the loop, and ends in good order. It never
// reads a config and never prints: it logs. Start at Run, then at runner.open, which lists the
// parts in the order in which they are built.
//
// # Decisions
//
//   - The watchdog reads a cell. A goroutine compares the engine's callback word ten times a
//     second. Go cannot end a callback, so it is named, waiting commands are refused, and a stop
//     does without the loop.
//   - A state folder belongs to one account. The exchange tells no name, so the file keeps the
//     address and a digest of the key; a new key has to know the latest order. Price: an exchange
//     that moves needs a setting.
//   - Units come from the exchange. The catalog is built of GET /markets and /assets and bound to
//     the state file. Price: finer prices than its units need a restart.
//   - Paper is another exchange, the same bot. A second client speaks in process to the sandbox,
//     whose liquidity quotes the real bid and ask. Orders take the live way, restarts included.
//     Price: JSON in process, and fills that know neither depth nor queue.
//   - Room for a stop is set aside. 2 MB are given up when a commit finds no room; the commit is
//     repeated once, then the bot stops and leaves its exits. Price: a start that cannot set the
//     room aside does not trade.
//   - A deleted or replaced state file ends the bot. Its commits would be lost with the process.
//     The open file is copied at once and at the end. Price: two looks a second.
//   - Refusals are counted. The first of a kind is journalled with its turn, later ones with the
//     minute, at growing distances. Price: a kill loses an hour's count at most.
//   - Pages wait for nothing. A glance a second is one call into the loop; pictures read tapes of
//     one writer, parts of which never change. Price: 5,000 candles of 64 bytes a series.
package runner
