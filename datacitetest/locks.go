package datacitetest

import (
	"errors"
	"os"
	"sync"
)

// A lockFolder is the temporary folder in which clients of a server keep what other runs on the
// machine need to know, as they do in a shared folder for other services. It is made when a client
// first needs it.
type lockFolder struct {
	mu   sync.Mutex
	name string
	gone bool
}

func (f *lockFolder) path() (_ string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gone {
		return "", errors.New("datacitetest: the server is closed")
	}
	if f.name == "" {
		f.name, err = os.MkdirTemp("", "datacitetest-locks-")
	}
	return f.name, err
}

func (f *lockFolder) remove() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gone = true
	if f.name != "" {
		_ = os.RemoveAll(f.name) // what is left of a temporary folder harms nobody
	}
}
