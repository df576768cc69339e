package dois

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/deepcopy"
	"github.com/datacite-go/datacite-go/internal/input"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/metadata"
)

// A Record is one DOI: its metadata and what the service knows about it
// (specification §2.2). In JSON it is the object of its attributes, with related records as lists
// of ids.
//
// A JSON member of an unexpected type is not an error. Where a field needs another type, a
// number is read as text, a text as a number or as the name of an affiliation or a publisher, and a
// single value as a list of one; anything else leaves the field zero, and Warnings names it (code shape),
// as it names texts that are not UTF-8 (code encoding). Raw has the attributes as sent.
//
// Texts are those of the record's XML: what the service escapes in its JSON is undone (see
// [metadata.Unescape]). Where the response has no XML, as in a list without
// ListOptions.Detail, Warnings names the texts that had to be guessed (code ambiguous); otherwise it
// names those that lack a part of the XML (code lossy). AlternateIdentifiers has the
// other names of the resource, from either of the two members in which the service sends them.
type Record struct {
	metadata.Record

	URL        string         `json:"url,omitempty"` // where the DOI resolves to; empty for drafts
	ContentURL []string       `json:"contentUrl,omitempty"`
	Container  Container      `json:"container,omitzero"` // the series, journal or collection that the resource is in
	State      datacite.State `json:"state,omitempty"`
	IsActive   bool           `json:"isActive,omitempty"` // findable
	Reason     string         `json:"reason,omitempty"`   // why a DOI was hidden
	Source     string         `json:"source,omitempty"`   // the interface that created it
	// Agency: registration agency; of records found with include_other_registration_agencies in
	// ListOptions.Extra
	Agency          string `json:"agency,omitempty"`
	MetadataVersion int    `json:"metadataVersion,omitempty"` // how often the metadata changed
	Published       string `json:"published,omitempty"`       // often empty in lists; prefer PublicationYear

	Created    Timestamp `json:"created,omitempty"`    // in the service
	Updated    Timestamp `json:"updated,omitempty"`    // in the service
	Registered Timestamp `json:"registered,omitempty"` // in the global handle system

	// Counters. Record.Has distinguishes a zero from a counter that was not sent.
	ViewCount      int `json:"viewCount,omitempty"`
	DownloadCount  int `json:"downloadCount,omitempty"`
	CitationCount  int `json:"citationCount,omitempty"`
	ReferenceCount int `json:"referenceCount,omitempty"`
	PartCount      int `json:"partCount,omitempty"`
	PartOfCount    int `json:"partOfCount,omitempty"`
	VersionCount   int `json:"versionCount,omitempty"`
	VersionOfCount int `json:"versionOfCount,omitempty"`

	Client string `json:"client,omitempty"` // id of the repository account, if the response names it

	// The fields below come with Detail; Get of the deployed service always sends them.
	Prefix            string   `json:"prefix,omitempty"`
	Suffix            string   `json:"suffix,omitempty"`
	ViewsOverTime     Series   `json:"viewsOverTime,omitempty"` // as sent, in parts; see Series.ByMonth
	DownloadsOverTime Series   `json:"downloadsOverTime,omitempty"`
	CitationsOverTime Series   `json:"citationsOverTime,omitempty"`
	MetadataXML       []byte   `json:"xml,omitempty"`        // the metadata XML, decoded; nil if there is none
	Provider          string   `json:"provider,omitempty"`   // id of the member
	References        []string `json:"references,omitempty"` // DOI names, here and below
	Citations         []string `json:"citations,omitempty"`
	Parts             []string `json:"parts,omitempty"`
	PartOf            []string `json:"partOf,omitempty"`
	Versions          []string `json:"versions,omitempty"`
	VersionOf         []string `json:"versionOf,omitempty"`

	// Raw holds the attributes exactly as the service sent them, Relationships the member
	// of that name. Records read one after the other share blocks of 64 KiB: to keep a few
	// of many records for long, use Clone.
	Raw           json.RawMessage `json:"-"`
	Relationships json.RawMessage `json:"-"`

	// Warnings are about the metadata that Create or Update sent, such as values that the
	// service drops, and about texts that they damaged (code escaped): the first 100. Of a
	// record that was read, they are its ambiguous texts, and the first 10 values each that were
	// not read and that are not UTF-8.
	Warnings []datacite.Finding `json:"-"`

	Fields   []string   `json:"-"` // those of ListOptions.Fields; nil means all attributes
	Included []Resource `json:"-"` // the resources of GetOptions.Include
}

