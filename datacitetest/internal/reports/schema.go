package reports

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
	"github.com/datacite-go/datacite-go/internal/lazy"
)

// schema is what a value of a report may be. By the specification the first fault refuses a
// report. The deployed service checks the names that it permits, and then its schema.
type schema struct {
	kind      string // object, array, string, integer, or "" for any scalar
	members   []member
	required  []string
	element   *schema // of an array
	values    []string
	countries bool // the members are codes of countries, with integers

	// By the specification alone.
	sound func(v any) (why string) // a further check; "" if it is passed
	open  bool                     // further values are allowed
	texts bool                     // texts, too

	unchecked bool // absent from the deployed service's schema
	untyped   bool // ... or names members, but no type
}

type member struct {
	name string
	*schema
}

// member is the schema of a member, nil if there is none of that name.
func (s *schema) member(name string) *schema {
	if i := slices.IndexFunc(s.members, func(m member) bool { return m.name == name }); i >= 0 {
		return s.members[i].schema
	}
	if s.countries && isCountry(name) {
		return whole
	}
	return nil
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

// A fault is what is wrong with the value at a path.
type fault struct{ path, text string }

// faults appends the faults of a value, in the order of the schema; strictly by the specification,
// or as the deployed service finds them.
func (s *schema) faults(v any, path string, strict bool, found []fault) []fault {
	kind, wanted, before := jsonKind(v), s.kind, len(found)
	if strict {
		wanted = cmp.Or(wanted, "string")
	}
	text, isText := v.(string)
	if !strict && s.unchecked || strict && s.texts && isText || before > wire.MaxFaults {
		return found
	}
	add := func(format string, args ...any) { found = append(found, fault{path, fmt.Sprintf(format, args...)}) }
	if wanted != "" && kind != wanted && (strict || !s.untyped) {
		add("of type %s did not match the following type: %s", kind, wanted)
	}
	if len(s.values) > 0 && !(strict && s.open) && (!isText || !slices.Contains(s.values, text)) {
		add("value %s did not match one of the following values: %s", inspect(v), strings.Join(s.values, ", "))
	}
	switch v := v.(type) {
	case object:
		if strict {
			found = s.others(v, path, found)
		}
		for _, member := range s.required {
			if _, ok := v[member]; !ok {
				add("did not contain a required property of '%s'", member)
			}
		}
		for _, m := range s.members {
			if value, ok := v[m.name]; ok {
				found = m.faults(value, path+"/"+m.name, strict, found)
			}
		}
	case []any:
		for i, e := range v {
			if s.element != nil {
				found = s.element.faults(e, fmt.Sprintf("%s/%d", path, i), strict, found)
			}
		}
	case json.Number:
		if _, err := v.Int64(); strict && err != nil && kind == wanted {
			add("is too large")
		}
	}
	if strict && s.sound != nil && len(found) == before {
		if why := s.sound(v); why != "" {
			add("%s", why)
		}
	}
	return found
}

// others appends the faults of members that the schema does not name.
func (s *schema) others(v object, path string, found []fault) []fault {
	for name := range sorted(v) {
		switch {
		case s.countries && !countryForm().MatchString(name):
			found = append(found, fault{path, fmt.Sprintf("%q is not a lowercase two-letter country code", name)})
		case s.countries:
			found = whole.faults(v[name], path+"/"+name, true, found)
		case s.member(name) == nil:
			found = append(found, fault{path, "found unpermitted parameter: :" + name})
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

func listOf(required []string, members ...member) *schema {
	return &schema{kind: "array", element: &schema{kind: "object", required: required, members: members}}
}

// labelled is an array of {type, value}.
func labelled(types ...string) *schema {
	return listOf([]string{"type", "value"}, member{"type", &schema{kind: "string", values: types}}, member{"value", text})
}

// named is an array of {name, value}; the specification also allows strings.
func named() *schema {
	s := listOf([]string{"name", "value"}, member{"name", text}, member{"value", text})
	s.element.texts = true
	return s
}

var (
	scalar, text, whole = &schema{}, &schema{kind: "string"}, &schema{kind: "integer"}

	filled = &schema{kind: "string", sound: func(v any) string { return map[any]string{"": "can't be blank"}[v] }}
	date   = &schema{kind: "string", sound: func(v any) string {
		if _, err := time.Parse(time.DateOnly, v.(string)); err != nil {
			return fmt.Sprintf("%q is not a date, YYYY-MM-DD", v)
		}
		return ""
	}}

	// Publishers use other types in practice.
	publisherID = func() *schema {
		s := labelled("isni", "orcid", "grid", "urn", "client-id")
		s.element.members[0].open, s.element.members[0].sound = true, filled.sound
		return s
	}()

	headerMembers = []member{
		{"report-name", text}, {"report-id", filled}, {"release", filled}, {"created", date}, {"created-by", filled},
		{"reporting-period", period(schema{unchecked: true})},
		{"report-filters", named()}, {"report-attributes", named()},
		{"exceptions", &schema{kind: "array", unchecked: true, element: &schema{kind: "object", members: []member{
			{"code", whole}, {"severity", scalar}, {"message", scalar}, {"help-url", scalar}, {"data", scalar},
		}}}},
	}

	// reportHeader is the header of specification §2.1. The specification does
	// not say which members are required; these are required by the servers.
	reportHeader = &schema{
		kind: "object", members: headerMembers,
		required: []string{"report-id", "release", "created-by", "created", "reporting-period"},
	}

	reportDatasets = datasetEntries()

	// sentReport are header and datasets in one object, as the service checks them.
	sentReport = &schema{kind: "object",
		members: append(slices.Clone(headerMembers), member{"report-datasets", reportDatasets})}
)

// datasetEntries are those of specification §2.1. The types of identifiers, contributors and dates are those that
// the servers accept.
func datasetEntries() *schema {
	metrics := []string{"total-dataset-investigations", "total-dataset-requests", "unique-dataset-investigations",
		"unique-dataset-requests"}
	instance := listOf([]string{"count", "metric-type", "access-method"},
		member{"metric-type", &schema{kind: "string", values: metrics}},
		member{"count", whole},
		member{"access-method", &schema{kind: "string", values: []string{"regular", "machine"}}},
		member{"country-counts", &schema{kind: "object", unchecked: true, countries: true}},
	)
	return listOf([]string{"data-type", "dataset-title", "performance", "platform", "publisher", "publisher-id"},
		member{"dataset-title", text},
		member{"dataset-id", labelled("doi", "DOI", "proprietary", "uri")},
		member{"dataset-contributors", labelled("name", "orcid", "isni")},
		member{"dataset-dates", labelled("pub-date", "first-accessed-online", "proprietary")},
		member{"dataset-attributes", labelled("dataset-version", "dataset_type", "proprietary")},
		member{"platform", text}, member{"publisher", text}, member{"publisher-id", publisherID},
		member{"data-type", &schema{kind: "string", values: []string{"dataset"}}},
		member{"yop", text}, member{"uri", scalar},
		member{"performance", listOf([]string{"instance", "period"},
			member{"period", period(schema{untyped: true})}, member{"instance", instance},
		)},
	)
}

// period is an object of two dates, the end not before the begin.
func period(s schema) *schema {
	s.kind, s.required, s.members = "object", []string{"begin-date",
		"end-date"}, []member{{"begin-date", date}, {"end-date", date}}
	s.sound = func(v any) string {
		begin, end := v.(object)["begin-date"].(string), v.(object)["end-date"].(string)
		if end < begin {
			return fmt.Sprintf("end-date %s is before begin-date %s", end, begin)
		}
		return ""
	}
	return &s
}

var countryForm = lazy.Regexp(`\A[a-z]{2}\z`)

// countries are the codes of ISO 3166-1 alpha-2.
const countries = "ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bl bm bn bo bq br bs " +
	"bt bv bw by bz " +
	"ca cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg eh er es et fi fj fk fm fo fr " +
	"ga gb gd ge gf gg " +
	"gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km " +
	"kn kp kr kw ky kz " +
	"la lb lc li lk lr ls lt lu lv ly ma mc md me mf mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz na nc ne nf " +
	"ng ni nl no np nr nu nz " +
	"om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw sa sb sc sd se sg sh si sj sk sl sm sn so sr ss st " +
	"sv sx sy sz " +
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
