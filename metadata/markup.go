package metadata

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/lazy"
)

// keptTags are the elements that the service keeps in titles, subjects, descriptions, sizes
// and formats. It reads these as HTML, and writes HTML again.
var keptTags = []string{"strong", "em", "b", "i", "code", "pre", "sub", "sup", "br"}

// markup is a comment, an instruction or a tag; one that is not closed extends to the end
// of the text. Any other "<" is text.
var markup = lazy.Regexp(`(?s)<!--.*?(?:-->|$)|<\?(?:[^>]*>)?|<(/?)([A-Za-z][\w:.-]*)(?:(?:[^>"']|"[^"]*"|'[^']*')*>` +
	`|[^>]*(?:>|$))|</`)

// served is the HTML that the service makes of a text, and the first markup that it removes
// or adds, "" if there is none.
func served(text string) (kept, changed string) {
	if !strings.Contains(text, "<") {
		return escaped(text), ""
	}
	var out strings.Builder
	var open []string
	closeTo := func(n int) {
		for ; len(open) > n; open = open[:len(open)-1] {
			out.WriteString("</" + open[len(open)-1] + ">")
		}
	}
	at := 0
	for _, m := range markup().FindAllStringSubmatchIndex(text, -1) {
		out.WriteString(escaped(text[at:m[0]]))
		at = m[1]
		piece, name := text[m[0]:m[1]], ""
		if m[4] >= 0 {
			name = strings.ToLower(text[m[4]:m[5]])
		}
		isEnd := strings.HasPrefix(piece, "</")
		place := len(open) - 1
		for place >= 0 && open[place] != name {
			place--
		}
		switch {
		case !slices.Contains(keptTags, name), isEnd && place < 0:
			changed = cmp.Or(changed, piece)
		case isEnd:
			if place < len(open)-1 {
				changed = cmp.Or(changed, piece)
			}
			closeTo(place)
		case name == "br":
			out.WriteString("<br>")
		default:
			out.WriteString("<" + name + ">")
			open = append(open, name)
			if strings.HasSuffix(piece, "/>") {
				closeTo(len(open) - 1)
			}
		}
	}
	out.WriteString(escaped(text[at:]))
	if len(open) > 0 {
		changed = cmp.Or(changed, "<"+open[0]+">")
	}
	closeTo(0)
	return out.String(), changed
}

var references = lazy.Regexp(`&(?:#\d+|#[xX][0-9A-Fa-f]+|[A-Za-z][A-Za-z0-9]*);`)

var htmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// escaped is a text without markup as HTML; references stay.
func escaped(text string) string {
	if !strings.ContainsAny(text, "<>&") {
		return text
	}
	return htmlEscapes.Replace(references().ReplaceAllStringFunc(text, html.UnescapeString))
}

// markupWarning finds markup that the service changes.
func markupWarning(value string) *fault {
	if _, changed := served(value); changed != "" {
		return warning(datacite.CodeLossy, fmt.Sprintf("the service reads this text as HTML and changes %.40q", changed))
	}
	return nil
}

var xmlReferences = lazy.Regexp(`&(?:amp|lt|gt|quot|apos|#\d+|#[xX][0-9A-Fa-f]+);`)

func unescapedXML(text string) string {
	return xmlReferences().ReplaceAllStringFunc(text, html.UnescapeString)
}

// referenceWarning finds references in texts whose XML the service resolves twice.
func referenceWarning(value string) *fault {
	if found := xmlReferences().FindString(value); found != "" {
		return warning(datacite.CodeLossy,
			fmt.Sprintf("the service replaces %s in this text with %s", found, html.UnescapeString(found)))
	}
	return nil
}
