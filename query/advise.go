package query

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/datacite-go/datacite-go/internal/spelling"
)

// Advice is a remark on a part of a query that the service accepts, but that may find other
// records than intended.
type Advice struct {
	Part   string // the part of the query as text
	Reason string
	// a part that says how the service reads this one or, if that finds nothing, what was probably meant;
	// "" if there is none
	Suggestion string
}

// String returns the remark in one line.
func (a Advice) String() string {
	if a.Suggestion == "" {
		return a.Part + ": " + a.Reason
	}
	return a.Part + ": " + a.Reason + "; write " + a.Suggestion
}

// longText is about the length from which an address is too long for some servers.
const longText = 6000

// Advise returns remarks on doubtful parts of expr, in the order of the text. A
// query with such parts need not be refused; [Check] finds errors.
func Advise(expr Expr) []Advice {
	if expr == nil {
		return nil
	}
	text, tree := expr.String(), expr.tree()
	if tree.Kind == kindRaw {
		read, err := read(tree.Text)
		if tree = read; err != nil {
			tree = invalid("", err.Error())
		}
	}
	var out []Advice
	if len(text) > longText {
		out = append(out, Advice{Part: excerpt(text),
			Reason: "the query may be too long for an address; send it in the body of the request"})
	}
	tree.walk("", func(n *node, field string) {
		rules := leafRules
		if n.Kind == kindGroup {
			rules = groupRules
		}
		part := *n
		part.Field = field
		for _, rule := range rules {
			if reason, suggestion := rule(part); reason != "" {
				out = append(out, Advice{partText(n, Field(field)), reason, suggestion})
			}
		}
	})
	return out
}

// A rule looks at a node whose Field is the one that it is searched in. It returns a reason
// and a suggestion, or nothing.
type rule func(node) (reason, suggestion string)

var groupRules = []rule{unclearOperators, onlyExclusions}

// unclearOperators finds lists that the two default operators read differently, and lists with both
// operators, which people read as if AND came first.
func unclearOperators(n node) (reason, suggestion string) {
	joins := map[join]bool{}
	for _, c := range n.Clauses[1:] {
		joins[c.Join] = true
	}
	left := func(c clause) bool { return c.Join == noJoin || c.Sign == signMust }
	switch {
	case joins[joinAnd] && joins[joinOr] && !joins[noJoin]:
		reason = "AND does not come before OR: each decides about the clauses beside it"
	case slices.ContainsFunc(n.Clauses[1:],
		left) && !slices.Equal(occurs(n.Clauses, OperatorOr), occurs(n.Clauses, OperatorAnd)):
		reason = "clauses without an operator between them are optional as specified but required on the deployed service"
	default:
		return "", ""
	}
	e := fromNode(&n)
	deployed, specified := Explicit(e, OperatorAnd).String(), Explicit(e, OperatorOr).String()
	if specified != deployed {
		deployed += ", or " + specified
	}
	return reason, deployed
}

func onlyExclusions(n node) (string, string) {
	if slices.ContainsFunc(n.Clauses, isPositive) {
		return "", ""
	}
	return "plain Lucene finds nothing where all clauses exclude; the service finds everything else",
		fromNode(asOperand(&n)).String()
}

var leafRules = []rule{unknownName, valueOfObject, looseOperator, lowerCaseTerm}

func unknownName(n node) (string, string) {
	field := Field(n.Field)
	if _, known := kinds[field]; known || field == existsField || strings.Contains(n.Field, "*") {
		return "", ""
	}
	first, _, _ := strings.Cut(n.Field, ".")
	if first == "client" || first == "provider" {
		return "", ""
	}
	better := betterName(field)
	if better == "" {
		return "the service knows no field of that name and finds nothing in it; if the colon is part of a text, quote the " +
			"text", ""
	}
	return "the service knows no field of that name and finds nothing in it", inField(n, better)
}

func inField(n node, f Field) string {
	n.Field = string(f)
	return suggest(leaf(n))
}

// suggest writes e, if it may be sent.
func suggest(e Expr) string {
	if Check(e) != nil {
		return ""
	}
	return e.String()
}

const noValue = "on the deployed service the field has members but no value of its own"

