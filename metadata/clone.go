package metadata

import "github.com/datacite-go/datacite-go/internal/deepcopy"

// Clone returns a deep copy of the record. Texts and lists of records that were read from
// one response share blocks of memory, and each record keeps its whole block alive. To keep
// a few of many records, keep clones of them.
func (r *Record) Clone() *Record { return deepcopy.Of(r) }
