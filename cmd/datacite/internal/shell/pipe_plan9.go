package shell

// ignorePipes has no signal to ignore.
func ignorePipes() {}

// isClosedPipe does not tell a closed pipe from another failure: that is a text of the kernel.
func isClosedPipe(error) bool { return false }
