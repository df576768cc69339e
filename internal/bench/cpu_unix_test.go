//go:build unix

package bench_test

import (
	"syscall"
	"time"
)

// processorTime is what this process has used so far, the garbage collector included.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
