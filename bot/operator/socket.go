package operator

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/tidemark-trading/tidemark/bot/statedir"
)

// maxSocketPath is the longest path that every system takes for a unix socket.
const maxSocketPath = 100

// Socket is the path of a bot's socket. Close it after the last use of the path.
type Socket struct {
	Path   string
	folder *os.File // the open folder that Path leads through; nil: Path is a plain path
}

// SocketIn returns the socket of a state folder. A path that is too long for a socket leads through
// the process's open files, on Linux only.
func SocketIn(dir string) (*Socket, error) {
	path := filepath.Join(dir, statedir.SocketFile)
	if len(path) <= maxSocketPath {
		return &Socket{Path: path}, nil
	}
	open, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	s := &Socket{Path: filepath.Join("/proc/self/fd", strconv.Itoa(int(open.Fd())), statedir.SocketFile), folder: open}
	if _, err := os.Stat(filepath.Dir(s.Path)); err != nil {
		_ = open.Close()
		return nil, fmt.Errorf("%s is too long for a socket; choose a shorter bot.state", path)
	}
	return s, nil
}

// Close closes the folder. The socket itself stays.
func (s *Socket) Close() error {
	if s.folder == nil {
		return nil
	}
	return s.folder.Close()
}
