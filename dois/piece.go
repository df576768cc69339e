package dois

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"

	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

// decode reads the records of batches, until there are no more.
func (s *splitter) decode() {
	for b := range s.work {
		if !s.stopped() {
			b.decode()
		}
		b.decoded <- struct{}{}
	}
}

func (b *batch) decode() {
	budget := jsonlex.NewBudget(batchBudget)
	if cap(b.text) > batchSize {
		budget = jsonlex.NewBudget(longBudget)
	}
	for i := range b.pieces {
		p := &b.pieces[i]
		r := &Record{}
		if p.err = r.readArchived(p.text, budget); p.err != nil {
			budget.Renew()
			continue
		}
		p.record = r
	}
}

// damage is what makes a piece no record.
func (p *piece) damage(member string) ArchiveError {
	at := p.offset
	if fault, ok := errors.AsType[*jsonlex.SyntaxError](p.err); ok {
		at += fault.Offset
	}
	return ArchiveError{Member: member, Line: p.line, Offset: at, Err: p.err}
}

var errNoDOI = errors.New("it is no record: it names no DOI")

// readArchived reads a record as a resource, or as its attributes alone.
func (r *Record) readArchived(text []byte, budget *jsonlex.Budget) error {
	kind, resource := resourceType(text)
	if resource && kind != "" && kind != "dois" {
		return fmt.Errorf("it is no record, but a resource of the type %.40q", kind)
	}
	err := jsonlex.Unmarshal(text, func(d *decoder) error {
		d.Use(budget)
		if d.Spend(int(reflect.TypeFor[Record]().Size())); resource {
			e := envelope{record: r}
			resourceJSON.Read(d, &e)
			return cmp.Or(d.Err(), e.finish())
		}
		readAttributes(d, r)
		r.unite()
		return nil
	})
	if err != nil {
		return err
	}
	if r.DOI == "" {
		r.DOI = r.nameInID()
	}
	if r.DOI == "" {
		return errNoDOI
	}
	return nil
}

// nameInID is the DOI of attributes that have it only in the member id, often as an
// address of the resolver.
func (r *Record) nameInID() string {
	var id string
	if _, err := r.Decode("id", &id); err != nil {
		return ""
	}
	name, err := doi.Parse(id)
	if err != nil {
		return ""
	}
	return name
}

// resourceType tells whether a JSON text is a resource rather than the attributes of
// one, and its type, if that comes before the attributes.
func resourceType(text []byte) (kind string, resource bool) {
	l := jsonlex.OfBytes(text)
	l.Begin()
	for i := 0; ; i++ {
		name, more := l.Key(i)
		if !more {
			return kind, false
		}
		switch string(name) {
		case "attributes":
			return kind, true
		case "type":
			if l.Kind() == '"' {
				kind = string(l.Text())
				continue
			}
			l.Skip()
		case "id", "relationships", "links", "meta":
			l.Skip()
		default:
			return kind, false
		}
	}
}
