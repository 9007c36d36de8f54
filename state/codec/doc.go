// Package codec writes and reads binary records: numbers, texts, and the names of markets, assets
// and strategies. It never touches a file and knows no order of fields: those are the journal's and
// the recording's. Start at Encoder and Decoder.
//
// A record is a sequence of these, without field names and without padding:
//
//	Uint          unsigned LEB128
//	Int           zigzag, then LEB128
//	Value         128-bit zigzag, then LEB128
//	Text, Bytes   length as Uint, then the bytes
//	Flags         up to eight booleans in one byte
//	UUID          16 bytes
//	Market        name as Text, its price decimals in one byte; no market: an empty Text alone
//	Asset         symbol as Text
//	Strategy      name as Text
//
// Prices and values that follow a Market are in its units at the time of writing.
//
// The numbers of markets, assets and strategies belong to one process, so a record has their names.
// A program with other markets in its config can read it.
//
// # Decisions
//
//   - An own codec. The same facts went through CBOR, msgp, protobuf and vtprotobuf: none needed
//     fewer bytes or encoded faster, and the disk decides when an intent is durable. Names instead
//     of numbers, scaled prices and 128-bit values would need a second struct for each record.
//     Price: a version raised by hand, a twin and a fuzz target.
//   - Names, not numbers. Records hold names of markets, assets and strategies, and the decimals of
//     their numbers; Bind ties them to the process's catalog, so a finer tick or other markets need
//     no migration.
package codec
