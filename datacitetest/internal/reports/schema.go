package reports

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// schema is what a value of a report may be. With Documented it checks the stream; with
// Deployed the decoded value, first by the names that the service permits, then by its
// schema.
type schema struct {
	kind     string                 // object, array, string, integer, or "" for any scalar
	members  []member               // of an object
	any      func(name string) bool // which other members an object may have, with any scalar
	required []string
	element  *schema // of an array
	values   []string

	sound rule // the check of the specification, in place of all this

	unchecked bool // absent from the deployed service's schema
	untyped   bool // ... or names members, but no type

	take  rule   // check, made once
	takes []rule // ... of each member
}

type member struct {
	name string
	*schema
}

// ready makes the rules of a schema and of its parts.
func (s *schema) ready() *schema {
	s.take, s.takes = s.check, nil
	for _, m := range s.members {
		inner := m.ready()
		s.takes = append(s.takes, func(c *checker) { c.in(m.name, inner.take) })
	}
	if s.element != nil {
		s.element.ready()
	}
	return s
}

// member is the schema of a member, nil if there is none of that name.
func (s *schema) member(name string) *schema {
	if i := slices.IndexFunc(s.members, func(m member) bool { return m.name == name }); i >= 0 {
		return s.members[i].schema
	}
	if s.any != nil && s.any(name) {
		return anyScalar
	}
	return nil
}

// check reads and checks a value of the stream.
func (s *schema) check(c *checker) {
	switch {
	case s.sound != nil:
		s.sound(c)
	case s.kind == "array":
		c.array(s.element.take)
	case s.kind == "object":
		s.checkMembers(c)
	case s.kind == "integer":
		integer(c)
	default:
		if text := c.text(); len(s.values) > 0 && !slices.Contains(s.values, string(text)) {
			c.refuse("%q is not one of %q", text, s.values)
		}
	}
}

func (s *schema) checkMembers(c *checker) {
	var seen uint64
	next := 0 // the member most likely to follow
	c.object(func(name []byte) rule {
		for range s.members {
			i := next % len(s.members)
			next++
			if string(name) != s.members[i].name {
				continue
			}
			if seen&(1<<i) != 0 {
				c.refuse("%s given twice", name)
			}
			seen |= 1 << i
			return s.takes[i]
		}
		c.refuse("found unpermitted parameter: :%s", name)
		return nil
	})
	for i, m := range s.members {
		if seen&(1<<i) == 0 && slices.Contains(s.required, m.name) {
			c.refuse("%s is missing", m.name)
		}
	}
}

// permit removes what the service drops silently: other values in an array of objects. It
// returns the names that are not permitted, and those of other values where the service
// expects an object or array, for each object that has any.
func (s *schema) permit(v object, shown func(string) string) (odd [][]string) {
	var here []string
	for name := range sorted(v) {
		inner := s.member(name)
		objects, many := v[name].([]any)
		one, alone := v[name].(object)
		// Only the schema distinguishes objects and arrays.
		if inner == nil || (inner.kind == "object" || inner.kind == "array") != (many || alone) {
			here = append(here, shown(name))
			continue
		}
		if inner.kind == "array" {
			inner = inner.element
		}
		if many {
			objects = slices.DeleteFunc(objects, func(e any) bool { _, ok := e.(object); return !ok })
			v[name] = objects
		} else if alone {
			objects = []any{one}
		}
		spell := shown
		if name == "report-datasets" { // errors keep the spelling of names below
			spell = func(name string) string { return name }
		}
		for _, e := range objects {
			odd = append(odd, inner.permit(e.(object), spell)...)
		}
	}
	if len(here) > 0 {
		odd = append(odd, here)
	}
	return odd
}

