package runlock

import "os"

// SetOpen replaces what opens records until again is called.
func SetOpen(f func(path string) (*os.File, error)) (again func()) {
	was := open
	open = f
	return func() { open = was }
}
