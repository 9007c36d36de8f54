package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// strategies is cmd/bot with more strategies.
//
//go:embed strategies.go.txt
var strategies []byte

//go:embed mixer.go.txt
var mixer []byte

// buildBot builds the tree's bot, once, with the strategies of the measurements.
func (t *tree) buildBot(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(t.dir, "cmd", "bot")); err != nil {
		return errAbsent
	}
	if _, err := os.Stat(t.bot()); err == nil {
		return nil
	}
	overlay, err := t.overlay(filepath.Join("cmd", "bot", "main.go"), slices.Concat(strategies, mixer))
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
