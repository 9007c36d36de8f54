package runner

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/engine/live"
	"github.com/tidemark-trading/tidemark/state/journal"
)

const (
	// filesEvery is the time between two checks that the bot's files are in their places.
	filesEvery = 500 * time.Millisecond
	// maxRescued is how many rescued copies of a file may exist.
	maxRescued = 100
)

// lastSave saves files that were deleted or replaced while the bot runs.
type lastSave struct {
	sync.Mutex
	saved map[string]string // path → the copy
}

// keepFiles checks again and again that the open state file is still in its place, until ctx ends.
// When it is not, the loop ends with its orders cancelled, and the open file is saved; the file in
// its place is not touched.
func (r *runner) keepFiles(ctx context.Context) {
	ticker := time.NewTicker(filesEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		if why := r.displaced(); why != nil {
			r.log.Error().Err(why).Msg(
				"all strategies are halted, all orders are cancelled but the exits of brackets, then the bot ends")
			var saving sync.WaitGroup
			// at once, in case the process dies; reported when the bot ends
			saving.Go(func() { _ = r.rescue() })
			_ = r.loop.End(ctx, why) // it fails where the loop has ended
			saving.Wait()
			return
		}
	}
}

// displaced says how the bot's files were displaced; nil: they are in their places.
func (r *runner) displaced() (why error) {
	for _, file := range r.openFiles() {
		why = errors.Join(why, file.Displaced())
	}
	return why
}

// openFile is an open file of the process that may be deleted or replaced on disk.
type openFile interface {
	Path() string
	Displaced() error
	Backup(path string) error
}

// openFiles are the state file and, in paper mode, that of the simulated exchange.
func (r *runner) openFiles() (files []openFile) {
	if r.store != nil {
		files = append(files, r.store)
	}
	if r.paper != nil && r.paper.Exchange != nil {
		files = append(files, r.paper.Exchange)
	}
	return files
}

// rescue saves the open files that are no longer in their places, whole and synced, beside these. A
// second call updates the same copies; copies of other runs stay. The error says what happened and
// where the copies are; nil: nothing happened.
func (r *runner) rescue() (err error) {
	r.rescued.Lock()
	defer r.rescued.Unlock()
	for _, file := range r.openFiles() {
		why := file.Displaced()
		if why == nil {
			continue
		}
		name, failed := r.rescued.save(file)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("%w; save what was in it: %w", why, failed))
			continue
		}
		err = errors.Join(err, fmt.Errorf("%w; what was in it is saved as %s: put that into its place before the next "+
			"start, then end the halts with bot resume", why, name))
	}
	return err
}

// save writes the copy and returns its name.
func (s *lastSave) save(file openFile) (name string, err error) {
	name = s.saved[file.Path()]
	if name == "" {
		if name, err = rescueName(file.Path()); err != nil {
			return "", err
		}
		if s.saved == nil {
			s.saved = map[string]string{}
		}
		s.saved[file.Path()] = name
	}
	return name, file.Backup(name)
}

// rescueName creates an empty file under a free name beside a path, and its folder where that is
// gone.
func rescueName(path string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	for n := 1; n <= maxRescued; n++ {
		name := path + statedir.RescuedExt
		if n > 1 {
			name = fmt.Sprintf("%s.%d", name, n)
		}
		file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			return name, file.Close()
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	return "", fmt.Errorf("%d rescued files stand beside %s; move them away", maxRescued, path)
}

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
