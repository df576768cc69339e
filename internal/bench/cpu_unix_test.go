//go:build unix

package bench_test

import (
	"syscall"
	"time"
)

// processorTime is what this process has used so far, the garbage collector included, and the processes that it
// started and that have ended.
func processorTime() (all time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			panic(err)
		}
		all += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return all
}
