package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

// recording is how long a bot trades for a folder that both sides play again.
const recording = 20 * time.Second

// recordedRuns are commands on the folder of a bot that has traded on a sandbox: old's bot, with
// its example of a config. None where new refuses the folder: its format has changed.
func (c *comparison) recordedRuns(ctx context.Context) ([]resultRun, error) {
	runs := []resultRun{
		{name: "replay of a bot's folder", command: "replay", args: []string{"--state", "traded"}},
		{name: "gap of a bot's folder", command: "gap", args: []string{"--state", "traded", "--out", "results"}},
	}
	if !c.rows.MatchString(runs[0].name) && !c.rows.MatchString(runs[1].name) {
		return nil, nil
	}
	fmt.Fprintf(c.stderr, "trade for %s\n", recording)
	if err := c.old.trade(ctx); err != nil {
		return nil, fmt.Errorf("old: trade on a sandbox: %w", err)
	}
	folder := filepath.Join(c.new.out, "traded")
	if err := os.CopyFS(folder, os.DirFS(filepath.Join(c.old.out, "traded"))); err != nil {
		return nil, fmt.Errorf("copy the folder of a bot: %w", err)
	}
	if err := quietly(program(ctx, c.new.out, c.new.bot(), "state", "check", "--state", "traded")); err != nil {
		fmt.Fprintf(c.stdout, "no replay and no gap of a bot's folder: %v\n", err)
		return nil, nil
	}
	return runs, nil
}

// trade lets the tree's bot trade in the folder "traded" of its programs.
func (t *tree) trade(ctx context.Context) error {
	venue := program(ctx, t.out, t.bot(), "exchange", "--listen", "127.0.0.1:0", "--json")
	said, err := venue.StdoutPipe()
	if err != nil {
		return err
	}
	if err := venue.Start(); err != nil {
		return err
	}
	defer interrupt(venue)
	first, err := bufio.NewReader(said).ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("the exchange says no address: %w", err)
	}
	address := regexp.MustCompile(`http://[^"]*/v2`).Find(first)
	if address == nil {
		return fmt.Errorf("the exchange says no address: %s", first)
	}
	text, err := os.ReadFile(filepath.Join(t.dir, "configs", "sandbox.toml"))
	if err != nil {
		return err
	}
	text = regexp.MustCompile(`(?m)^base_url = .*$`).ReplaceAll(text, fmt.Appendf(nil, "base_url = %q", address))
	text = regexp.MustCompile(`(?m)^state = "[^"]*"`).ReplaceAll(text, []byte(`state = "traded"`))
	if err := os.WriteFile(filepath.Join(t.out, "traded.toml"), text, 0o600); err != nil {
		return err
	}
	trading, cancel := context.WithTimeout(ctx, recording)
	defer cancel()
	bot := program(ctx, t.out, t.bot(), "run", "-c", "traded.toml")
	if err := bot.Start(); err != nil {
		return err
	}
	<-trading.Done()
	return interrupt(bot)
}

// interrupt ends a program as Ctrl-C does.
func interrupt(cmd *exec.Cmd) error {
	return errors.Join(cmd.Process.Signal(syscall.SIGINT), cmd.Wait())
}
