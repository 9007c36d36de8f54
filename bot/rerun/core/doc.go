// Package core makes the engine of a live bot, writes down what it was made of (Manifest), and
// gives it other parameters and limits while it runs (Reload). The bot, its replay and bot gap make
// their engines here, so that they are alike. It never asks an exchange and opens no file. Start at
// New, then at Manifest.
package core
