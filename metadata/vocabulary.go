package metadata

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/spelling"
)

// A vocabulary is a controlled list of the schema. Kernel 4 has never removed a value.
type vocabulary []string

// A Term is a value of one of the schema's vocabularies, such as a [DateType]. Values that
// the schema does not list are read and written unchanged; [Record.Validate] reports them.
type Term interface {
	~string
	vocabulary() vocabulary
}

// terms makes a vocabulary of constants and other values.
func terms[T ~string](values ...T) vocabulary {
	v := make(vocabulary, len(values))
	for i, value := range values {
		v[i] = string(value)
	}
	return v
}

// Values returns the values of a vocabulary: Values[DateType]().
func Values[T Term]() []T {
	var out []T
	for _, value := range T.vocabulary("") {
		out = append(out, T(value))
	}
	return out
}

// termOf requires a value of a vocabulary.
func termOf(v vocabulary, what string) datatype {
	return datatype{word: true, fault: func(value string) *fault {
		switch {
		case value == "":
			return newFault(datacite.CodeMissing, "the %s is mandatory", what)
		case slices.Contains(v, value):
			return nil
		}
		return newFault(datacite.CodeVocabulary, "the schema has no %s %q%s", what, value, v.hint(value))
	}}
}

func (v vocabulary) hint(value string) string {
	if fold(value) == "funder" && slices.Contains(v, "Sponsor") {
		return "; a funder goes into fundingReferences"
	}
	if nearest := v.nearest(value); nearest != "" {
		return fmt.Sprintf("; did you mean %s?", nearest)
	}
	return ""
}

// aliases are other words that people write for values of the schema.
var aliases = map[string]string{
	"article": "JournalArticle", "author": "Researcher", "film": "Audiovisual", "movie": "Audiovisual",
	"paper": "JournalArticle", "person": "Personal", "organisation": "Organizational", "published": "Issued",
	"publication": "Text", "thesis": "Dissertation", "video": "Audiovisual", "website": "InteractiveResource",
	"fundref": "Crossref Funder ID", "funderid": "Crossref Funder ID", "crossreffunder": "Crossref Funder ID",
}

// nearest returns the value that was probably meant, "" if none is close.
func (v vocabulary) nearest(value string) string {
	folded := fold(value)
	if alias := aliases[folded]; alias != "" && slices.Contains(v, alias) {
		return alias
	}
	best, least := "", min(3, len(folded)/3+1)
	for _, candidate := range v {
		if d := spelling.Distance(folded, fold(candidate), least); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// fold keeps letters and digits, in lower case.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}
