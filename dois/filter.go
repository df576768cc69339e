package dois

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/metadata"
)

// A spelling turns a value of a filter into the form that the service compares, or says
// what is wrong with it. The service itself ignores what it cannot read, or finds nothing.
type spelling func(value string) (sent, fault string)

// spelled returns the options with the values of all filters as they are sent. A value that
// would find less than it says is a fault.
func (o *ListOptions) spelled(f *faults) *ListOptions {
	out := *o
	for _, list := range []struct {
		name   string
		values *[]string
		spell  spelling
	}{
		{"ProviderID", &out.ProviderID, asGiven},
		{"ClientID", &out.ClientID, asGiven},
		{"ResourceTypeID", &out.ResourceTypeID, typeID},
		{"Prefix", &out.Prefix, prefix},
	} {
		if *list.values != nil && len(*list.values) == 0 {
			f.add("ListOptions."+list.name, "value", emptyList)
		}
		*list.values = slices.Clone(*list.values)
		for i, value := range *list.values {
			(*list.values)[i] = f.spell(fmt.Sprintf("ListOptions.%s[%d]", list.name, i), value, list.spell)
		}
	}
	for _, text := range []struct {
		name  string
		value *string
		spell spelling
	}{
		{"ConsortiumID", &out.ConsortiumID, asGiven},
		{"SchemaVersion", &out.SchemaVersion, schemaVersion},
	} {
		if *text.value != "" {
			*text.value = f.spell("ListOptions."+text.name, *text.value, text.spell)
		}
	}
	return &out
}

const emptyList = "is an empty list, which would not filter; leave it nil to find all"

// spell refuses what no value has: the service would ignore a blank filter, read a comma as
// the end of a value, and compare white space.
func (f *faults) spell(path, value string, spell spelling) string {
	switch {
	case strings.TrimSpace(value) == "":
		f.add(path, "missing", "is empty; the service would ignore it")
	case strings.TrimSpace(value) != value:
		f.add(path, "value", "is %q; the service would look for the white space around it, too", value)
	case !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl):
		f.add(path, "encoding", "is %q; the service has no value with such a character", value)
	case strings.Contains(value, ","):
		f.add(path, "value", "is %q; the service reads a comma as the end of a value, so give each value an item of a list, or use Query", value)
	default:
		sent, fault := spell(value)
		if fault != "" {
			f.add(path, "value", "%q is not %s", value, fault)
		}
		return sent
	}
	return value
}

func asGiven(value string) (string, string) { return value, "" }

var schemaPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d(\.\d+)?$`) })

func schemaVersion(value string) (string, string) {
	if schemaPattern().MatchString(value) {
		return value, ""
	}
	return value, `a version of the schema such as "4" or "4.5"`
}

func prefix(value string) (string, string) {
	if doi.IsPrefix(value) {
		return value, ""
	}
	return value, `a prefix such as "10.5072"`
}

// typeID is the id of a resourceTypeGeneral, however its words are joined. An unknown one
// may be newer than this package.
func typeID(value string) (string, string) {
	for _, term := range metadata.Values[metadata.ResourceTypeGeneral]() {
		id := strings.TrimPrefix(strings.ReplaceAll(snake(string(term)), "_", "-"), "-")
		if joined.Replace(strings.ToLower(value)) == joined.Replace(id) {
			return id, ""
		}
	}
	return value, ""
}

var joined = strings.NewReplacer("-", "", "_", "", " ", "")