// A Timestamp is a point in time as the service writes it, such as
// 2021-07-08T09:53:54Z; empty if the service sent none.
type Timestamp string

// Time reads the Timestamp.
func (t Timestamp) Time() (time.Time, error) {
	at, err := time.Parse(time.RFC3339, string(t))
	return at, input.Invalid(err, datacite.Finding{Code: datacite.CodeDate})
}

// A Container is the publication in which the resource appeared, as the service derives it
// from related items and descriptions.
type Container struct {
	Type           string `json:"type,omitempty"`
	Title          string `json:"title,omitempty"`
	Identifier     string `json:"identifier,omitempty"`
	IdentifierType string `json:"identifierType,omitempty"`
	Volume         string `json:"volume,omitempty"`
	Issue          string `json:"issue,omitempty"`
	Edition        string `json:"edition,omitempty"`
	Number         string `json:"number,omitempty"`
	ChapterNumber  string `json:"chapterNumber,omitempty"`
	FirstPage      string `json:"firstPage,omitempty"`
	LastPage       string `json:"lastPage,omitempty"`

	Identifiers []ContainerIdentifier `json:"identifiers,omitempty"`
}

// A ContainerIdentifier is one of several names of a [Container], such as an ISSN.
type ContainerIdentifier struct {
	Identifier     string `json:"identifier"`
	IdentifierType string `json:"identifierType,omitempty"`
}

// A Resource is an object of another type in a response, such as the repository account of
// a record.
type Resource struct {
	ID            string          `json:"id"`
	Type          string          `json:"type"`
	Attributes    json.RawMessage `json:"attributes,omitempty"`
	Relationships json.RawMessage `json:"relationships,omitempty"`
}

// Has reports whether the service sent the attribute, even if it is null.
func (r *Record) Has(attribute string) bool { return r.member(attribute) != nil }

// Decode reads any attribute into v, such as one without a field. If the record has no such
// attribute, it leaves v as it is and returns false.
func (r *Record) Decode(attribute string, v any) (bool, error) {
	raw := r.member(attribute)
	if raw == nil {
		return false, nil
	}
	return true, json.Unmarshal(raw, v)
}

// member is an attribute as it was sent; nil if it was not.
func (r *Record) member(attribute string) json.RawMessage {
	if r == nil {
		return nil
	}
	var found json.RawMessage
	l := jsonlex.OfBytes(r.Raw).Tolerate(true)
	for name := range l.Members() {
		wanted := string(name) == attribute
		l.Kind()
		start := l.Offset()
		if l.Skip(); wanted {
			found = r.Raw[start:l.Offset():l.Offset()]
		}
	}
	return found
}

// Clone returns a deep copy of the record, including Raw and Relationships. Records that
// were read one after the other share blocks of memory, and each of them keeps its whole
// block alive. To keep a few of many records, keep clones of them.
func (r *Record) Clone() *Record { return deepcopy.Of(r) }

// A Series has the counts of several periods. The service sends some periods in several
// parts and in no fixed order; ByMonth and ByYear add the parts up.
type Series []Count

// A Count is the count, or a part of it, of one month or one year.
type Count struct {
	YearMonth string `json:"yearMonth,omitempty"` // such as "2021-07", for views and downloads
	Year      string `json:"year,omitempty"`      // such as "2021", for citations
	Total     int    `json:"total"`
}

// ByMonth returns each month once, with all its counts added up, the oldest first. Counts
// without a readable month are left out.
func (s Series) ByMonth() Series {
	return s.by("2006-01", func(c Count) Count { return Count{YearMonth: c.YearMonth} })
}

// ByYear returns each year once, with all its counts added up, the oldest first. Counts
// without a readable month or year are left out.
func (s Series) ByYear() Series {
	return s.by("2006", func(c Count) Count {
		if month, err := time.Parse("2006-01", c.YearMonth); err == nil {
			return Count{Year: month.Format("2006")}
		}
		return Count{Year: c.Year}
	})
}

// by adds up the counts of which period makes the same.
func (s Series) by(layout string, period func(Count) Count) (out Series) {
	totals := map[Count]int{}
	for _, c := range s {
		totals[period(c)] += c.Total
	}
	for c, total := range totals {
		if _, err := time.Parse(layout, c.period()); err == nil {
			c.Total = total
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b Count) int { return strings.Compare(a.period(), b.period()) })
	return out
}

func (c Count) period() string { return c.YearMonth + c.Year }
