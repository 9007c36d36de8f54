package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// pin binds the calling thread, and the children that it starts, to a core; below 0 to the last
// core that the thread may use. The caller holds the thread with runtime.LockOSThread until it has
// called free.
func pin(core int) (used int, free func(), err error) {
	var before, after unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return 0, nil, fmt.Errorf("read the cores that may be used: %w", err)
	}
	if core < 0 {
		for i := range len(before) * 64 {
			if before.IsSet(i) {
				core = i
			}
		}
	}
	after.Set(core)
	if err := unix.SchedSetaffinity(0, &after); err != nil {
		return 0, nil, fmt.Errorf("bind to a core: %w", err)
	}
	return core, func() { _ = unix.SchedSetaffinity(0, &before) }, nil
}

// load is the number of processes that wanted a core, on average over the last minute: what the
// system calls the load average. It is empty where it cannot be read.
func load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

// peakMemory is the largest resident memory of a process that has ended, in MB. The system counts
// the memory of this process too, where it was larger when it started the child.
func peakMemory(ended *os.ProcessState) float64 {
	usage, known := ended.SysUsage().(*syscall.Rusage)
	if !known {
		return 0
	}
	return float64(usage.Maxrss) / 1024
}
