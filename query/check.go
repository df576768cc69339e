package query

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go"
)

// Check returns a [*datacite.ValidationError] if expr has parts that the service, as specified
// or as deployed, would refuse or misread, or years in the wrong order. It has a finding for
// each part, whose Reason begins with the part. A nil expression means no query and has no
// fault.
//
// A query that Check accepts cannot change the query around it when it is part of a larger
// one. A [Raw] text that is the whole query is accepted if the deployed service reads it as
// written.
func Check(expr Expr) error {
	if expr == nil {
		return nil
	}
	if n := expr.tree(); n.Kind == kindRaw {
		return checkRaw(n.Text)
	}
	return new(checker).check(expr.tree())
}

// checkRaw compares how the deployed service reads text with what the text means. Slashes
// need no backslash in it, because that service adds one.
func checkRaw(text string) error {
	fail := func(format string, args ...any) error {
		return datacite.Invalidf("query", datacite.CodeQuery, "%s: %s", excerpt(text), fmt.Sprintf(format, args...))
	}
	served, err := parse(withSlashes(renameFields(text)))
	if err != nil {
		return fail("the service cannot read it: %s", err.Reason)
	}
	meant, err := read(text)
	if err != nil {
		return fail("it cannot be read: %s", err.Reason)
	}
	reread, err := parse(renameFields(fromNode(meant).String()))
	if read := fromNode(served).String(); err != nil || fromNode(reread).String() != read {
		return fail("the service reads it as %s", excerpt(read))
	}
	c := checker{raw: true}
	return c.check(meant)
}

// read reads raw text as the deployed service does, which accepts slashes without a backslash.
func read(text string) (*node, *SyntaxError) {
	n, err := parse(text)
	if err != nil {
		n, err = parse(withSlashes(text))
	}
	return n, err
}

// A checker collects the faults of a query.
type checker struct {
	faults []datacite.Finding
	leaves int
	raw    bool // the text is sent as it is, not as String writes it
}

func (c *checker) check(n *node) error {
	c.node(n, "", 0)
	if c.leaves > maxClauses {
		c.fault(fmt.Sprintf("a query of %d clauses", c.leaves), datacite.CodeLimit, "the service accepts %d in all",
			maxClauses)
	}
	return datacite.Invalid(c.faults...)
}

func (c *checker) fault(part string, code datacite.Code, format string, args ...any) {
	c.faults = append(c.faults, datacite.Finding{Path: "query", Code: code,
		Reason: part + ": " + fmt.Sprintf(format, args...)})
}

// node checks n, which is searched in field unless it has one itself.
func (c *checker) node(n *node, field Field, depth int) {
	if n.Field != "" {
		field = Field(n.Field)
		c.field(n)
	}
	if n.Kind != kindGroup {
		c.leaves++
		c.leaf(n, field)
		return
	}
	switch {
	case depth == maxDepth:
		c.fault("the query", datacite.CodeLimit, "it has more than %d nested brackets, which the service may refuse",
			maxDepth)
		return
	case len(n.Clauses) > maxClauses:
		c.fault(fmt.Sprintf("a list of %d clauses", len(n.Clauses)), datacite.CodeLimit, "the service accepts %d in a list",
			maxClauses)
	}
	c.neighbours(n, field)
	for _, cl := range n.Clauses {
		c.node(cl.Node, field, depth+1)
	}
}

// neighbours refuses words side by side where the service would read them as one value.
func (c *checker) neighbours(n *node, field Field) {
	k := kinds[field]
	if field.isAnalysed() {
		return
	}
	for i := 1; i < len(n.Clauses); i++ {
		if merges(n.Clauses[i-1:]) {
			c.fault(partText(n, field), datacite.CodeQuery,
				"the service reads words side by side as one value of %s; put AND or OR between them", k)
			return
		}
	}
}

// merges reports whether the parser makes one text of the first two clauses:
// words of which neither has an operator on either side.
func merges(clauses []clause) bool {
	for _, c := range clauses[:2] {
		if c.Join != noJoin || c.Sign != noSign || !c.Node.isWord() {
			return false
		}
	}
	return len(clauses) == 2 || clauses[2].Join == noJoin
}

func (c *checker) leaf(n *node, field Field) {
	part := func() string { return partText(n, field) }
	if reason := c.leafFault(n); reason != "" {
		c.fault(part(), datacite.CodeQuery, "%s", reason)
		return
	}
	for f, k := range fieldsLike(field) {
		if reason := k.refuses(n); reason != "" {
			c.fault(part(), datacite.CodeQuery, "%s", among(f, field)+reason)
			return
		}
	}
	if kinds[field] == textField && field != "" && (n.Kind == kindPhrase || n.Kind == kindTerm) && !hasWord(n.Text) {
		c.fault(part(), datacite.CodeQuery, "it has no word, so the service would ignore this part of the query")
	}
	if field == existsField && n.Kind != kindTerm && n.Kind != kindPhrase {
		c.fault(part(), datacite.CodeQuery, "_exists_ needs the whole name of one field")
	}
}

// leafFault says what is wrong with a leaf in any field.
func (c *checker) leafFault(n *node) string {
	switch n.Kind {
	case kindInvalid:
		return n.Text
	case kindRegexp:
		return "the service has no regular expressions and reads the slashes as part of a word"
	case kindWildcard:
		if strings.Contains(n.Text, "/") && !c.raw {
			return n.Text + slashInPattern
		}
	case kindRange:
		return rangeFault(n.Range)
	case kindFuzzy:
		if n.Edits > 0 && n.Edits < 1 {
			return "the service takes 0, 1 or 2 edits after ~ and reads a fraction as 0"
		}
	case kindPhrase:
		if n.Slop != nil && *n.Slop < 0 {
			return "the number after ~ is negative"
		}
	}
	if (n.Kind == kindPrefix || n.Kind == kindWildcard) && utf8.RuneCountInString(n.Text) > maxPattern {
		return fmt.Sprintf("a pattern may have %d characters", maxPattern)
	}
	return ""
}

// maxPattern is the length at which Lucene refuses a pattern.
const maxPattern = 1000

// field refuses a name that is not a field: the colon after it belongs to a text.
func (c *checker) field(n *node) {
	f := Field(n.Field)
	if f == "*" || looksLikeField(string(f)) && !isScheme(string(f)) {
		return
	}
	c.fault(partText(n, f), datacite.CodeQuery,
		"the text before the colon is read as the name of a field, but is not one; quote the whole text if the colon is "+
			"part of it")
}

func isScheme(s string) bool {
	switch strings.ToLower(s) {
	case "http", "https", "ftp", "mailto", "urn", "info", "ark", "hdl":
		return true
	}
	return false
}

// looksLikeField accepts names joined by dots. A * stands for any characters.
func looksLikeField(s string) bool {
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '_' || c == '@' || c == '*' || isASCIILetterOrDigit(c) && (c < '0' || c > '9'):
		case i > 0 && (c == '.' || c == '-' || '0' <= c && c <= '9'):
		default:
			return false
		}
	}
	return s != ""
}

// hasWord reports whether a text has any word for the service to look for.
func hasWord(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.So, r)
	})
}

// partText is the text of a part that is searched in field.
func partText(n *node, field Field) string {
	m := *n
	if m.Kind != kindAll {
		m.Field = string(field)
	}
	if m.Kind == kindInvalid {
		return cmp.Or(string(field), "an expression")
	}
	return excerpt(fromNode(&m).String())
}

// excerpt shortens a text for a message.
func excerpt(s string) string {
	const limit = 80
	for i := range s {
		if i > limit {
			return s[:i] + "…"
		}
	}
	return s
}
