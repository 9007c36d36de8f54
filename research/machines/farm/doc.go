// Package farm runs the groups of a search on other machines, over NATS JetStream: a coordinator
// with a server of its own, or any NATS server, and workers that come and go. A result is a message
// with its group in the subject, so a second delivery does not count. It decides nothing
// about sets, and knows no config. Start at Farm.
//
// # Decisions
//
//   - Results by subject, a program of its own. A group is an order in a JetStream queue; its
//     result is a message whose subject has the group's number, one a subject, so each counts once.
//     A silent worker loses its orders after eight seconds. NATS allocates at each start of a
//     program, so it is linked into bot-farm alone. Price: two files to install.
package farm
