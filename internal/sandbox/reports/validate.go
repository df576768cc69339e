package reports

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/datacite-go/datacite-go/internal/sandbox/wire"
)

// content is what the body of a report holds. The datasets stay where they
// are: start and end say where in the (uncompressed) body their elements stand.
type content struct {
	header     object
	start, end int64
	datasets   int
}

// maxDatasets is how many datasets one body may carry (specification §8).
const maxDatasets = 50_000

// rule takes one value from a scanner and checks it.
type rule func(s *scanner) error

// readReport reads a report body in one pass and checks it against
// specification §2.1, header and datasets as the given rules say.
func readReport(r io.Reader, header, dataset rule) (content, error) {
	var c content
	seen := map[string]bool{}
	s := newScanner(r)
	err := s.object(func(name []byte) (rule, error) {
		member := string(name)
		if seen[member] {
			return nil, fmt.Errorf("%s given twice", member)
		}
		seen[member] = true
		return func(s *scanner) (err error) {
			switch member {
			case "report-header":
				c.header, err = readHeader(s, header)
			case "report-datasets":
				c.start, c.end, c.datasets, err = readDatasets(s, dataset)
			default:
				err = anyValue(s) // an id, or what a GET answers besides
			}
			return within(member, err)
		}, nil
	})
	if err == nil {
		err = s.close()
	}
	switch {
	case err != nil:
		return c, err
	case c.header == nil:
		return c, errors.New("report-header is missing")
	case !seen["report-datasets"]:
		return c, errors.New("report-datasets is missing")
	}
	return c, nil
}

func readHeader(s *scanner, check rule) (object, error) {
	raw, err := s.raw(check, wire.MaxPieces)
	if err != nil {
		return nil, err
	}
	var o object
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, errors.New("an object expected")
	}
	return o, nil
}

func readDatasets(s *scanner, check rule) (start, end int64, count int, err error) {
	if _, err = s.peek(); err != nil {
		return 0, 0, 0, err
	}
	start = s.offset() + 1
	err = s.array(func(i int) error {
		if i == maxDatasets {
			return fmt.Errorf("more than %d datasets", maxDatasets)
		}
		count++
		if err := check(s); err != nil {
			return within(strconv.Itoa(i), err)
		}
		return nil
	})
	return start, s.offset() - 1, count, err
}

// pathError is a fault with the path of the value, as in
// "report-datasets/0/yop: a string expected".
type pathError struct {
	path string
	err  error
}

func (e *pathError) Error() string { return e.path + ": " + e.err.Error() }

func (e *pathError) Unwrap() error { return e.err }

func within(segment string, err error) error {
	if err == nil {
		return nil
	}
	if inner, ok := errors.AsType[*pathError](err); ok {
		inner.path = segment + "/" + inner.path
		return inner
	}
	return &pathError{segment, err}
}

// member is a member that an object may have.
type member struct {
	name     string
	check    rule
	required bool
}

func need(name string, check rule) member { return member{name, check, true} }

func may(name string, check rule) member { return member{name, check, false} }

// members is an object with these members and no others.
func members(all ...member) rule {
	for i, m := range all {
		check := m.check
		all[i].check = func(s *scanner) error {
			if err := check(s); err != nil {
				return within(m.name, err)
			}
			return nil
		}
	}
	return func(s *scanner) error {
		var seen uint64
		next := 0
		err := s.object(func(name []byte) (rule, error) {
			i := indexMember(all, name, next)
			switch {
			case i < 0:
				return nil, fmt.Errorf("found unpermitted parameter: :%s", name)
			case seen&(1<<i) != 0:
				return nil, fmt.Errorf("%s given twice", name)
			}
			seen |= 1 << i
			next = i + 1
			return all[i].check, nil
		})
		if err != nil {
			return err
		}
		for i, m := range all {
			if m.required && seen&(1<<i) == 0 {
				return fmt.Errorf("%s is missing", m.name)
			}
		}
		return nil
	}
}

// indexMember finds a member, -1 if there is none of that name. It looks at
// the one that comes next in the table first, as members mostly do.
func indexMember(all []member, name []byte, next int) int {
	for i := range all {
		i = (i + next) % len(all)
		if string(name) == all[i].name {
			return i
		}
	}
	return -1
}

func arrayOf(check rule) rule {
	return func(s *scanner) error {
		return s.array(func(i int) error {
			if err := check(s); err != nil {
				return within(strconv.Itoa(i), err)
			}
			return nil
		})
	}
}

// either takes strings with one rule and everything else with the other.
func either(text, other rule) rule {
	return func(s *scanner) error {
		if c, err := s.peek(); err != nil || c == '"' {
			return text(s)
		}
		return other(s)
	}
}

