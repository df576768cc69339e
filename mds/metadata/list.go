package metadata

// List is a list of T that reads JSON as the service has been seen to write it:
// an array, null, or one item without the array around it. Items may be odd in
// turn; see [Record]. An item that cannot be read is left out.
//
// Anything that works on []T works on a List[T], and a []T can be assigned to it.
type List[T any] []T
