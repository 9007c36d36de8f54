package machines

import (
	"encoding/json"
	"fmt"
	"path/filepath"
)

// RosterFile is the file in Cargo.Folder that says which workers a sweep has.
const RosterFile = "workers.json"

// Roster says which workers a sweep has. The coordinator keeps it while it runs, for other
// processes to read.
type Roster struct {
	Sweep   string   `json:"sweep"`   // the sweep's file, without its folder
	Workers []Worker `json:"workers"` // by name
}

// Worker is a worker as its coordinator hears of it. Times are in milliseconds since 1970.
type Worker struct {
	Name     string `json:"name"`
	Cores    int    `json:"cores"`
	Groups   int    `json:"groups"` // that it has finished since it joined
	JoinedMS int64  `json:"joined_ms"`
	HeardMS  int64  `json:"heard_ms"`
	Left     string `json:"left,omitempty"` // how it ended; empty: it has not
}

// Write writes the roster into the coordinator's folder, whole or not at all.
func (r *Roster) Write(folder string) error {
	text, err := json.Marshal(r)
	if err == nil {
		err = put(filepath.Join(folder, RosterFile), text)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", RosterFile, err)
	}
	return nil
}

// ReadRoster reads the content of a RosterFile.
func ReadRoster(content []byte) (r Roster, err error) {
	if err := json.Unmarshal(content, &r); err != nil {
		return r, fmt.Errorf("read %s: %w", RosterFile, err)
	}
	return r, nil
}
