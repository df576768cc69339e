package reports

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/datacite-go/datacite-go/internal/country"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
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
	slices.SortFunc(list, byCountry)
	return list
}

func byCountry(a, b CountryCount) int { return cmp.Compare(a.Country, b.Country) }

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
	return unmarshal(data, func(d *decoder, l *jsonlex.Lexer) { *c = d.readCounts(l) })
}

func (d *decoder) readCounts(l *jsonlex.Lexer) CountryCounts {
	if l.Kind() != '{' {
		l.Skip()
		return nil
	}
	d.counts.Begin()
	sorted, last := true, ""
	l.Begin()
	for i := 0; ; i++ {
		name, ok := l.Key(i)
		if !ok {
			break
		}
		code := d.country(l, name)
		n := next(l, &d.counts)
		n.Country, n.Count = code, count(l)
		sorted = sorted && (i == 0 || last < code)
		last = code
	}
	list := CountryCounts(d.counts.List())
	if !sorted {
		list = list.sorted()
	}
	return list
}

// sorted sorts the list in place. Of two counts for one country the later one
// holds, as in any JSON object.
func (c CountryCounts) sorted() CountryCounts {
	slices.Reverse(c)
	slices.SortStableFunc(c, byCountry)
	return slices.CompactFunc(c, func(a, b CountryCount) bool { return a.Country == b.Country })
}

func (d *decoder) country(l *jsonlex.Lexer, name []byte) string {
	if code, ok := country.Code(name); ok {
		return code
	}
	return d.copy(l, name)
}
