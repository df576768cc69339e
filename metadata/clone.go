package metadata

import "github.com/datacite-go/datacite-go/internal/deepcopy"

// Clone returns a copy that shares nothing with the record. Texts and lists of records that
// were read from one response share blocks of memory, which a single record keeps alive:
// keep clones of a few records of many.
func (r *Record) Clone() *Record { return deepcopy.Of(r) }
