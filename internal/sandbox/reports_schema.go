package sandbox

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// schema is what the deployed service lets a value of a plain report be: first
// by the names it permits, then by its schema.
type schema struct {
	kind     string             // object, array, string, integer, or "" for any scalar
	members  map[string]*schema // of an object
	required []string
	element  *schema // of an array
	values   []string
}

// unpermitted appends the names that the service does not take, and those of
// values that are no object or array where it expects one.
func (s *schema) unpermitted(v any, name string, odd []string) []string {
	switch v := v.(type) {
	case object:
		if s.kind != "object" {
			return append(odd, underscored(name))
		}
		for member := range sorted(v) {
			if inner := s.members[member]; inner == nil {
				odd = append(odd, underscored(member))
			} else {
				odd = inner.unpermitted(v[member], member, odd)
			}
		}
	case []any:
		if s.kind != "array" {
			return append(odd, underscored(name))
		}
		for _, e := range v {
			if _, bare := e.(string); bare && s.element.kind == "object" {
				continue
			}
			odd = s.element.unpermitted(e, name, odd)
		}
	default:
		if s.kind == "object" || s.kind == "array" {
			return append(odd, underscored(name))
		}
	}
	return odd
}

// faults appends what the schema says against the value.
func (s *schema) faults(v any, path string, found []object) []object {
	if kind := jsonKind(v); s.kind != "" && kind != s.kind {
		return append(found, schemaFault(path, "of type %s did not match the following type: %s", kind, s.kind))
	}
	switch v := v.(type) {
	case object:
		for _, name := range s.required {
			if _, ok := v[name]; !ok {
				found = append(found, schemaFault(path, "did not contain a required property of '%s'", name))
			}
		}
		for name := range sorted(v) {
			if inner := s.members[name]; inner != nil {
				found = inner.faults(v[name], path+"/"+name, found)
			}
		}
	case []any:
		for i, e := range v {
			found = s.element.faults(e, fmt.Sprintf("%s/%d", path, i), found)
		}
	case string:
		if len(s.values) > 0 && !slices.Contains(s.values, v) {
			found = append(found, schemaFault(path, "value %q did not match one of the following values: %s", v, strings.Join(s.values, ", ")))
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
	case float64:
		if v == float64(int64(v)) {
			return "integer"
		}
	}
	return "number"
}

var (
	anyScalar = &schema{}
	textOnly  = &schema{kind: "string"}
)

func manyOf(element *schema) *schema { return &schema{kind: "array", element: element} }

func labelled(types ...string) *schema {
	return manyOf(&schema{kind: "object", required: []string{"type", "value"}, members: map[string]*schema{
		"type": {kind: "string", values: types}, "value": textOnly,
	}})
}

var labelledNames = manyOf(&schema{kind: "object", members: map[string]*schema{"name": textOnly, "value": textOnly}})

var sentHeader = &schema{kind: "object", members: map[string]*schema{
	"report-name": anyScalar, "report-id": anyScalar, "release": anyScalar, "created": anyScalar, "created-by": anyScalar,
	"report-filters": labelledNames, "report-attributes": labelledNames,
	"reporting-period": {kind: "object", members: map[string]*schema{"begin-date": anyScalar, "end-date": anyScalar}},
	"exceptions": manyOf(&schema{kind: "object", members: map[string]*schema{
		"code": anyScalar, "severity": anyScalar, "message": anyScalar, "help-url": anyScalar, "data": anyScalar,
	}}),
}}

var sentInstance = &schema{
	kind: "object", required: []string{"count", "metric-type", "access-method"},
	members: map[string]*schema{
		"count": {kind: "integer"},
		"metric-type": {kind: "string", values: []string{
			"total-dataset-requests", "unique-dataset-requests", "total-dataset-investigations", "unique-dataset-investigations",
		}},
		"access-method":  {kind: "string", values: []string{"regular", "machine"}},
		"country-counts": {kind: "object", members: countryMembers()},
	},
}

var sentDatasets = manyOf(&schema{
	kind:     "object",
	required: []string{"data-type", "dataset-title", "platform", "publisher", "publisher-id", "performance"},
	members: map[string]*schema{
		"uri": anyScalar, "yop": textOnly, "platform": textOnly, "publisher": textOnly, "dataset-title": textOnly,
		"data-type":            {kind: "string", values: []string{"dataset"}},
		"publisher-id":         labelled("isni", "orcid", "grid", "urn", "client-id"),
		"dataset-id":           labelled("doi", "DOI", "proprietary", "uri"),
		"dataset-contributors": labelled("name", "orcid", "isni"),
		"dataset-dates":        labelled("pub-date", "first-accessed-online", "proprietary"),
		"dataset-attributes":   labelled("dataset-version", "dataset_type", "proprietary"),
		"performance": manyOf(&schema{
			kind: "object", required: []string{"period", "instance"},
			members: map[string]*schema{
				"period": {
					kind: "object", required: []string{"begin-date", "end-date"},
					members: map[string]*schema{"begin-date": textOnly, "end-date": textOnly},
				},
				"instance": manyOf(sentInstance),
			},
		}),
	},
})

// countries are the codes of ISO 3166-1 alpha-2.
const countries = "ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bl bm bn bo bq br bs bt bv bw by bz " +
	"ca cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg eh er es et fi fj fk fm fo fr ga gb gd ge gf gg " +
	"gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw ky kz " +
	"la lb lc li lk lr ls lt lu lv ly ma mc md me mf mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz na nc ne nf ng ni nl no np nr nu nz " +
	"om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw sa sb sc sd se sg sh si sj sk sl sm sn so sr ss st sv sx sy sz " +
	"tc td tf tg th tj tk tl tm tn to tr tt tv tw tz ua ug um us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw"

func countryMembers() map[string]*schema {
	all := map[string]*schema{}
	for code := range strings.FieldsSeq(countries) {
		all[code] = anyScalar
	}
	return all
}

// respell renames the members of a value at every depth; country codes stay.
func respell(v any, name func(string) string) any {
	switch v := v.(type) {
	case object:
		o := make(object, len(v))
		for member, value := range v {
			if spelled := name(member); name(spelled) != name("country-counts") {
				o[spelled] = respell(value, name)
			} else {
				o[spelled] = value
			}
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

// hyphened spells a name as "help-url", whether it came as help_url, helpUrl or
// Help-URL.
func hyphened(name string) string {
	var b strings.Builder
	last := ' '
	for _, r := range name {
		if unicode.IsUpper(r) && (unicode.IsLower(last) || unicode.IsDigit(last)) {
			b.WriteByte('-')
		}
		last = r
		if r == '_' {
			r = '-'
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func underscored(name string) string { return strings.ReplaceAll(name, "-", "_") }

// sorted are the names of an object, so that answers are the same each time.
func sorted(o object) iter.Seq[string] { return slices.Values(slices.Sorted(maps.Keys(o))) }
