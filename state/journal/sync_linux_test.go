package journal

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// syncs holds the system calls of a process that commits against the order that a commit promises:
// pages, a sync, the head, a sync, and only then does the caller hear of it. Before the first the
// file has got its name, after all of it was synced, and its name was synced too.
type syncs struct {
	pages, head bool // written and not synced
	heads, told int
	draft       bool   // the file without its name has been written and not synced
	nameless    bool   // the name is not on disk
	named       int    // files that have got it
	syncing     string // what the fsync under way is of
}

var systemCall = regexp.MustCompile(`^\d+ +(?:<\.\.\. )?(\w+)(?:\((\d+)<([^>]*)>)?(.*)$`)

// call takes in one line of strace and says what is wrong with it.
func (s *syncs) call(line string) error {
	m := systemCall.FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	name, fd, file, rest := m[1], m[2], m[3], m[4]
	switch unfinished := strings.Contains(rest, "<unfinished"); {
	case name == "fdatasync" && !unfinished: // it has returned
		s.pages, s.head = false, false
	case name == "fsync":
		s.fsync(file, unfinished)
	case name == "pwrite64" && strings.Contains(file, "/.bot.db."):
		s.draft = true
	case name == "linkat" || strings.HasPrefix(name, "rename"):
		s.named++
		s.nameless = true
		if s.draft {
			return fmt.Errorf("the file gets its name before it is synced: %s", line)
		}
	case name == "pwrite64" && strings.HasSuffix(file, "/bot.db"):
		return s.write(offset(rest))
	case name == "write" && fd == "1":
		s.told++
		if s.pages || s.head || s.nameless {
			return fmt.Errorf("a commit was told of before it was synced: %s", line)
		}
	}
	return nil
}

// fsync takes in the beginning of an fsync, or, without a file, the end of one.
func (s *syncs) fsync(file string, unfinished bool) {
	if file != "" {
		s.syncing = file
	}
	switch {
	case unfinished:
	case strings.Contains(s.syncing, "/.bot.db."):
		s.draft = false
	case s.named > 0 && !strings.Contains(filepath.Base(s.syncing), "."): // the folder
		s.nameless = false
	}
}

func (s *syncs) write(at int64) error {
	if at >= 2*4096 {
		if s.head {
			return fmt.Errorf("page at %d is written over what an unsynced head lets go", at)
		}
		s.pages = true
		return nil
	}
	if s.pages {
		return fmt.Errorf("the head at %d is written before its pages are synced", at)
	}
	s.head = true
	s.heads++
	return nil
}

// offset is the last number of a pwrite64's arguments.
func offset(rest string) (at int64) {
	rest, _, _ = strings.Cut(rest, ") ")
	rest, _, _ = strings.Cut(rest, " <unfinished")
	_, _ = fmt.Sscan(rest[strings.LastIndexByte(rest, ' ')+1:], &at)
	return at
}

func TestCommitReturnsAfterTheSync(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace, which records the system calls, is not on this machine")
	}
	dir := t.TempDir()
	record := filepath.Join(dir, "calls")
	cmd := exec.Command(strace, "-f", "-y", "-s", "0", "-e",
		"trace=pwrite64,fdatasync,fsync,write,linkat,rename,renameat,renameat2", "-o", record, os.Args[0])
	cmd.Env = append(os.Environ(), killedWriter+"="+filepath.Join(dir, "bot.db"))
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var failed strings.Builder
	cmd.Stderr, cmd.WaitDelay = &failed, time.Minute
	require.NoError(t, cmd.Start())
	stuck := time.AfterFunc(3*time.Minute, func() { _ = cmd.Process.Kill(); _ = out.Close() })
	defer stuck.Stop()
	lines := bufio.NewScanner(out)
	for n := 0; n < 100 && lines.Scan(); n++ {
	}
	require.NoError(t, out.Close()) // it has nobody to tell any more, and ends
	_ = cmd.Wait()
	if strings.Contains(failed.String(), "PTRACE_TRACEME") || strings.Contains(failed.String(), "not permitted") {
		t.Skipf("system calls cannot be recorded here: %s", failed.String())
	}
	calls, err := os.Open(record)
	require.NoError(t, err)
	defer calls.Close()
	var s syncs
	for lines := bufio.NewScanner(calls); lines.Scan(); {
		require.NoError(t, s.call(lines.Text()), "%s", failed.String())
	}
	require.GreaterOrEqual(t, s.heads, 100)
	require.GreaterOrEqual(t, s.told, 100)
	require.Equal(t, 1, s.named)
}