// faults appends the faults of the value by the schema of that name, in the order of
// the schema.
func (s *schema) faults(v any, path, name string, found []object) []object {
	if s.unchecked || len(found) > wire.MaxFaults {
		return found
	}
	if kind := jsonKind(v); s.kind != "" && kind != s.kind && !s.untyped {
		found = append(found, schemaFault(path, name, "of type %s did not match the following type: %s", kind, s.kind))
	}
	if word, ok := v.(string); len(s.values) > 0 && (!ok || !slices.Contains(s.values, word)) {
		found = append(found, schemaFault(path, name, "value %s did not match one of the following values: %s", inspect(v), strings.Join(s.values, ", ")))
	}
	switch v := v.(type) {
	case object:
		for _, member := range s.required {
			if _, ok := v[member]; !ok {
				found = append(found, schemaFault(path, name, "did not contain a required property of '%s'", member))
			}
		}
		for _, m := range s.members {
			if value, ok := v[m.name]; ok {
				found = m.faults(value, path+"/"+m.name, name, found)
			}
		}
	case []any:
		for i, e := range v {
			if s.element != nil {
				found = s.element.faults(e, fmt.Sprintf("%s/%d", path, i), name, found)
			}
		}
	}
	return found
}

func jsonKind(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case object:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return "number"
		}
		return "integer"
	}
	return "number"
}

func textWith(sound rule) *schema { return &schema{kind: "string", sound: sound} }

func listOf(required []string, members ...member) *schema {
	return &schema{kind: "array", element: &schema{kind: "object", required: required, members: members}}
}

// labelled is an array of {type, value}.
func labelled(types ...string) *schema {
	return listOf([]string{"type", "value"}, member{"type", &schema{kind: "string", values: types}}, member{"value", textOnly})
}

// named is an array of {name, value}; the specification also allows strings.
func named() *schema {
	s := listOf([]string{"name", "value"}, member{"name", textOnly}, member{"value", textOnly})
	s.sound = func(c *checker) {
		c.array(func(c *checker) {
			if c.Kind() == '"' {
				c.text()
			} else {
				s.element.checkMembers(c)
			}
		})
	}
	return s
}

var (
	anyScalar = &schema{}
	textOnly  = &schema{kind: "string"}
	filled    = textWith(filledText)

	// Publishers use other types in practice.
	publisherID = func() *schema {
		s := labelled("isni", "orcid", "grid", "urn", "client-id")
		s.element.members[0].sound = filledText
		return s
	}()

	headerMembers = []member{
		{"report-name", textOnly}, {"report-id", filled}, {"release", filled}, {"created", textWith(func(c *checker) { c.date() })}, {"created-by", filled},
		{"reporting-period", &schema{kind: "object", unchecked: true, sound: period, members: periodOf(anyScalar, anyScalar)}},
		{"report-filters", named()}, {"report-attributes", named()},
		{"exceptions", &schema{kind: "array", unchecked: true, element: &schema{kind: "object", members: []member{
			{"code", &schema{sound: integer}}, {"severity", anyScalar}, {"message", anyScalar}, {"help-url", anyScalar}, {"data", anyScalar},
		}}}},
	}

	// reportHeader is the header of specification §2.1. The specification does
	// not say which members are required; these are required by the servers.
	reportHeader = (&schema{
		kind: "object", members: headerMembers, required: []string{"report-id", "release", "created-by", "created", "reporting-period"},
	}).ready()

	reportDatasets = datasetEntries().ready()

	// sentReport are header and datasets in one object, as the service checks them.
	sentReport = &schema{kind: "object", members: append(slices.Clone(headerMembers), member{"report-datasets", reportDatasets})}
)

