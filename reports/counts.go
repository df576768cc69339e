package reports

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
)

// CountryCounts are counts by country, sorted by country. On the wire they are
// a JSON object whose keys are lowercase two-letter country codes.
type CountryCounts []CountryCount

// A CountryCount is the count of one country.
type CountryCount struct {
	Country string // lowercase ISO 3166-1 alpha-2 code, such as "de"
	Count   int64
}

// NewCountryCounts sorts counts by country.
func NewCountryCounts(counts map[string]int64) CountryCounts {
	list := make(CountryCounts, 0, len(counts))
	for country, count := range counts {
		list = append(list, CountryCount{country, count})
	}
	slices.SortFunc(list, func(a, b CountryCount) int { return cmp.Compare(a.Country, b.Country) })
	return list
}

// Sum adds up the counts. It may be less than the count of the instance, since
// not every address tells its country.
func (c CountryCounts) Sum() int64 {
	var sum int64
	for _, n := range c {
		sum += n.Count
	}
	return sum
}

// MarshalJSON writes a JSON object, in the order of the list.
func (c CountryCounts) MarshalJSON() ([]byte, error) {
	buf := []byte{'{'}
	for i, n := range c {
		if i > 0 {
			buf = append(buf, ',')
		}
		name, err := json.Marshal(n.Country)
		if err != nil {
			return nil, err
		}
		buf = append(append(buf, name...), ':')
		buf = strconv.AppendInt(buf, n.Count, 10)
	}
	return append(buf, '}'), nil
}

// UnmarshalJSON reads a JSON object. Stored reports also hold null or an empty
// list here, and numbers as texts.
func (c *CountryCounts) UnmarshalJSON(data []byte) error {
	*c = nil
	if data = bytes.TrimSpace(data); len(data) == 0 || data[0] != '{' {
		return nil
	}
	var members map[string]number
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	counts := make(map[string]int64, len(members))
	for country, n := range members {
		counts[country] = int64(n)
	}
	*c = NewCountryCounts(counts)
	return nil
}
