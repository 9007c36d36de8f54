//go:build !linux

package operator

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"github.com/tidemark-trading/tidemark/bot/statedir"
)

// Listen listens on a socket that only this user may open. The socket is made in a folder that only
// this user may enter, and moved to its place once it has its mode.
func Listen(path string) (_ net.Listener, err error) {
	private := filepath.Join(filepath.Dir(path), ".s") // a short name: paths of sockets are bounded
	if err := errors.Join(os.RemoveAll(private), os.Mkdir(private, 0o700)); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.Remove(private)) }()
	made := filepath.Join(private, statedir.SocketFile)
	listener, err := net.Listen("unix", made)
	if err != nil {
		return nil, err
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false) // it would remove the old name
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, listener.Close())
	}
	if err := errors.Join(os.Chmod(made, 0o600), os.Rename(made, path)); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}
