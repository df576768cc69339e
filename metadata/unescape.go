package metadata

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/lazy"
)

// Unescape restores the texts of a record that was read from the service's JSON, and returns
// a warning (code ambiguous) for each text that it had to guess, and one (code lossy) for each that lacks
// markup which its counterpart in the XML has. Package dois applies it to every record that it reads.
//
// Of metadata that came as XML, the deployed service shows titles, subjects, descriptions,
// sizes and formats as HTML: "Salt & Pepper" becomes "Salt &amp; Pepper", and other tags than
// <i>, <b>, <sub> and a few more are dropped. Of names, places, award numbers and the parts
// of related items it resolves references such as &amp;. Metadata that came as JSON are shown
// as they were sent, except for subjects. Nothing in the JSON tells the two apart; so a text
// that was read and written back would be stored escaped.
//
// The texts become those of stored, the XML of the same record, where the JSON shows nothing
// else; white space stays that of the JSON. Where stored is nil or differs, references in a
// text that the service may have escaped are resolved, as nearly always is right, and the
// text is ambiguous: it could also have these references in its XML. Records that earlier versions of the
// service have read from XML may lack parts between < and >.
func Unescape(r *Record, stored []byte) []datacite.Finding {
	if r == nil || !mayHaveMarkup(stored) && !r.mayBeHTML() {
		return nil
	}
	var u unescaper
	s, err := ParseXML(bytes.NewReader(stored))
	if err != nil { // the service has no XML of this record that could be read
		s = &Record{}
	}
	u.html((*path)(nil).dot("titles"), titleTexts(r.Titles), titleTexts(s.Titles))
	u.html((*path)(nil).dot("subjects"), textsOf(r.Subjects, "subject", func(v *Subject) *string {
		return &v.Subject
	}), textsOf(s.Subjects, "subject", func(v *Subject) *string { return &v.Subject }))
	u.html((*path)(nil).dot("sizes"), textsOf(r.Sizes, "", itself), textsOf(s.Sizes, "", itself))
	u.html((*path)(nil).dot("formats"), textsOf(r.Formats, "", itself), textsOf(s.Formats, "", itself))
	u.html((*path)(nil).dot("descriptions"), descriptionTexts(r.Descriptions), descriptionTexts(s.Descriptions))
	u.items(r.RelatedItems, s.RelatedItems)
	unescapePeople(r.Creators, s.Creators, theCreator)
	unescapePeople(r.Contributors, s.Contributors, theContributor)
	eachPair(r.GeoLocations, s.GeoLocations, func(v, s *GeoLocation) { unresolve(&v.Place, s.Place) })
	eachPair(r.FundingReferences, s.FundingReferences, func(v, s *FundingReference) {
		unresolve(&v.AwardNumber, s.AwardNumber)
	})
	return u.guessed
}

type unescaper struct{ guessed []datacite.Finding }

// A htmlText is a text that the service shows as HTML.
type htmlText struct {
	member string
	text   *string
	breaks *[]int // of a description
}

func textsOf[T any](list []T, member string, text func(*T) *string) []htmlText {
	out := make([]htmlText, len(list))
	for i := range list {
		out[i] = htmlText{member: member, text: text(&list[i])}
	}
	return out
}

func itself(text *string) *string { return text }

func titleTexts(titles []Title) []htmlText {
	return textsOf(titles, "title", func(v *Title) *string { return &v.Title })
}

func descriptionTexts(list []Description) []htmlText {
	out := textsOf(list, "description", func(v *Description) *string { return &v.Description })
	for i := range out {
		out[i].breaks = &list[i].Breaks
	}
	return out
}

// html restores the texts of a list. The service leaves out empty items and repeats, and may
// add some.
func (u *unescaper) html(at *path, read, stored []htmlText) {
	forms := make([]string, len(stored))
	for i := range stored {
		forms[i] = htmlForm(*stored[i].text)
	}
	next := 0
	for i, v := range read {
		rest := forms[next:min(next+reach, len(forms))]
		if n := slices.Index(rest, htmlForm(*v.text)); n >= 0 {
			v.restore(stored[next+n])
			next += n + 1
		} else if i >= next && len(read) == len(stored) && strings.ContainsAny(*stored[i].text, "&<>") {
			u.guessed = append(u.guessed, datacite.Finding{
				Path: at.item(i).dot(v.member).String(), Code: datacite.CodeLossy, Value: *v.text, Warning: true,
				Reason: fmt.Sprintf("the record's XML has %.300q, of which the service made this", *stored[i].text),
			})
			*v.text = plain(*v.text)
		} else if text := plain(*v.text); text != *v.text {
			u.guessed = append(u.guessed, datacite.Finding{
				Path: at.item(i).dot(v.member).String(), Code: datacite.CodeAmbiguous, Value: *v.text, Warning: true,
				Reason: fmt.Sprintf("is ambiguous in the service's JSON; assumed %.80q, and the record's XML tells which", text),
			})
			*v.text = text
		}
	}
}

