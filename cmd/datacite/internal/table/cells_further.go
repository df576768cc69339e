package table

import (
	"errors"
	"fmt"
	"strings"

	"github.com/datacite-go/datacite-go/cmd/datacite/internal/lazy"
	"github.com/datacite-go/datacite-go/metadata"
)

func readContributors(text string, r *Row) error {
	for _, item := range split(text, ';') {
		role, person, ok := strings.Cut(item, ":")
		if !ok {
			return fmt.Errorf("%q does not begin with a role and a colon, as in Editor: Noether, Emmy", item)
		}
		c, err := creator(strings.TrimSpace(person))
		if err != nil {
			return err
		}
		kind := term[metadata.ContributorType](strings.TrimSpace(role))
		r.Record.Contributors = append(r.Record.Contributors, metadata.Contributor{Creator: c, ContributorType: kind})
	}
	return nil
}

func writeContributors(r *Row) string { return items(r.Record.Contributors, contributorCell) }

func contributorCell(c metadata.Contributor) string {
	return string(c.ContributorType) + ": " + creatorCell(c.Creator)
}

// crossrefEnd finds the Crossref Funder ID behind a name.
var crossrefEnd = lazy.Regexp(`^(.*?)\s*(https?://(?:dx\.)?doi\.org/10\.13039/\S+)$`)

func readFunding(text string, r *Row) error {
	for _, item := range split(text, ';') {
		parts := append(split(item, '|'), "", "", "")
		if strings.Join(parts[4:], "") != "" {
			return fmt.Errorf("%q is more than a funder, an award number, a title and a URL", item)
		}
		f := metadata.FundingReference{FunderName: parts[0], AwardNumber: parts[1], AwardTitle: parts[2], AwardURI: parts[3]}
		if name, scheme, id, ok := identified(parts[0]); ok {
			f.FunderName, f.FunderIdentifier, f.FunderIdentifierType = name, id, term[metadata.FunderIdentifierType](scheme)
		} else if at := rorEnd(parts[0]); at > 0 {
			id := metadata.Organization("N").ROR(parts[0][at+1:]).NameIdentifiers[0]
			f.FunderName = strings.TrimSpace(parts[0][:at])
			f.FunderIdentifier, f.FunderIdentifierType, f.SchemeURI = id.NameIdentifier, metadata.FunderROR, id.SchemeURI
		} else if found := crossrefEnd().FindStringSubmatch(parts[0]); found != nil {
			f.FunderName, f.FunderIdentifier, f.FunderIdentifierType = found[1], found[2], metadata.FunderCrossref
		}
		r.Record.FundingReferences = append(r.Record.FundingReferences, f)
	}
	return nil
}

func writeFunding(r *Row) string { return items(r.Record.FundingReferences, fundingCell) }

func fundingCell(f metadata.FundingReference) string {
	id := written(f.FunderIdentifier, string(f.FunderIdentifierType))
	if f.FunderIdentifierType == metadata.FunderCrossref && crossrefEnd().MatchString(f.FunderIdentifier) {
		id = f.FunderIdentifier
	}
	return join(strings.TrimSpace(f.FunderName+" "+id), f.AwardNumber, f.AwardTitle, f.AwardURI)
}

func readPlaces(text string, r *Row) error {
	for _, item := range split(text, ';') {
		var g metadata.GeoLocation
		for i, part := range split(item, '|') {
			kind, rest, _ := strings.Cut(part, " ")
			p, b := &g.Point, &g.Box
			switch {
			case kind == "point" && coordinates(rest, degrees{"lat": &p.Latitude, "lon": &p.Longitude}):
			case kind == "box" && coordinates(rest,
				degrees{"west": &b.West, "east": &b.East, "south": &b.South, "north": &b.North}):
			case i == 0:
				g.Place = part
			default:
				return fmt.Errorf("%q is neither a point nor a box: write point lat 46.5 lon 8.05, "+
					"or box west 6.8 east 10.5 south 45.8 north 47.8", part)
			}
		}
		r.Record.GeoLocations = append(r.Record.GeoLocations, g)
	}
	return nil
}

type degrees map[string]*metadata.Coordinate

// coordinates reads numbers that follow their names. It reports whether they are those that there should be.
func coordinates(text string, into degrees) bool {
	words := strings.Fields(text)
	if len(words) != 2*len(into) {
		return false
	}
	read := map[string]metadata.Coordinate{}
	for i := 0; i < len(words); i += 2 {
		if into[words[i]] == nil {
			return false
		}
		read[words[i]] = metadata.Coordinate(words[i+1])
	}
	for name, at := range into {
		if *at = read[name]; *at == "" {
			return false
		}
	}
	return true
}

func writePlaces(r *Row) string { return items(r.Record.GeoLocations, placeCell) }

func placeCell(g metadata.GeoLocation) string {
	parts := []string{g.Place}
	for _, part := range []string{pointCell(g.Point), boxCell(g.Box)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.TrimPrefix(join(parts...), " | ")
}

func pointCell(p metadata.Point) string {
	if p == (metadata.Point{}) {
		return ""
	}
	return fmt.Sprintf("point lat %s lon %s", p.Latitude, p.Longitude)
}

func boxCell(b metadata.Box) string {
	if b == (metadata.Box{}) {
		return ""
	}
	return fmt.Sprintf("box west %s east %s south %s north %s", b.West, b.East, b.South, b.North)
}

func readAlternates(text string, r *Row) error {
	for _, item := range split(text, ';') {
		id, kind, err := two(item, "an identifier and, after a |, its type")
		if err == nil && kind == "" {
			err = errors.New("an identifier needs its type after a |, as in ICE-7 | accession number")
		}
		if err != nil {
			return err
		}
		r.Record.AlternateIdentifiers = append(r.Record.AlternateIdentifiers,
			metadata.AlternateIdentifier{AlternateIdentifier: id, AlternateIdentifierType: kind})
	}
	return nil
}

func writeAlternates(r *Row) string { return items(r.Record.AlternateIdentifiers, alternateCell) }

func alternateCell(a metadata.AlternateIdentifier) string {
	return join(a.AlternateIdentifier, a.AlternateIdentifierType)
}

// textColumn is a column of a property that is one text.
func textColumn(c Column, member string, at func(*metadata.Record) *string) column {
	return column{c, false, member,
		func(text string, r *Row) error { *at(r.Record) = text; return nil },
		func(r *Row) string { return *at(r.Record) },
		func(said, r *metadata.Record) { *at(r) = *at(said) }}
}

// textsColumn is a column of a property that is a list of texts.
func textsColumn(c Column, member string, at func(*metadata.Record) *metadata.List[string]) column {
	return column{c, false, member,
		func(text string, r *Row) error {
			for _, item := range split(text, ';') {
				*at(r.Record) = append(*at(r.Record), unescaped(item))
			}
			return nil
		},
		func(r *Row) string { return items(*at(r.Record), func(text string) string { return join(text) }) },
		func(said, r *metadata.Record) { *at(r) = *at(said) }}
}
