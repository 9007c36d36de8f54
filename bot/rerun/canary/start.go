package canary

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// endWithin is how long a child may take for what it still has when the bot ends.
const endWithin = 5 * time.Second

// Process is a child that follows a feed.
type Process struct {
	*Feed
	workers sync.WaitGroup
	kill    func() error
	wait    func() error
}

// Arguments of the child's command.
const (
	Command    = "canary"
	FollowFlag = "follow"
)

// Start starts the child: NEW is a config, which this program then reads, or a program that follows
// with the bot's own settings. It speaks to a person on stderr. End it by Wait.
func Start(ctx context.Context, new string, stderr io.Writer) (*Process, error) {
	program, args := new, []string{Command, "--" + FollowFlag}
	if strings.HasSuffix(new, ".toml") {
		own, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("canary: %w", err)
		}
		program, args = own, append(args, "-c", new)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, args...)
	cmd.Stderr, cmd.WaitDelay = stderr, endWithin
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("canary: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("canary: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("canary: %w", err)
	}
	p := Over(in, out)
	p.kill, p.wait = cmd.Process.Kill, cmd.Wait
	return p, nil
}

// Over is a child that reads and answers elsewhere.
func Over(to io.WriteCloser, from io.Reader) *Process {
	p := &Process{Feed: newFeed(), kill: func() error { return nil }, wait: func() error { return nil }}
	p.workers.Go(func() { p.write(to) })
	p.workers.Go(func() { p.read(from) })
	return p
}

// Wait closes the feed and waits until the child has answered all of it, but not for long.
func (p *Process) Wait() {
	p.Close()
	timer := time.AfterFunc(endWithin, func() {
		p.end(errors.New("the canary did not end in time"))
		_ = p.kill() // it has ended where this fails
	})
	defer timer.Stop()
	p.workers.Wait()
	if err := p.wait(); err != nil {
		p.end(fmt.Errorf("the canary: %w", err))
	}
}
