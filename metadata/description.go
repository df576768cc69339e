package metadata

import (
	"strconv"
	"sync"

	"github.com/datacite-go/datacite-go"
)

// Description is a text about the resource. Markup in it is plain text: <br/> becomes
// &lt;br/&gt; in XML, and the service keeps it.
//
// A <br/> element, the only one that the schema allows in a description, is read as a line
// feed. Breaks has the byte offsets of these line feeds, in ascending order; all others are
// line feeds in XML, too. Leave Breaks empty in texts of your own: the service's JSON drops
// a <br/> element without a space, but keeps line feeds.
type Description struct {
	Description     string          `json:"description"`
	DescriptionType DescriptionType `json:"descriptionType,omitempty"`
	Lang            string          `json:"lang,omitempty"`
	Breaks          []int           `json:"-"`
}

// isBreak reports whether entry i of Breaks is valid.
func (d *Description) isBreak(i int) bool {
	at := d.Breaks[i]
	return at >= 0 && at < len(d.Description) && d.Description[at] == '\n' && (i == 0 || d.Breaks[i-1] < at)
}

var descriptionElement = sync.OnceValue(func() *element[Description] {
	return newElement("description", mixed,
		descriptionText(),
		mandatory("descriptionType", termOf(descriptionTypes, "description type"),
			func(d *Description) *DescriptionType { return &d.DescriptionType }),
		lang(func(d *Description) *string { return &d.Lang }),
		also(func(c *checker, p *path, d *Description) {
			if len(d.Breaks) > 0 {
				c.warn(datacite.CodeLossy, p.dot("description"), d.Description,
					"in its JSON, the service joins the words around a <br/> element; use a line feed")
			}
		}),
		part[Description]{element: &elementPart[Description]{
			particle: particle{&elementRule{name: "br", kind: nothing}, repeated, step{}, ""}}},
	)
})

// descriptionText is the text with its <br/> elements.
func descriptionText() part[Description] {
	p := text("description", datatype{warning: markupWarning, spaces: preserved}, func(d *Description) *string {
		return &d.Description
	})
	p.text.read = func(x *parser, d *Description) { d.Description, d.Breaks = x.content(), x.breaks }
	p.text.write = func(w *writer, end string, d *Description) bool { return w.broken(d, end) }
	return p
}

// broken ends a description with its text, in which Breaks are elements.
func (w *writer) broken(d *Description, end string) (present bool) {
	if len(d.Breaks) == 0 {
		return w.text(end, d.Description)
	}
	buf, done := append(w.buf, '>'), 0
	for i, at := range d.Breaks {
		if !d.isBreak(i) {
			w.bad = true
			return true
		}
		buf = append(w.escape(buf, d.Description[done:at], &textEscapes), "<br/>"...)
		done = at + 1
	}
	w.buf = append(w.escape(buf, d.Description[done:], &textEscapes), end...)
	return true
}

// breaks checks Breaks.
func (c *checker) breaks(p *path, d *Description) {
	for i, at := range d.Breaks {
		if !d.isBreak(i) {
			c.fault(datacite.CodeElement, p.item(i), strconv.Itoa(at),
				"each entry must be the offset of a line feed in the description, in ascending order")
		}
	}
}

// DescriptionType is the kind of a description.
type DescriptionType string

// Frequent values of [DescriptionType]; write others as the schema has them. [Values] lists all.
const (
	DescriptionAbstract          DescriptionType = "Abstract"
	DescriptionMethods           DescriptionType = "Methods"
	DescriptionSeriesInformation DescriptionType = "SeriesInformation"
)

var descriptionTypes = terms(DescriptionAbstract, DescriptionMethods, DescriptionSeriesInformation, "TableOfContents",
	"TechnicalInfo", "Other")

func (DescriptionType) vocabulary() vocabulary { return descriptionTypes }