func anyText(s *scanner) error {
	_, err := s.text()
	return err
}

func filledText(s *scanner) error {
	text, err := s.text()
	if err == nil && len(text) == 0 {
		return errors.New("can't be blank")
	}
	return err
}

func oneOf(values ...string) rule {
	return func(s *scanner) error {
		text, err := s.text()
		if err != nil {
			return err
		}
		if slices.Contains(values, string(text)) {
			return nil
		}
		return fmt.Errorf("%q is not one of %q", text, values)
	}
}

func integer(s *scanner) error {
	if c, err := s.peek(); err != nil {
		return err
	} else if c != '-' && (c < '0' || c > '9') {
		return s.unexpected("an integer")
	}
	word, err := s.word()
	if err != nil {
		return err
	}
	if _, err := strconv.ParseInt(string(word), 10, 64); err != nil {
		return fmt.Errorf("an integer expected, not %s", word)
	}
	return nil
}

// day takes a date, YYYY-MM-DD.
func day(s *scanner) (string, error) {
	text, err := s.text()
	if err != nil {
		return "", err
	}
	d := string(text)
	if _, err := time.Parse(time.DateOnly, d); err != nil {
		return "", fmt.Errorf("%q is not a date, YYYY-MM-DD", d)
	}
	return d, nil
}

func date(s *scanner) error {
	_, err := day(s)
	return err
}

// period is an object of two dates that do not go backwards.
func period(s *scanner) error {
	days := map[string]string{}
	err := s.object(func(name []byte) (rule, error) {
		which := string(name)
		if _, twice := days[which]; twice || which != "begin-date" && which != "end-date" {
			return nil, fmt.Errorf("found unpermitted parameter: :%s", which)
		}
		return func(s *scanner) (err error) {
			days[which], err = day(s)
			return within(which, err)
		}, nil
	})
	begin, end := days["begin-date"], days["end-date"]
	switch {
	case err != nil:
		return err
	case begin == "":
		return errors.New("begin-date is missing")
	case end == "":
		return errors.New("end-date is missing")
	case end < begin:
		return fmt.Errorf("end-date %s is before begin-date %s", end, begin)
	}
	return nil
}

func countryCounts(s *scanner) error {
	return s.object(func(name []byte) (rule, error) {
		if len(name) != 2 || name[0] < 'a' || name[0] > 'z' || name[1] < 'a' || name[1] > 'z' {
			return nil, fmt.Errorf("%q is not a lowercase two-letter country code", name)
		}
		return integer, nil
	})
}

// typed is an array of {type, value}.
func typed(types ...string) rule {
	kind := rule(filledText)
	if len(types) > 0 {
		kind = oneOf(types...)
	}
	return arrayOf(members(need("type", kind), need("value", anyText)))
}

// reportHeader is the header of specification §2.1. Which members are
// required the specification leaves open; these are what the servers require.
var reportHeader = members(
	may("report-name", anyText),
	need("report-id", filledText),
	need("release", filledText),
	need("created-by", filledText),
	need("created", date),
	need("reporting-period", period),
	may("report-filters", namedValues),
	may("report-attributes", namedValues),
	may("exceptions", arrayOf(members(
		may("code", integer), may("severity", anyText), may("message", anyText), may("help-url", anyText), may("data", anyText),
	))),
)

var namedValues = arrayOf(either(anyText, members(need("name", anyText), need("value", anyText))))

// reportDataset is a dataset entry of specification §2.1. The types of
// identifiers, contributors and dates are those the servers take.
var reportDataset = members(
	may("uri", anyText),
	may("yop", anyText),
	need("platform", anyText),
	need("data-type", oneOf("dataset")),
	need("publisher", anyText),
	may("dataset-id", typed("doi", "DOI", "proprietary", "uri")),
	need("performance", arrayOf(members(need("period", period), need("instance", arrayOf(reportInstance))))),
	need("publisher-id", typed()),
	may("dataset-dates", typed("pub-date", "first-accessed-online", "proprietary")),
	need("dataset-title", anyText),
	may("dataset-contributors", typed("name", "orcid", "isni")),
	may("dataset-attributes", typed("dataset-version", "dataset_type", "proprietary")),
)

var reportInstance = members(
	need("count", integer),
	need("metric-type", oneOf(
		"total-dataset-requests", "unique-dataset-requests", "total-dataset-investigations", "unique-dataset-investigations",
	)),
	need("access-method", oneOf("regular", "machine")),
	may("country-counts", countryCounts),
)

// anyObject and anyValue are the rules for seeded reports, which may be as odd
// as real ones are.
func anyObject(s *scanner) error {
	return s.object(func([]byte) (rule, error) { return anyValue, nil })
}

func anyValue(s *scanner) error { return s.nested(100) }
