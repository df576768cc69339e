package dois

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/mds/metadata"
)

// A Record is one DOI: its metadata and what the service knows about it
// (specification §2.2). What the flags Affiliation and Publisher change on the
// wire does not show here: a plain text is the name of an affiliation or of a
// publisher.
//
// Reading never fails because a member has an odd type: such a member is left
// zero here, and Raw has it.
type Record struct {
	metadata.Record

	URL    string `json:"url,omitempty"` // where the DOI resolves to; empty for drafts
	State  State  `json:"state,omitempty"`
	Reason string `json:"reason,omitempty"` // why a DOI was hidden
	Source string `json:"source,omitempty"` // through which interface it was made

	Created    Timestamp `json:"created,omitempty"`    // in the service
	Updated    Timestamp `json:"updated,omitempty"`    // in the service
	Registered Timestamp `json:"registered,omitempty"` // in the global handle system

	ViewCount      int `json:"viewCount,omitempty"`
	DownloadCount  int `json:"downloadCount,omitempty"`
	CitationCount  int `json:"citationCount,omitempty"`
	ReferenceCount int `json:"referenceCount,omitempty"`
	PartCount      int `json:"partCount,omitempty"`
	PartOfCount    int `json:"partOfCount,omitempty"`
	VersionCount   int `json:"versionCount,omitempty"`
	VersionOfCount int `json:"versionOfCount,omitempty"`

	Client string `json:"-"` // id of the repository account, if the answer names it

	// What follows comes with Detail, and always from Get.
	Prefix            string       `json:"prefix,omitempty"`
	Suffix            string       `json:"suffix,omitempty"`
	ViewsOverTime     []MonthCount `json:"viewsOverTime,omitempty"`
	DownloadsOverTime []MonthCount `json:"downloadsOverTime,omitempty"`
	CitationsOverTime []YearCount  `json:"citationsOverTime,omitempty"`
	MetadataXML       []byte       `json:"-"` // the metadata XML, decoded; nil if there is none
	Provider          string       `json:"-"` // id of the member
	References        []string     `json:"-"` // DOI names
	Citations         []string     `json:"-"`
	Parts             []string     `json:"-"`
	PartOf            []string     `json:"-"`
	Versions          []string     `json:"-"`
	VersionOf         []string     `json:"-"`

	// Raw holds the attributes exactly as the service sent them, and
	// Relationships what stood beside them.
	Raw           json.RawMessage `json:"-"`
	Relationships json.RawMessage `json:"-"`
}

// A State is what a DOI can be (specification §3.1).
type State string

// The states of a DOI.
const (
	StateDraft      State = "draft"
	StateRegistered State = "registered" // resolves and is not found by searching
	StateFindable   State = "findable"   // resolves and is found by searching
)

// A Timestamp is a point in time as the service writes it, such as
// 2021-07-08T09:53:54Z; empty if there is none.
type Timestamp string

// Time reads the Timestamp.
func (t Timestamp) Time() (time.Time, error) { return time.Parse(time.RFC3339, string(t)) }

// A MonthCount is what was counted in one month, such as "2021-07".
type MonthCount struct {
	YearMonth string `json:"yearMonth"`
	Total     int    `json:"total"`
}

// A YearCount is what was counted in one year, such as "2021".
type YearCount struct {
	Year  metadata.Text `json:"year"`
	Total int           `json:"total"`
}

// Decode reads an attribute that this package has no field for into v. It
// leaves v as it is and returns false if the record has no such attribute.
func (r *Record) Decode(name string, v any) (bool, error) {
	var attributes map[string]json.RawMessage
	if err := json.Unmarshal(r.Raw, &attributes); err != nil {
		return false, err
	}
	raw, ok := attributes[name]
	if !ok {
		return false, nil
	}
	return true, json.Unmarshal(raw, v)
}

// A resource is a record as the envelope holds it.
type resource struct {
	ID            string          `json:"id"`
	Attributes    json.RawMessage `json:"attributes"`
	Relationships json.RawMessage `json:"relationships"`
}

func (res resource) record() (Record, error) {
	var r Record
	// The decoder leaves a member of another type alone, goes on, and reports the
	// first one at the end. Raw keeps what it could not place.
	err := json.Unmarshal(res.Attributes, &r)
	if _, odd := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !odd {
		return r, err
	}
	if r.DOI == "" {
		r.DOI = res.ID
	}
	r.Raw, r.Relationships = res.Attributes, res.Relationships
	r.details(res)
	return r, nil
}

// details reads what is base64, and what the specification shows as attributes
// and the deployed service as relationships.
func (r *Record) details(res resource) {
	var attributes, relationships map[string]json.RawMessage
	_ = json.Unmarshal(res.Attributes, &attributes) // its shape was seen to be right
	_ = json.Unmarshal(res.Relationships, &relationships)
	ids := func(name string) []string {
		if list := resourceIDs(relationships[name]); list != nil {
			return list
		}
		return resourceIDs(attributes[name])
	}
	r.Client, r.Provider = strings.Join(ids("client"), ","), strings.Join(ids("provider"), ",")
	r.References, r.Citations = ids("references"), ids("citations")
	r.Parts, r.PartOf = ids("parts"), ids("partOf")
	r.Versions, r.VersionOf = ids("versions"), ids("versionOf")

	var encoded string
	if json.Unmarshal(attributes["xml"], &encoded) == nil {
		if xml, err := base64.StdEncoding.DecodeString(encoded); err == nil && len(xml) > 0 {
			r.MetadataXML = xml
		}
	}
}

// resourceIDs reads {"data": …}, an id, an object with an id, or a list of those.
func resourceIDs(raw json.RawMessage) []string {
	var one struct {
		Data json.RawMessage `json:"data"`
		ID   string          `json:"id"`
	}
	var id string
	var list []json.RawMessage
	switch {
	case len(raw) == 0 || string(raw) == "null":
	case json.Unmarshal(raw, &id) == nil:
		return []string{id}
	case json.Unmarshal(raw, &list) == nil:
		ids := make([]string, 0, len(list))
		for _, item := range list {
			ids = append(ids, resourceIDs(item)...)
		}
		return ids
	case json.Unmarshal(raw, &one) == nil && one.ID != "":
		return []string{one.ID}
	default:
		return resourceIDs(one.Data)
	}
	return nil
}
