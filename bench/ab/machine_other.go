//go:build !linux

package main

import (
	"errors"
	"os"
)

// pin says that this system cannot bind a process to a core.
func pin(int) (used int, free func(), err error) { return 0, nil, errors.ErrUnsupported }

// load is not known here.
func load() string { return "" }

// peakMemory is not known here.
func peakMemory(*os.ProcessState) float64 { return 0 }
