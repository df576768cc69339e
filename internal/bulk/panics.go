package bulk

import (
	"runtime"
	"sync"
)

// A Group is goroutines that run functions of callers. It carries a panic from one of them to the
// goroutine that waits. The zero Group is ready for use.
type Group struct {
	sync.WaitGroup
	Stop func() // called when one of them panics, so that the others end; may be nil

	once  sync.Once
	again func() // ends a goroutine as the first of them that did not return
}

// Go runs f in a goroutine.
func (g *Group) Go(f func()) {
	g.WaitGroup.Go(func() {
		returned := false
		defer func() {
			if returned {
				return
			}
			value := recover() // nil if it called runtime.Goexit
			g.once.Do(func() {
				g.again = func() {
					if value != nil {
						panic(value)
					}
					runtime.Goexit()
				}
			})
			if g.Stop != nil {
				g.Stop()
			}
		}()
		f()
		returned = true
	})
}

// Rethrow panics with the value of the goroutine that panicked first, or calls
// [runtime.Goexit] if it did. It is called after Wait.
func (g *Group) Rethrow() {
	if g.again != nil {
		g.again()
	}
}
