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

	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/state/journal"
)

// reserveSize is many times the size of the journal entries of a hundred cancels.
const reserveSize = 2 << 20

// makeReserve writes the reserve file of a state folder, unless an earlier run left it. Its content
// is random: some file systems would compress anything else and reserve no room.
func makeReserve(dir string) (path string, err error) {
	path = filepath.Join(dir, statedir.ReserveFile)
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

// fillWithChance fills zeroed bytes with the key stream of a random AES key, which is cheaper than
// as many random bytes of the system.
func fillWithChance(room []byte) {
	key := make([]byte, 16)
	_, _ = rand.Read(key)          // never fails
	block, _ := aes.NewCipher(key) // fails for keys of another length only
	cipher.NewCTR(block, make([]byte, aes.BlockSize)).XORKeyStream(room, room)
}

// lastRoom removes the reserve and commits the batch that found no room on the disk. The recording
// of market events ends, so that it does not take the freed room.
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
