package reports

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/internal/sandbox/wire"
)

// schema is what the deployed service lets a value of a plain report be: first
// by the names it permits, then by its schema.
type schema struct {
	kind      string             // object, array, string, integer, or "" for any scalar
	members   map[string]*schema // of an object
	required  []string
	element   *schema // of an array
	values    []string
	unchecked bool // the schema does not know it
	untyped   bool // the schema names members, but no type
}

// container says whether a value may be an object or an array. The service does
// not tell the two apart before its schema does.
func (s *schema) container() bool { return s.kind == "object" || s.kind == "array" }

// object is the schema of the objects that stand here, alone or in an array.
func (s *schema) object() *schema {
	if s.kind == "array" {
		return s.element
	}
	return s
}

// permit takes from an object what the service drops in silence: what is no object
// in an array of objects. Names that it does not permit, and values that
// are no object or array where it expects one, are an error, which names those
// of one object, the innermost first.
func (s *schema) permit(v object, shown func(string) string) error {
	var odd []string
	for name := range sorted(v) {
		inner := s.members[name]
		switch value := v[name].(type) {
		case object:
			if inner == nil || !inner.container() {
				odd = append(odd, shown(name))
				continue
			}
			if err := inner.object().permit(value, below(name, shown)); err != nil {
				return err
			}
		case []any:
			if inner == nil || !inner.container() {
				odd = append(odd, shown(name))
				continue
			}
			value = slices.DeleteFunc(value, func(e any) bool { _, ok := e.(object); return !ok })
			for _, e := range value {
				if err := inner.object().permit(e.(object), below(name, shown)); err != nil {
					return err
				}
			}
			v[name] = value
		default:
			if inner == nil || inner.container() {
				odd = append(odd, shown(name))
			}
		}
	}
	if len(odd) == 0 {
		return nil
	}
	plural := map[bool]string{true: "s"}[len(odd) > 1]
	return wire.Fail(http.StatusUnprocessableEntity, "found unpermitted parameter%s: :%s", plural, strings.Join(odd, ", :"))
}

// below says how errors spell names below a member: those of datasets as they
// were sent.
func below(member string, shown func(string) string) func(string) string {
	if member == "report-datasets" {
		return func(name string) string { return name }
	}
	return shown
}

// faults appends what the schema of that name says against the value.
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
		for member := range sorted(v) {
			if inner := s.members[member]; inner != nil {
				found = inner.faults(v[member], path+"/"+member, name, found)
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

var labelledNames = manyOf(&schema{
	kind: "object", required: []string{"name", "value"}, members: map[string]*schema{"name": textOnly, "value": textOnly},
})

var (
	sentReport = reportOf(
		[]string{"data-type", "dataset-title", "platform", "publisher", "publisher-id", "performance"},
		"total-dataset-investigations", "total-dataset-requests", "unique-dataset-investigations", "unique-dataset-requests",
	)
	sentResolutions = reportOf([]string{"dataset-id", "performance"}, "total-resolutions", "unique-resolutions")
)

// reportOf is the schema of reports whose datasets have such members and metrics.
func reportOf(required []string, metrics ...string) *schema {
	return &schema{kind: "object", members: map[string]*schema{
		"report-name": textOnly, "report-id": textOnly, "release": textOnly, "created": textOnly, "created-by": textOnly,
		"report-filters": labelledNames, "report-attributes": labelledNames,
		"reporting-period": {kind: "object", unchecked: true, members: map[string]*schema{"begin-date": anyScalar, "end-date": anyScalar}},
		"exceptions": {kind: "array", unchecked: true, element: &schema{kind: "object", members: map[string]*schema{
			"code": anyScalar, "severity": anyScalar, "message": anyScalar, "help-url": anyScalar, "data": anyScalar,
		}}},
		"report-datasets": datasetsOf(required, metrics),
	}}
}

func instanceOf(metrics []string) *schema {
	return &schema{
		kind: "object", required: []string{"count", "metric-type", "access-method"},
		members: map[string]*schema{
			"count":          {kind: "integer"},
			"metric-type":    {kind: "string", values: metrics},
			"access-method":  {kind: "string", values: []string{"regular", "machine"}},
			"country-counts": {kind: "object", unchecked: true, members: countryMembers()},
		},
	}
}

func datasetsOf(required, metrics []string) *schema {
	return manyOf(&schema{
		kind:     "object",
		required: required,
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
						kind: "object", untyped: true, required: []string{"begin-date", "end-date"},
						members: map[string]*schema{"begin-date": textOnly, "end-date": textOnly},
					},
					"instance": manyOf(instanceOf(metrics)),
				},
			}),
		},
	})
}

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

// compacted is a value without the nulls in its arrays, which the service never
// sees.
func compacted(v any) any {
	switch v := v.(type) {
	case object:
		for name := range v {
			v[name] = compacted(v[name])
		}
	case []any:
		kept := []any{}
		for _, e := range v {
			if e != nil {
				kept = append(kept, compacted(e))
			}
		}
		return kept
	}
	return v
}

// absent says whether a value is one that counts as missing.
func absent(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return strings.TrimSpace(v) == ""
	case []any:
		return len(v) == 0
	case object:
		return len(v) == 0
	}
	return false
}

// hyphened spells a name as "help-url", whether it came as help_url, helpUrl, Help-URL
// or "help url".
func hyphened(name string) string {
	name = wordEnd.ReplaceAllString(acronymEnd.ReplaceAllString(name, "$1-$2"), "$1-$2")
	return strings.ToLower(betweenWords.ReplaceAllString(name, "-"))
}

var (
	acronymEnd   = regexp.MustCompile(`([A-Z]+)([A-Z][a-z])`)
	wordEnd      = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	betweenWords = regexp.MustCompile(`[-_\s]+`)
)

func underscored(name string) string { return strings.ReplaceAll(name, "-", "_") }

func withHyphens(name string) string { return strings.ReplaceAll(name, "_", "-") }

// sorted are the names of an object, so that answers are the same each time.
func sorted(o object) iter.Seq[string] { return slices.Values(slices.Sorted(maps.Keys(o))) }
