//go:build !unix

package bot

import "fmt"

// become cannot run another program in the place of this one: its signals would not reach it.
func become(path string, _ []string) error {
	return fmt.Errorf("this system cannot go over to another program; run %s with the same arguments", path)
}
