// Package chat answers questions about a bot in messages, as from a phone, and carries out halt,
// resume and flatten. It never touches an engine: it asks a bot over bot/operator, as the commands
// do. It never answers chats or users that are not allowed.
//
// Start at Messenger, then at Server. commands.go lists the commands.
//
// # Decisions
//
//   - The server has the rules. Who is answered, ages, confirmations and the journal's words stand
//     in Server; a messenger carries texts. A halt acts at once, resume and flatten ask. Updates
//     are polled by a loop of our own: the library's runs where a panic ends the bot. Price: a
//     command is lost where the process dies in between.
package chat
