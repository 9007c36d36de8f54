package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// tree is the source of one side, and a folder for what is built from it.
type tree struct {
	name     string // old or new
	revision string // for people
	dir      string // root of the source
	out      string // binaries, and the working folder of programs
	linked   string // the repository of dir, a linked work tree; empty for the work tree itself

	built      map[string]string // package folder, with slashes → its test binary
	benchmarks []declared        // of all packages; nil until asked for
}

// newTree checks revision out below scratch; without a revision it takes the work tree of the
// current folder as it is.
func newTree(ctx context.Context, name, revision, scratch string) (*tree, error) {
	root, err := output(tool(ctx, ".", "git", "rev-parse", "--show-toplevel"))
	if err != nil {
		return nil, fmt.Errorf("find the repository: %w", err)
	}
	t := &tree{name: name, dir: root, out: filepath.Join(scratch, name+"-out"), built: map[string]string{}}
	if err := os.Mkdir(t.out, 0o755); err != nil {
		return nil, fmt.Errorf("make a folder for builds: %w", err)
	}
	commit := revision
	if revision == "" {
		commit = "HEAD"
	}
	find := tool(ctx, root, "git", "rev-parse", "--short", "--verify", commit+"^{commit}")
	if t.revision, err = output(find); err != nil {
		return nil, fmt.Errorf("find revision %s: %w", commit, err)
	}
	if revision == "" {
		t.revision = "the work tree at " + t.revision
		changes, err := output(tool(ctx, root, "git", "status", "--porcelain"))
		if err != nil {
			return nil, fmt.Errorf("look for changes of the work tree: %w", err)
		}
		if changes != "" {
			t.revision += ", changed"
		}
		return t, nil
	}
	t.dir = filepath.Join(scratch, name)
	if _, err := output(tool(ctx, root, "git", "worktree", "add", "--detach", t.dir, t.revision)); err != nil {
		return nil, fmt.Errorf("check out %s: %w", revision, err)
	}
	t.linked = root
	return t, nil
}

// remove takes a linked work tree away.
func (t *tree) remove(ctx context.Context) error {
	if t.linked == "" {
		return nil
	}
	if _, err := output(tool(ctx, t.linked, "git", "worktree", "remove", "--force", t.dir)); err != nil {
		return fmt.Errorf("remove the work tree %s: %w", t.dir, err)
	}
	return nil
}

// buildTests builds the test binary of a package folder, once, and returns its path.
func (t *tree) buildTests(ctx context.Context, folder string, flags ...string) (string, error) {
	if path := t.built[folder]; path != "" {
		return path, nil
	}
	path := filepath.Join(t.out, "tests-"+strings.ReplaceAll(strings.Trim(folder, "."), "/", "-")+".test")
	args := append([]string{"test", "-c", "-vet=off", "-buildvcs=false", "-o", path}, flags...)
	if _, err := output(tool(ctx, t.dir, "go", append(args, "./"+folder)...)); err != nil {
		return "", fmt.Errorf("build the tests of %s: %w", folder, err)
	}
	t.built[folder] = path
	return path, nil
}

// benchmark runs a benchmark of a test binary in its folder and returns what it printed.
func (t *tree) benchmark(ctx context.Context, folder, pattern, benchtime string) (string, error) {
	args := []string{"-test.run", "^$", "-test.bench", pattern, "-test.benchtime", benchtime, "-test.timeout", "10m"}
	return output(program(ctx, filepath.Join(t.dir, folder), t.built[folder], args...))
}

// tool returns a program of the machine to run in dir: git or go.
func tool(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.WaitDelay = dir, time.Minute
	return cmd
}

// program returns a program of ours to run in dir, on one thread at a time.
func program(ctx context.Context, dir, file string, args ...string) *exec.Cmd {
	cmd := tool(ctx, dir, file, args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	return cmd
}

// quietly runs cmd to its end, and keeps nothing of what it prints to stdout. An error has the text
// of stderr.
func quietly(cmd *exec.Cmd) error {
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, errs.String())
	}
	return nil
}

// output runs cmd to its end and returns what it printed, without the last line break. An error has
// the text.
func output(cmd *exec.Cmd) (string, error) {
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s%s", strings.Join(cmd.Args, " "), err, out.String(), errs.String())
	}
	return strings.TrimRight(out.String(), "\n"), nil
}
