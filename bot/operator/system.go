package operator

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/tidemark-trading/tidemark/bot/profit"
	"github.com/tidemark-trading/tidemark/bot/seal"
	"github.com/tidemark-trading/tidemark/bot/statedir"
	"github.com/tidemark-trading/tidemark/state/bolt"
	"github.com/tidemark-trading/tidemark/state/journal"
	"github.com/tidemark-trading/tidemark/state/recording"
)

// System describes a bot's files and machine, as a program reads it. Sizes are in
// bytes.
type System struct {
	profit.Answer
	Folder    string         `json:"folder"`
	State     StateFile      `json:"state_file"`
	DiskFree  *uint64        `json:"disk_free,omitempty"` // nil: this system does not tell
	ReadOnly  bool           `json:"read_only,omitempty"` // no file can be made in the folder
	Recording *RecordingFile `json:"recording,omitempty"` // nil: there is none
	Log       *LogFile       `json:"log_file,omitempty"`  // of a running bot; nil: it has none
	BackupMS  int64          `json:"backup_ms,omitempty"` // of the last backup that the running bot made; 0: none is known
	Seal      string         `json:"seal,omitempty"`      // how the bot stands to its promise; empty: it has none
	Broken    bool           `json:"broken,omitempty"`    // the promise
	// Doctor is the last result of bot doctor; nil: none is kept, or Unread says why it cannot be
	// read.
	Doctor *statedir.Checkup `json:"doctor,omitempty"`
	Unread string            `json:"doctor_unread,omitempty"`
}

// StateFile is the state file of a bot.
type StateFile struct {
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"`
	Entries uint64 `json:"entries"`            // of the journal, ever written
	SinceMS int64  `json:"since_ms,omitempty"` // of its oldest entry without a gap; 0: there is none
}

// RecordingFile is the recording of a bot.
type RecordingFile struct {
	Bytes  int64  `json:"bytes"`
	Events uint64 `json:"events"` // that it still has
	FromMS int64  `json:"from_ms"`
	ToMS   int64  `json:"to_ms"`
}

// LogFile is the log file of a bot.
type LogFile struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// AskSystem asks a bot for its files.
func AskSystem() Question[System] { return Question[System]{path: PathSystem, read: SystemOf} }

// SystemOf looks at the files of a state folder. Any goroutine may call it while a bot runs.
func SystemOf(store *journal.Store) (*System, error) {
	dir := filepath.Dir(store.Path())
	s := &System{Folder: dir, State: StateFile{Path: store.Path()}}
	var err error
	if s.State.Entries, err = store.LastNumber(); err != nil {
		return nil, err
	}
	reach, err := store.Reach()
	if err != nil {
		return nil, err
	}
	if s.State.Bytes = reach.Bytes; reach.First > 0 {
		s.State.SinceMS = reach.Since.Millis()
	}
	if free, writable := statedir.FreeSpace(dir); free != math.MaxUint64 {
		s.DiskFree, s.ReadOnly = &free, !writable
	}
	x, err := recording.Describe(filepath.Join(dir, statedir.RecordingFolder))
	if err != nil && !errors.Is(err, bolt.ErrNotFound) {
		return nil, err
	}
	if x.First != 0 {
		s.Recording = &RecordingFile{Bytes: x.Bytes, Events: x.Last - x.First + 1, FromMS: x.From.Millis(),
			ToMS: x.To.Millis()}
	}
	if err := s.addBackup(store); err != nil {
		return nil, err
	}
	if s.Doctor, err = statedir.ReadCheckup(dir); err != nil {
		s.Unread = err.Error()
	}
	standing, err := seal.StatusOf(store)
	if err == nil && standing.Sealed {
		s.Seal, s.Broken = standing.Sentence(), standing.Broken
	}
	return s, err
}

// AppendBackup appends the content of statedir.BackupBlob.
func AppendBackup(dst []byte, atMS int64) []byte { return strconv.AppendInt(dst, atMS, 10) }

func (s *System) addBackup(store *journal.Store) error {
	text, err := store.Blob(statedir.BackupBlob)
	if err == nil && text != nil {
		s.BackupMS, err = strconv.ParseInt(string(text), 10, 64)
	}
	return err
}

// AddLog sets the log file; without one there is nothing to set.
func (s *System) AddLog(path string) {
	if path == "" {
		return
	}
	s.Log = &LogFile{Path: path}
	if info, err := os.Stat(path); err == nil {
		s.Log.Bytes = info.Size()
	}
}
