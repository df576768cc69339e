package wire

import (
	"encoding/json"
)

// Encoded are the entries of a list, as they are shown.
func Encoded[T any](entries []T, show func(T) any) ([]json.RawMessage, error) {
	out, size := []json.RawMessage{}, 0
	for _, entry := range entries {
		text := Encode(show(entry))
		if size += len(text); size > maxAnswer {
			return nil, ErrTooMuch
		}
		out = append(out, text)
	}
	return out, nil
}

// MaxPage is the most a page holds, whatever page[size] says.
const MaxPage = 1000

// Window is the page of all, counted from 1.
func Window[T any](all []T, page, size int) []T {
	if page-1 > len(all)/max(size, 1) {
		return nil
	}
	start := min((page-1)*size, len(all))
	return all[start:min(start+size, len(all))]
}

func Pages(total, size int) int {
	if size <= 0 {
		return 0
	}
	return (total + size - 1) / size
}
