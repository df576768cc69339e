package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Stored reports come from many senders. What follows reads the types that
// occur in them beside those of the specification: numbers as texts, texts as
// numbers, null for anything.

// text reads a JSON text, number or boolean as a string, and null as "".
type text string

func (t *text) UnmarshalJSON(data []byte) error {
	switch data[0] {
	case '"':
		return json.Unmarshal(data, (*string)(t))
	case '{', '[', 'n':
		*t = ""
	default:
		*t = text(data)
	}
	return nil
}

// number reads a JSON number, or a text that holds one.
type number int64

func (n *number) UnmarshalJSON(data []byte) error {
	*n = 0
	digits := string(bytes.Trim(data, `" `))
	if digits == "" || digits == "null" {
		return nil
	}
	if i, err := strconv.ParseInt(digits, 10, 64); err == nil {
		*n = number(i)
		return nil
	}
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return fmt.Errorf("%.40s is not a count", data)
	}
	*n = number(f)
	return nil
}

// UnmarshalJSON reads a dataset entry, with a year that is a text or a number.
func (d *Dataset) UnmarshalJSON(data []byte) error {
	type plain Dataset
	*d = Dataset{}
	return json.Unmarshal(data, &struct {
		*plain
		Title     *text `json:"dataset-title"`
		YOP       *text `json:"yop"`
		URI       *text `json:"uri"`
		Platform  *text `json:"platform"`
		DataType  *text `json:"data-type"`
		Publisher *text `json:"publisher"`
	}{(*plain)(d), (*text)(&d.Title), (*text)(&d.YOP), (*text)(&d.URI), (*text)(&d.Platform), (*text)(&d.DataType), (*text)(&d.Publisher)})
}

// UnmarshalJSON reads an instance, with a count that is a number or a text.
func (i *Instance) UnmarshalJSON(data []byte) error {
	type plain Instance
	*i = Instance{}
	return json.Unmarshal(data, &struct {
		*plain
		Count *number `json:"count"`
	}{(*plain)(i), (*number)(&i.Count)})
}

// UnmarshalJSON reads an exception, with a code that is a number or a text.
func (e *Exception) UnmarshalJSON(data []byte) error {
	type plain Exception
	*e = Exception{}
	var code number
	err := json.Unmarshal(data, &struct {
		*plain
		Code *number `json:"code"`
	}{(*plain)(e), &code})
	e.Code = int(code)
	return err
}

// UnmarshalJSON reads a filter or attribute that is an object or a bare text.
func (n *NameValue) UnmarshalJSON(data []byte) error {
	*n = NameValue{}
	if len(data) > 0 && data[0] != '{' {
		return (*text)(&n.Value).UnmarshalJSON(data)
	}
	return json.Unmarshal(data, &struct {
		Name  *text `json:"name"`
		Value *text `json:"value"`
	}{(*text)(&n.Name), (*text)(&n.Value)})
}

// UnmarshalJSON reads a typed value whose members may be of other types.
func (v *TypedValue) UnmarshalJSON(data []byte) error {
	*v = TypedValue{}
	if len(data) > 0 && data[0] != '{' {
		return (*text)(&v.Value).UnmarshalJSON(data)
	}
	return json.Unmarshal(data, &struct {
		Type  *text `json:"type"`
		Value *text `json:"value"`
	}{(*text)(&v.Type), (*text)(&v.Value)})
}
