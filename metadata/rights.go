package metadata

import (
	_ "embed" // for the list
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/xmlscan"
)

// Rights is a licence or another statement of rights, of 2000 characters at most. The text
// may be empty if there is a URI.
type Rights struct {
	Rights                 string `json:"rights,omitempty"`
	RightsURI              string `json:"rightsUri,omitempty"`
	RightsIdentifier       string `json:"rightsIdentifier,omitempty"`
	RightsIdentifierScheme string `json:"rightsIdentifierScheme,omitempty"`
	SchemeURI              string `json:"schemeUri,omitempty"`
	Lang                   string `json:"lang,omitempty"`
}

var rightsElement = sync.OnceValue(func() *element[Rights] {
	return newElement("rights", textOnly,
		text("rights", datatype{fault: rightsRule, spaces: preserved, word: true},
			func(r *Rights) *string { return &r.Rights }),
		attribute("rightsURI", schemeAddress, func(r *Rights) *string { return &r.RightsURI }),
		attribute("rightsIdentifier", anyWord, func(r *Rights) *string { return &r.RightsIdentifier }),
		attribute("rightsIdentifierScheme", anyWord, func(r *Rights) *string { return &r.RightsIdentifierScheme }),
		also(checkSPDX),
		schemeURI(func(r *Rights) *string { return &r.SchemeURI }),
		lang(func(r *Rights) *string { return &r.Lang }),
	)
})

const maxRights = 2000

func rightsRule(value string) *fault {
	if n := utf8.RuneCountInString(value); n > maxRights {
		return newFault(datacite.CodeLimit,
			"the statement of rights has %d characters, the service accepts %d; shorten it and give its address", n, maxRights)
	}
	return nil
}

// SPDX returns the licence with an identifier of the SPDX list, such as CC-BY-4.0. The
// service has an older list, and adds the name of a licence on this list. [Record.Findings]
// warns of unknown identifiers. An empty identifier gives empty Rights.
func SPDX(id string) Rights {
	if id = strings.TrimSpace(id); id == "" {
		return Rights{}
	}
	return Rights{RightsIdentifier: id, RightsIdentifierScheme: "SPDX", SchemeURI: spdxURI, RightsURI: spdxURI + id}
}

// spdxText has the version of the SPDX License List and its identifiers, deprecated ones
// too, one on each line.
//
//go:embed spdx.txt
var spdxText string

type licenceList struct {
	version string
	ids     []string
	known   map[string]bool // in lower case: the service does not tell case apart
}

var spdxList = sync.OnceValue(func() licenceList {
	lines := strings.Split(strings.TrimSuffix(spdxText, "\n"), "\n")
	list := licenceList{strings.TrimPrefix(lines[0], "SPDX License List "), lines[1:], map[string]bool{}}
	for _, id := range list.ids {
		list.known[strings.ToLower(id)] = true
	}
	return list
})

// checkSPDX warns of an identifier that is not on the list. It may be newer than that.
func checkSPDX(c *checker, p *path, r *Rights) {
	if fold(r.RightsIdentifierScheme) != "spdx" {
		return
	}
	list := spdxList()
	if bare := xmlscan.Trim(r.RightsIdentifier); bare != "" && !list.known[strings.ToLower(bare)] {
		c.warn(datacite.CodeScheme, p.dot("rightsIdentifier"), r.RightsIdentifier,
			"version %s of the SPDX list has no licence %q%s", list.version, bare, vocabulary(list.ids).hint(bare))
	}
}
