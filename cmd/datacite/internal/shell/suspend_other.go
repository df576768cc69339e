//go:build !unix

package shell

// noSuspend is for systems where Ctrl-Z suspends nothing.
func noSuspend() (again func()) { return func() {} }
