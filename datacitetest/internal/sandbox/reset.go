//go:build !plan9

package sandbox

import "syscall"

const connectionReset = syscall.ECONNRESET
