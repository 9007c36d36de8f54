package bot

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// longestSocket is the longest path that every system takes for a unix socket.
const longestSocket = 100

// socket is the place of a bot's socket. Close it when the socket is neither dialled nor removed any more.
type socket struct {
	path   string
	folder *os.File // open where path leads through it; nil: it does not
}

// socketIn finds the socket of a state folder. Where the path is too long it leads through the process's open files, which Linux has.
func socketIn(folder string) (*socket, error) {
	path := filepath.Join(folder, socketFile)
	if len(path) <= longestSocket {
		return &socket{path: path}, nil
	}
	open, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	s := &socket{path: filepath.Join("/proc/self/fd", strconv.Itoa(int(open.Fd())), socketFile), folder: open}
	if _, err := os.Stat(filepath.Dir(s.path)); err != nil {
		_ = open.Close()
		return nil, fmt.Errorf("%s is too long for a socket; choose a shorter bot.state", path)
	}
	return s, nil
}

func (s *socket) close() error {
	if s.folder == nil {
		return nil
	}
	return s.folder.Close()
}
