package archive

import (
	"errors"

	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

// decode reads the records of batches until there are no more.
func (s *splitter) decode() {
	for b := range s.work {
		select {
		case <-s.quit:
		default:
			for i := range b.pieces {
				b.pieces[i].decode()
			}
		}
		b.decoded <- struct{}{}
	}
}

func (p *piece) decode() {
	r := &dois.Record{}
	if p.err = r.UnmarshalJSON(p.text); p.err == nil && r.DOI == "" {
		r.DOI, p.err = nameInID(r)
	}
	if p.err == nil {
		p.record = r
	}
}

// damage describes a piece that is not a record.
func (p *piece) damage(member string) *damage {
	at := p.offset
	if fault, ok := errors.AsType[*jsonlex.SyntaxError](p.err); ok {
		at += fault.Offset
	}
	return &damage{place: place{member, p.line, at}, err: p.err}
}

var errNoDOI = errors.New("not a record: it has no DOI")

// nameInID returns the DOI of attributes that have it only in the member id, often as
// an address of the resolver.
func nameInID(r *dois.Record) (string, error) {
	var id string
	if _, err := r.Decode("id", &id); err != nil {
		return "", errNoDOI
	}
	name, err := doi.Parse(id)
	if err != nil {
		return "", errNoDOI
	}
	return name, nil
}