func valueOfObject(n node) (string, string) {
	if kinds[Field(n.Field)] != objectField || n.Kind == kindExists {
		return "", ""
	}
	for _, fields := range [][]Field{fieldsOf[textField], fieldsOf[foldedField], fieldsOf[keywordField]} {
		for _, f := range fields {
			if strings.HasPrefix(string(f), n.Field+".") {
				return noValue, inField(n, f)
			}
		}
	}
	return noValue, ""
}

// looseOperator finds operators that the parser reads as words.
func looseOperator(n node) (string, string) {
	if n.Kind != kindTerm {
		return "", ""
	}
	switch n.Text {
	case "and", "or", "not":
		return "operators are written in capitals; this is a word to look for", ""
	case "-", "+", "!":
		return "before a blank this is a word to look for; it goes directly before a word", ""
	case "&", "|", "=":
		return "this is a word to look for", ""
	}
	return "", ""
}

// lowerCaseTerm finds terms of vocabularies whose terms begin with a capital.
func lowerCaseTerm(n node) (string, string) {
	switch Field(n.Field) {
	case FieldResourceTypeGeneral, FieldRelationType, "relatedIdentifiers.resourceTypeGeneral":
	default:
		return "", ""
	}
	r, size := utf8.DecodeRuneInString(n.Text)
	if n.Kind != kindTerm && n.Kind != kindPhrase || !unicode.IsLower(r) {
		return "", ""
	}
	n.Text = string(unicode.ToUpper(r)) + n.Text[size:]
	return "the terms of this vocabulary begin with a capital, and case counts", fromNode(&n).String()
}

// betterName returns the field that is probably meant by name, or "".
func betterName(name Field) Field {
	plain := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(string(name)))
	if f, ok := otherNames[plain]; ok {
		return f
	}
	best, least := Field(""), min(3, len(plain)/2)
	for f := range kinds {
		d := spelling.Distance(strings.ToLower(string(f)), strings.ToLower(string(name)), least+1)
		if d < least || d == least && best != "" && f < best {
			best, least = f, d
		}
	}
	return best
}

// otherNames are names that people try, without case, _ and -.
var otherNames = map[string]Field{
	"title": FieldTitle, "name": FieldCreatorName, "author": FieldCreatorName, "authors": FieldCreatorName,
	"creator": FieldCreatorName, "creatorname": FieldCreatorName, "contributor": FieldContributorName,
	"orcid": FieldCreatorNameIdentifier, "nameidentifier": FieldCreatorNameIdentifier,
	"affiliation": FieldCreatorAffiliationName, "ror": FieldCreatorAffiliationIdentifier,
	"year": FieldPublicationYear, "publicationyear": FieldPublicationYear,
	"description": FieldDescription, "abstract": FieldDescription,
	"subject": FieldSubject, "keyword": FieldSubject, "keywords": FieldSubject,
	"type": FieldResourceTypeGeneral, "resourcetypegeneral": FieldResourceTypeGeneral, "resourcetype": FieldResourceType,
	"relatedidentifier": FieldRelatedIdentifier, "relationtype": FieldRelationType,
	"alternateidentifiers": FieldAlternateIdentifier, "alternateidentifiers.alternateidentifier": FieldAlternateIdentifier,
	"alternateidentifiers.alternateidentifiertype": "identifiers.identifierType", "identifier": FieldAlternateIdentifier,
	"funder": FieldFunderName, "license": FieldRightsIdentifier, "rights": FieldRightsIdentifier,
	"state": FieldState, "client": FieldClientID, "clientid": FieldClientID, "providerid": FieldProviderID,
	"views": FieldViewCount, "viewcount": FieldViewCount, "viewsovertime": FieldViewCount,
	"downloads": FieldDownloadCount, "downloadcount": FieldDownloadCount,
	"citationcount": FieldCitationCount, "citations": FieldCitationCount, "citationsovertime": FieldCitationCount,
	"references": FieldReferenceCount, "referencecount": FieldReferenceCount,
	"parts": FieldPartCount, "partcount": FieldPartCount, "versions": FieldVersionCount, "versioncount": FieldVersionCount,
	"schemaversion": FieldSchemaVersion, "published": FieldPublicationYear,
}
