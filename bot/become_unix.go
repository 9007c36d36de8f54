//go:build unix

package bot

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// become runs a program in the place of this one. It returns only an error.
func become(path string, args []string) error {
	return fmt.Errorf("run %s: %w", path, unix.Exec(path, args, os.Environ()))
}
