package record

import "encoding/json"

type plain Record

// saved is a record with its hidden fields, except those of the index.
type saved struct {
	*plain
	Columns map[string]any
}

// MarshalJSON writes the record for a snapshot.
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
