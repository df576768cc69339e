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
		{"ResourceType", &out.ResourceType, asGiven},
		{"License", &out.License, asGiven},
		{"Subject", &out.Subject, asGiven},
		{"FieldOfScience", &out.FieldOfScience, asGiven},
		{"AffiliationCountry", &out.AffiliationCountry, country},
		{"FunderID", &out.FunderID, doiName},
		{"Certificate", &out.Certificate, certificate},
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
		{"Source", &out.Source, asGiven},
		{"UserID", &out.UserID, orcid},
		{"AffiliationID", &out.AffiliationID, ror},
		{"FundedBy", &out.FundedBy, ror},
		{"Re3dataID", &out.Re3dataID, doiName},
		{"OpendoarID", &out.OpendoarID, digits},
		{"ClientType", &out.ClientType, clientType},
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

func pattern(form string, as func(string) string, what string) spelling {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(form) })
	return func(value string) (string, string) {
		if m := compiled().FindStringSubmatch(value); m != nil {
			return as(m[1]), ""
		}
		return value, what
	}
}

var (
	country       = pattern(`^([A-Za-z]{2})$`, strings.ToUpper, "a country code of two letters")
	schemaVersion = pattern(`^(\d(?:\.\d+)?)$`, strings.ToLower, `a version of the schema such as "4" or "4.5"`)
	ror           = pattern(`(?i)^(?:https?://)?(?:ror\.org/)?(0[a-z0-9]{6}\d\d)$`, strings.ToLower, "a ROR id such as 04wxnsj81")
	digits        = pattern(`^(\d+)$`, strings.ToLower, "a number")
	orcid         = pattern(`(?i)^(?:https?://)?(?:www\.)?(?:orcid\.org/)?(\d{4}-\d{4}-\d{4}-\d{3}[\dX])$`, strings.ToUpper, "an ORCID iD such as 0000-0001-5727-2427")
	clientType    = oneOf("a type of repository", "repository", "periodical", "igsnCatalog", "raidRegistry")
	certificate   = oneOf("a certificate of repositories", "CoreTrustSeal", "DIN 31644", "DINI", "DSA", "RatSWD", "WDS", "CLARIN")
)

// oneOf are the values that the service accepts for a repository.
func oneOf(what string, known ...string) spelling {
	return func(value string) (string, string) {
		for _, term := range known {
			if strings.EqualFold(term, value) {
				return term, ""
			}
		}
		return value, what + ": " + strings.Join(known, ", ")
	}
}

func prefix(value string) (string, string) {
	if doi.IsPrefix(value) {
		return value, ""
	}
	return value, `a prefix such as "10.5072"`
}

func doiName(value string) (string, string) {
	name, err := doi.Parse(value)
	if err != nil {
		return value, `a DOI such as "10.13039/501100000780"`
	}
	return strings.ToLower(name), ""
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
