package statedir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// CheckupFile has the last result of `bot doctor`.
const CheckupFile = "doctor.json"

const maxCheckup = 1 << 20 // bytes of a file that is read

// Checkup is the last result of `bot doctor` for a bot.
type Checkup struct {
	AtMS     int64     `json:"at_ms"`
	Version  string    `json:"version"` // of the program
	Config   string    `json:"config"`  // hash of the settings
	Findings []Finding `json:"findings"`
}

// Finding is the result of one check.
type Finding struct {
	Check string `json:"check"`
	Level string `json:"level"` // ok, warn, fail
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"`
}

// Write replaces the result in a state folder, which it makes if it is missing.
func (c *Checkup) Write(dir string) error {
	text, err := json.MarshalIndent(c, "", " ")
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	var temp *os.File
	if err == nil {
		temp, err = os.CreateTemp(dir, CheckupFile+".*")
	}
	if err != nil {
		return fmt.Errorf("keep the result of the doctor: %w", err)
	}
	_, err = temp.Write(append(text, '\n'))
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), filepath.Join(dir, CheckupFile))
	}
	if err != nil {
		return fmt.Errorf("keep the result of the doctor: %w", errors.Join(err, os.Remove(temp.Name())))
	}
	return nil
}

// ReadCheckup reads the result in a state folder; nil: none is kept.
func ReadCheckup(dir string) (*Checkup, error) {
	file, err := os.Open(filepath.Join(dir, CheckupFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("last result of the doctor: %w", err)
	}
	defer file.Close()
	c := &Checkup{}
	if err := json.NewDecoder(io.LimitReader(file, maxCheckup)).Decode(c); err != nil {
		return nil, fmt.Errorf("last result of the doctor: %s cannot be read: %w; run bot doctor again",
			file.Name(), err)
	}
	return c, nil
}
