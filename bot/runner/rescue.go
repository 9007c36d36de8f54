package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/tidemark-trading/tidemark/bot/folder"
)

const (
	// filesEvery is the time between two looks whether the bot's files are still the ones of their
	// names.
	filesEvery = 500 * time.Millisecond
	// mostRescued is how many rescued files may stand beside each other.
	mostRescued = 100
)

// rescuer knows where files are saved that were deleted or replaced under the running bot.
type rescuer struct {
	sync.Mutex
	saved map[string]string // path → the copy
}

// keepFiles looks again and again whether the state file is still the one that is open, until ctx
// ends. When it is not, the loop ends with its orders cancelled and the open file is saved; what
// stands in its place is not touched.
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
			// at once, for the case that the process dies; told again when the bot ends
			saving.Go(func() { _ = r.rescue() })
			_ = r.loop.End(ctx, why) // it fails where the loop has ended
			saving.Wait()
			return
		}
	}
}

// displaced says what became of the bot's files, nil while they are in their places.
func (r *runner) displaced() (why error) {
	for _, file := range r.kept() {
		why = errors.Join(why, file.Displaced())
	}
	return why
}

// keptFile is a file that the process has open and that the operating system may take away under
// its name.
type keptFile interface {
	Path() string
	Displaced() error
	Backup(path string) error
}

// kept are the state file and, in paper mode, that of the simulated exchange.
func (r *runner) kept() (files []keptFile) {
	if r.store != nil {
		files = append(files, r.store)
	}
	if r.paper != nil && r.paper.Exchange != nil {
		files = append(files, r.paper.Exchange)
	}
	return files
}

// rescue saves what the open files hold that are no longer in their places, beside these, whole and
// synced. Called again it brings the same copies up to date; older ones of another run stay. Its
// error says what happened and where the copies are; nil: nothing has.
func (r *runner) rescue() (err error) {
	r.rescued.Lock()
	defer r.rescued.Unlock()
	for _, file := range r.kept() {
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

// save returns the name of the copy.
func (s *rescuer) save(file keptFile) (name string, err error) {
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

// rescueName takes a name beside a file that no file has, by an empty file; the folder is made anew
// where it is gone too.
func rescueName(path string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	for n := 1; n <= mostRescued; n++ {
		name := path + folder.RescuedExt
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
	return "", fmt.Errorf("%d rescued files stand beside %s; move them away", mostRescued, path)
}
