package dois

import "github.com/datacite-go/datacite-go/internal/deepcopy"

// Clone returns a deep copy of the record, including Raw and Relationships. Records that
// were read one after the other share blocks of memory, and each of them keeps its whole
// block alive. To keep a few of many records, keep clones of them.
func (r *Record) Clone() *Record { return deepcopy.Of(r) }
