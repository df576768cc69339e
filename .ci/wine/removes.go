// Added to the tests that run under wine: wine before release 9 lacks the call that Go removes folders by, and answers as
// no Windows does, so that Go does not take the older one.
package tests

import _ "unsafe"

//go:linkname older internal/syscall/windows.TestDeleteatFallback
var older bool

func init() { older = true }
