package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// strategies is cmd/bot with more strategies. It ends with the asks of the present desk, or with
// those of the desk before it (up to e84bb56).
//
//go:embed strategies.go.txt
var strategies []byte

//go:embed desk.go.txt
var presentDesk []byte

//go:embed desk_older.go.txt
var olderDesk []byte

// strategiesFor is the text for the tree. Revisions up to 31b5e46 pass a strategy pointers where
// later ones pass copies.
func strategiesFor(t *tree) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(t.dir, "strategy", "strategy.go"))
	if err != nil {
		return nil, fmt.Errorf("read the interface of a strategy: %w", err)
	}
	desk := presentDesk
	if _, err := os.Stat(filepath.Join(t.dir, "strategy", "marketdesk.go")); err != nil {
		desk = olderDesk
	}
	all := slices.Concat(strategies, desk)
	if !bytes.Contains(text, []byte("OnCandle(d *Desk, c *market.Candle)")) {
		return all, nil
	}
	return regexp.MustCompile(`, (\w) market\.(Candle|Fill)\)`).ReplaceAll(all, []byte(", $1 *market.$2)")), nil
}

// buildBot builds the tree's bot, once, with the strategies of the measurements.
func (t *tree) buildBot(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(t.dir, "cmd", "bot")); err != nil {
		return errAbsent
	}
	if _, err := os.Stat(t.bot()); err == nil {
		return nil
	}
	text, err := strategiesFor(t)
	if err != nil {
		return err
	}
	overlay, err := t.overlay(filepath.Join("cmd", "bot", "main.go"), text)
	if err != nil {
		return err
	}
	build := tool(ctx, t.dir, "go", "build", "-buildvcs=false", "-overlay", overlay, "-o", t.bot(), "./cmd/bot")
	if _, err := output(build); err != nil {
		return fmt.Errorf("build the bot: %w", err)
	}
	return nil
}

// bot is the path of the tree's bot.
func (t *tree) bot() string { return filepath.Join(t.out, "bot") }
