// Package signal is the signals from outside that the strategies of an engine hear, and the latest
// of each source and market. A signal asks for nothing by itself: strategies do.
package signal