func (v *htmlText) restore(stored htmlText) {
	if v.breaks != nil && len(*stored.breaks) > 0 {
		*v.text, *v.breaks = *stored.text, *stored.breaks
	}
	if squish(bare(*v.text)) != squish(bare(*stored.text)) {
		*v.text = *stored.text
	}
}

// htmlForm is what texts have in common of which the service makes the same HTML.
func htmlForm(text string) string {
	kept, _ := served(bare(text))
	return strings.Join(strings.Fields(kept), "")
}

func (u *unescaper) items(read, stored []RelatedItem) {
	of := func(i int) *RelatedItem {
		if len(read) == len(stored) {
			return &stored[i]
		}
		return &RelatedItem{}
	}
	for i := range read {
		v, s := &read[i], of(i)
		u.html((*path)(nil).dot("relatedItems").item(i).dot("titles"), titleTexts(v.Titles), titleTexts(s.Titles))
		unescapePeople(v.Creators, s.Creators, theCreator)
		unescapePeople(v.Contributors, s.Contributors, theContributor)
		unresolve(&v.Volume, s.Volume)
		unresolve(&v.Issue, s.Issue)
		unresolve(&v.FirstPage, s.FirstPage)
		unresolve(&v.LastPage, s.LastPage)
		unresolve(&v.Publisher, s.Publisher)
		unresolve(&v.Edition, s.Edition)
	}
}

func unescapePeople[T any](read, stored []T, person func(*T) *Creator) {
	eachPair(read, stored, func(v, s *T) {
		unresolve(&person(v).Name, person(s).Name)
		unresolve(&person(v).GivenName, person(s).GivenName)
		unresolve(&person(v).FamilyName, person(s).FamilyName)
		// of records that an earlier version of the service read
		eachPair(person(v).Affiliation, person(s).Affiliation, func(v, s *Affiliation) { unresolve(&v.Name, s.Name) })
	})
}

// eachPair calls do for the items of two lists if both have the same number.
func eachPair[T any](read, stored []T, do func(v, s *T)) {
	if len(read) != len(stored) {
		return
	}
	for i := range read {
		do(&read[i], &stored[i])
	}
}

// unresolve restores a text in which the service has resolved references.
func unresolve(text *string, stored string) {
	if resolved := unescapedXML(stored); resolved != stored && tidyName(resolved) == tidyName(*text) {
		*text = stored
	}
}

// mayHaveMarkup reports whether XML may have a text that the service's JSON shows changed.
func mayHaveMarkup(stored []byte) bool {
	return bytes.IndexByte(stored, '&') >= 0 || bytes.Contains(stored, []byte("<![CDATA[")) ||
		bytes.Contains(stored, []byte("<br"))
}

// mayBeHTML reports whether the record has a text with a reference.
func (r *Record) mayBeHTML() bool {
	has := func(text string) bool { return strings.IndexByte(text, '&') >= 0 }
	inTitle := func(t Title) bool { return has(t.Title) }
	return slices.ContainsFunc(r.Titles, inTitle) || slices.ContainsFunc(r.Sizes, has) ||
		slices.ContainsFunc(r.Formats, has) ||
		slices.ContainsFunc(r.Subjects, func(s Subject) bool { return has(s.Subject) }) ||
		slices.ContainsFunc(r.Descriptions, func(d Description) bool { return has(d.Description) }) ||
		slices.ContainsFunc(r.RelatedItems, func(i RelatedItem) bool { return slices.ContainsFunc(i.Titles, inTitle) })
}

var (
	servedForm = lazy.Regexp(`^(?:[^&<>]|&(?:amp|lt|gt);|</?(?:` + strings.Join(keptTags, "|") + `)(?:\s[^<>]*)?>)*$`)
	// needed are the references of HTML, with what follows where it decides about their need.
	needed     = lazy.Regexp(`&(?:amp;(?:#[0-9xX]|[A-Za-z][A-Za-z0-9]*;)?|lt;[A-Za-z/!?]?|gt;)`)
	escapedTag = lazy.Regexp(`&lt;[A-Za-z/!?]`)
)

// plain is the text with the fewest references of which the service makes this HTML. A text
// that is not such HTML stays as it is.
func plain(text string) string {
	if strings.IndexByte(text, '&') < 0 || !servedForm().MatchString(text) {
		return text
	}
	brackets := !escapedTag().MatchString(text) // whoever escapes a tag escapes all of it
	return needed().ReplaceAllStringFunc(text, func(found string) string {
		switch {
		case found == "&amp;":
			return "&"
		case found == "&lt;" && brackets:
			return "<"
		case found == "&gt;" && brackets:
			return ">"
		}
		return found // it would have a meaning without
	})
}
