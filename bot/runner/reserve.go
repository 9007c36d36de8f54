package runner

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/tidemark-trading/tidemark/bot/folder"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/state/journal"
)

const (
	// reserveSize is many times what the cancels of a hundred orders take.
	reserveSize = 2 << 20
)

// setAside makes the reserve in a state folder, where it is not there from an earlier run. It is
// filled by chance: some file systems keep no room for what they can compress.
func setAside(dir string) (path string, err error) {
	path = filepath.Join(dir, folder.ReserveFile)
	if info, err := os.Stat(path); err == nil && info.Size() == reserveSize {
		return path, nil
	}
	room := make([]byte, reserveSize)
	fillWithChance(room)
	if err := os.WriteFile(path, room, 0o600); err != nil {
		return "", errors.Join(fmt.Errorf(
			"set %d MB aside in the state folder, for a stop in good order when the disk is full: %w", reserveSize>>20,
			err), os.Remove(path))
	}
	return path, nil
}

// fillWithChance fills zeroed bytes with what no file system compresses: the key stream of a random
// AES key. That costs less than as many of the system's own random bytes.
func fillWithChance(room []byte) {
	key := make([]byte, 16)
	_, _ = rand.Read(key)          // never fails
	block, _ := aes.NewCipher(key) // fails for keys of another length only
	cipher.NewCTR(block, make([]byte, aes.BlockSize)).XORKeyStream(room, room)
}

// lastRoom writes the batch that found no room into that of the reserve. The recording of market
// events ends, so that it does not take it.
func (j *botJournal) lastRoom(full error) error {
	if j.reserve == "" || !errors.Is(full, syscall.ENOSPC) || errors.Is(full, journal.ErrUnresolved) {
		return full
	}
	err := os.Remove(j.reserve)
	j.reserve = ""
	if j.recording != nil {
		_ = j.recording.Close()
		j.recording = nil
	}
	if err = errors.Join(err, j.store.Commit(j.batch)); err != nil {
		return errors.Join(full, err)
	}
	return fmt.Errorf("%w: %w", live.ErrLastRoom, full)
}
