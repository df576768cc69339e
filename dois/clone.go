package dois

import "github.com/datacite-go/datacite-go/internal/deepcopy"

// Clone returns a copy that shares nothing with the record, Raw and Relationships included.
// Records that were read one after the other share blocks of memory, which a single record
// keeps alive: keep clones of a few records of many.
func (r *Record) Clone() *Record { return deepcopy.Of(r) }
