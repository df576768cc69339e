package sandbox

import "syscall"

var connectionReset = syscall.NewError("connection reset by peer")
