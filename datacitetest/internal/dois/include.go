package dois

import (
	"cmp"
	"strings"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
	"github.com/datacite-go/datacite-go/datacitetest/internal/record"
	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// resource is a record in a response. The deployed service shows the registration agency
// only if requested, and the check of the landing page only to the owner, for a single
// record (lupo app/serializers/datacite_doi_serializer.rb).
func (s *Service) resource(rec *record.Record, v record.View, p wire.Params, account *record.Account) object {
	if s.Deployed {
		v.Deployed, v.Owner = true, v.Single && (rec.Owner(account) || rec.Below(account))
		_, v.Agency = p["include_other_registration_agencies"]
		v.Known = s.Known
	}
	return rec.Resource(v)
}

// include adds the clients of records, if the parameters request them; media, of a single
// record, are none.
func (s *Service) include(body object, p wire.Params, records []*record.Record, single bool) {
	withClients := wire.Listed(p["include"], "client")
	if !withClients && !(single && wire.Listed(p["include"], "media")) {
		return
	}
	included, seen := []any{}, map[string]bool{}
	for _, rec := range records {
		id := strings.ToLower(rec.Client)
		if withClients && id != "" && !seen[id] {
			seen[id] = true
			included = append(included, s.client(rec.Unpacked(), single))
		}
	}
	body["included"] = included
}

// clientMembers are the attributes of a client, and their defaults
// (lupo app/serializers/client_serializer.rb).
var clientMembers = object{
	"year": nil, "alternateName": nil, "description": nil, "language": []any{}, "clientType": "repository", "domains": "*",
	"re3data":  nil,
	"opendoar": nil, "issn": object{}, "url": nil, "created": nil, "updated": nil, "isActive": true, "name": nil, "symbol": nil,
}

// client is a repository. In lists, which come from the index, it has no prefixes.
func (s *Service) client(rec *record.Record, single bool) object {
	about := record.Parent(rec.Client, rec.Repository)
	attributes := object{}
	for name, value := range clientMembers {
		if said, known := about[name]; known {
			value = said
		}
		attributes[name] = value
	}
	relationships := object{"provider": record.Link(rec.Provider, "providers"), "prefixes": object{"data": []any{}}}
	if rec.Consortium != "" {
		relationships["consortium"] = record.Link(rec.Consortium, "providers")
	}
	for _, a := range s.Accounts {
		if !strings.EqualFold(a.ClientID, rec.Client) {
			continue
		}
		attributes["domains"] = cmp.Or(strings.Join(a.Domains, ","), "*")
		if single {
			links := []any{}
			for _, prefix := range a.Prefixes {
				links = append(links, object{"id": prefix, "type": "prefixes"})
			}
			relationships["prefixes"] = object{"data": links}
		}
	}
	return object{"id": names.Lower(rec.Client), "type": "clients", "attributes": attributes,
		"relationships": relationships}
}
