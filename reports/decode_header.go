package reports

import (
	"github.com/datacite-go/datacite-go/internal/jsonlex"
)

// Places of the members of a header.
const (
	headerReportName = iota
	headerReportID
	headerRelease
	headerCreatedBy
	headerCreated
	headerPeriod
	headerFilters
	headerAttributes
	headerExceptions
	headerAccount // this and what follows is added by the service, in reports shown alone
	headerYear
	headerMonth
)

var headerNames = []string{
	"report-name", "report-id", "release", "created-by", "created", "reporting-period", "report-filters", "report-attributes", "exceptions",
	"client-id", "year", "month",
}

// An origin is what the service adds to the header of a stored report: who sent
// it, and the month by which the service finds it.
type origin struct{ Account, Year, Month string }

// readHeader reads a header. What the service adds to it is left out.
func (d *decoder) readHeader(l *jsonlex.Lexer, h *Header) {
	*h = Header{}
	if l.Null() {
		return
	}
	l.Mark()
	for m := l.Object(d.header); m != jsonlex.End; m = l.Member(d.header, m) {
		d.readHeaderMember(l, m, h)
	}
	l.Unmark()
}

func (d *decoder) readHeaderMember(l *jsonlex.Lexer, member int, h *Header) {
	switch member {
	case headerReportName:
		h.ReportName = d.text(l)
	case headerReportID:
		h.ReportID = d.text(l)
	case headerRelease:
		h.Release = d.text(l)
	case headerCreatedBy:
		h.CreatedBy = d.text(l)
	case headerCreated:
		h.Created = Date(d.text(l))
	case headerPeriod:
		d.readPeriod(l, &h.ReportingPeriod)
	case headerFilters:
		h.ReportFilters = d.nameValues(l)
	case headerAttributes:
		h.ReportAttributes = d.nameValues(l)
	case headerExceptions:
		h.Exceptions = d.readExceptions(l)
	case headerAccount:
		d.origin.Account = d.text(l)
	case headerYear:
		d.origin.Year = d.text(l)
	case headerMonth:
		d.origin.Month = d.text(l)
	default:
		l.Skip()
	}
}

func (d *decoder) nameValues(l *jsonlex.Lexer) []NameValue {
	list := []NameValue{}
	if !each(l, func() { l.Spend(2 * sizeOf[NameValue]()); list = append(list, d.readNameValue(l)) }) {
		return nil
	}
	return list
}

// readNameValue reads a filter or attribute that is an object or a bare text.
func (d *decoder) readNameValue(l *jsonlex.Lexer) (v NameValue) {
	if l.Kind() != '{' {
		v.Value = d.text(l)
		return v
	}
	for m := l.Object(d.nameValue); m != jsonlex.End; m = l.Member(d.nameValue, m) {
		switch m {
		case 0:
			v.Name = d.text(l)
		case 1:
			v.Value = d.text(l)
		default:
			l.Skip()
		}
	}
	return v
}

func (d *decoder) readExceptions(l *jsonlex.Lexer) []Exception {
	list := []Exception{}
	if !each(l, func() { l.Spend(2 * sizeOf[Exception]()); list = append(list, d.readException(l)) }) {
		return nil
	}
	return list
}

func (d *decoder) readException(l *jsonlex.Lexer) (e Exception) {
	if l.Kind() != '{' {
		e.Message = d.text(l)
		return e
	}
	for m := l.Object(d.exception); m != jsonlex.End; m = l.Member(d.exception, m) {
		switch m {
		case 0:
			code, _ := wholeNumber(string(scalar(l))) // a code that is none is no reason to fail
			e.Code = int(code)
		case 1:
			e.Severity = d.text(l)
		case 2:
			e.Message = d.text(l)
		case 3:
			e.HelpURL = d.text(l)
		case 4:
			e.Data = d.text(l)
		default:
			l.Skip()
		}
	}
	return e
}

// UnmarshalJSON reads a header. Members that the service adds are left out.
func (h *Header) UnmarshalJSON(data []byte) error {
	return unmarshal(data, func(dec *decoder, l *jsonlex.Lexer) { dec.readHeader(l, h) })
}

// UnmarshalJSON reads an exception, with a code that is a number or a text.
func (e *Exception) UnmarshalJSON(data []byte) error {
	return unmarshal(data, func(dec *decoder, l *jsonlex.Lexer) { *e = dec.readException(l) })
}

// UnmarshalJSON reads a filter or attribute that is an object or a bare text.
func (n *NameValue) UnmarshalJSON(data []byte) error {
	return unmarshal(data, func(dec *decoder, l *jsonlex.Lexer) { *n = dec.readNameValue(l) })
}
