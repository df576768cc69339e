package metadata

import "reflect"

// List is a list of T that reads JSON as the service has been seen to write it:
// an array, null, or one item without the array around it. Items may be odd in
// turn; see [Record]. An item that cannot be read is left out.
//
// Anything that works on []T works on a List[T], and a []T can be assigned to it.
type List[T any] []T

// UnmarshalJSON reads an array, null, or a single item. It replaces what the
// list held, and fails only when data is not JSON.
func (l *List[T]) UnmarshalJSON(data []byte) error {
	return readJSON(data, reflect.ValueOf(l).Elem())
}
