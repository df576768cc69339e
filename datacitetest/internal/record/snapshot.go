package record

import "encoding/json"

type plain Record

// saved is a record with all that is not to be seen of it, apart from the index.
type saved struct {
	*plain
	Columns map[string]any
}

// MarshalJSON writes the record as a snapshot keeps it.
func (rec *Record) MarshalJSON() ([]byte, error) {
	return json.Marshal(saved{(*plain)(rec), rec.columns})
}

// UnmarshalJSON reads a record of a snapshot.
func (rec *Record) UnmarshalJSON(data []byte) error {
	s := saved{plain: (*plain)(rec)}
	err := json.Unmarshal(data, &s)
	rec.columns = s.Columns
	return err
}
