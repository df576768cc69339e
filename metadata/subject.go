package metadata

import "sync"

// Subject is a keyword, a classification code or a key phrase.
type Subject struct {
	Subject            string `json:"subject"`
	SubjectScheme      string `json:"subjectScheme,omitempty"`
	SchemeURI          string `json:"schemeUri,omitempty"`
	ValueURI           string `json:"valueUri,omitempty"`
	ClassificationCode string `json:"classificationCode,omitempty"`
	Lang               string `json:"lang,omitempty"`
}

var subjectElement = sync.OnceValue(func() *element[Subject] {
	return newElement("subject", textOnly,
		text("subject", datatype{warning: markupWarning}, func(s *Subject) *string { return &s.Subject }),
		attribute("subjectScheme", anyWord, func(s *Subject) *string { return &s.SubjectScheme }),
		schemeURI(func(s *Subject) *string { return &s.SchemeURI }),
		attribute("valueURI", uri, func(s *Subject) *string { return &s.ValueURI }),
		attribute("classificationCode", datatype{fault: uriRule, word: true}, // a code, but the schema has it as a URI
			func(s *Subject) *string { return &s.ClassificationCode }),
		lang(func(s *Subject) *string { return &s.Lang }),
	)
})