// datasetEntries are those of specification §2.1. The types of identifiers, contributors and dates are those that
// the servers accept.
func datasetEntries() *schema {
	metrics := []string{"total-dataset-investigations", "total-dataset-requests", "unique-dataset-investigations", "unique-dataset-requests"}
	instance := listOf([]string{"count", "metric-type", "access-method"},
		member{"metric-type", &schema{kind: "string", values: metrics}},
		member{"count", &schema{kind: "integer"}},
		member{"access-method", &schema{kind: "string", values: []string{"regular", "machine"}}},
		member{"country-counts", &schema{kind: "object", unchecked: true, sound: countryCounts, any: isCountry}},
	)
	return listOf([]string{"data-type", "dataset-title", "performance", "platform", "publisher", "publisher-id"},
		member{"dataset-title", textOnly},
		member{"dataset-id", labelled("doi", "DOI", "proprietary", "uri")},
		member{"dataset-contributors", labelled("name", "orcid", "isni")},
		member{"dataset-dates", labelled("pub-date", "first-accessed-online", "proprietary")},
		member{"dataset-attributes", labelled("dataset-version", "dataset_type", "proprietary")},
		member{"platform", textOnly}, member{"publisher", textOnly}, member{"publisher-id", publisherID},
		member{"data-type", &schema{kind: "string", values: []string{"dataset"}}},
		member{"yop", textOnly}, member{"uri", anyScalar},
		member{"performance", listOf([]string{"instance", "period"},
			member{"period", &schema{
				kind: "object", untyped: true, sound: period, required: periodMembers, members: periodOf(textOnly, textOnly),
			}},
			member{"instance", instance},
		)},
	)
}

var periodMembers = []string{"begin-date", "end-date"}

func periodOf(begin, end *schema) []member { return []member{{"begin-date", begin}, {"end-date", end}} }

// period reads an object of two dates, the end not before the begin.
func period(c *checker) {
	periodDates.checkMembers(c)
	if c.end < c.begin {
		c.refuse("end-date %s is before begin-date %s", c.end, c.begin)
	}
}

var periodDates = (&schema{required: periodMembers, members: periodOf(
	textWith(func(c *checker) { c.begin = c.date() }), textWith(func(c *checker) { c.end = c.date() }),
)}).ready()

func filledText(c *checker) {
	if len(c.text()) == 0 {
		c.refuse("can't be blank")
	}
}

func integer(c *checker) {
	if first := c.Kind(); first != '-' && (first < '0' || first > '9') {
		c.unexpected("an integer")
	}
	word := c.Number()
	if _, err := strconv.ParseInt(string(word), 10, 64); err != nil {
		c.refuse("an integer expected, not %s", word)
	}
}

// date reads a day, YYYY-MM-DD.
func (c *checker) date() string {
	day := string(c.text())
	if _, err := time.Parse(time.DateOnly, day); err != nil {
		c.refuse("%q is not a date, YYYY-MM-DD", day)
	}
	return day
}

func countryCounts(c *checker) {
	c.object(func(name []byte) rule {
		if len(name) != 2 || name[0] < 'a' || name[0] > 'z' || name[1] < 'a' || name[1] > 'z' {
			c.refuse("%q is not a lowercase two-letter country code", name)
		}
		return integer
	})
}

// countries are the codes of ISO 3166-1 alpha-2.
const countries = "ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bl bm bn bo bq br bs bt bv bw by bz " +
	"ca cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg eh er es et fi fj fk fm fo fr ga gb gd ge gf gg " +
	"gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw ky kz " +
	"la lb lc li lk lr ls lt lu lv ly ma mc md me mf mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz na nc ne nf ng ni nl no np nr nu nz " +
	"om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw sa sb sc sd se sg sh si sj sk sl sm sn so sr ss st sv sx sy sz " +
	"tc td tf tg th tj tk tl tm tn to tr tt tv tw tz ua ug um us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw"

func isCountry(name string) bool {
	return len(name) == 2 && strings.Contains(" "+countries+" ", " "+name+" ")
}

// respell renames the members of a value at every depth.
func respell(v any, name func(string) string) any {
	switch v := v.(type) {
	case object:
		o := make(object, len(v))
		for member, value := range v {
			o[name(member)] = respell(value, name)
		}
		return o
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = respell(v[i], name)
		}
		return out
	}
	return v
}

func underscored(name string) string { return strings.ReplaceAll(name, "-", "_") }

// sorted are the names of an object, so that responses are the same each time.
func sorted(o object) iter.Seq[string] { return slices.Values(slices.Sorted(maps.Keys(o))) }
