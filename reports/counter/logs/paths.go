package logs

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/access"
	"github.com/datacite-go/datacite-go/internal/doi"
)

// Paths decide by the path of a URL whether an access is an investigation, a request, or
// not counted. The patterns are searched for in the path, without scheme, host, query and
// fragment. A path that matches a pattern of Requests is a request; a path that matches
// only a pattern of Investigations is an investigation; other paths are not counted. A
// slash at the end of a path, and a session id in it (;jsessionid=…), are ignored.
type Paths struct {
	Investigations, Requests []*regexp.Regexp

	// DOIs maps the text that the first group of a pattern matches, or the whole pattern if
	// it has no group, percent-decoded, to a DOI. "" means that the text is not a dataset
	// but, for example, a collection, and the access does not count. A text that is not in
	// the map is a fault with the code no-dataset. If the map is nil, the text itself is the
	// DOI. Logs of Dataverse and Dryad have the DOI beside the URL; DOIs is ignored for
	// them.
	DOIs map[string]string

	// Table has single paths, percent-decoded and without a slash at the end. It takes
	// precedence over the patterns.
	Table map[string]Target
}

// A Target is the dataset and kind of access of a path in Paths.Table.
type Target struct {
	DOI     string // of the dataset; "" if the path is not a dataset's; ignored for logs of Dataverse and Dryad
	Request bool   // content is retrieved; otherwise an investigation
}

// DataversePaths returns the paths of Dataverse.
func DataversePaths() *Paths {
	return &Paths{
		Investigations: []*regexp.Regexp{
			regexp.MustCompile(`/dataset\.xhtml`), regexp.MustCompile(`/file\.xhtml`),
			regexp.MustCompile(`/api/datasets`), regexp.MustCompile(`/api/v1/datasets`),
		},
		Requests: []*regexp.Regexp{regexp.MustCompile(`/api/access/datafile`), regexp.MustCompile(`/api/v1/access/datafile`)},
	}
}

// A pathPattern is an expression for paths of requests, or of investigations.
type pathPattern struct {
	*regexp.Regexp
	literal string // all of the expression; "" if it is more than that
	request bool
}

func newPathPattern(r *regexp.Regexp, request bool) pathPattern {
	p := pathPattern{Regexp: r, request: request}
	if literal, all := r.LiteralPrefix(); all {
		p.literal = literal
	}
	return p
}

// find returns where the pattern and its groups are in a path; nil if it does not match.
func (p *pathPattern) find(path string) []int {
	if p.literal == "" {
		return p.FindStringSubmatchIndex(path)
	}
	if i := strings.Index(path, p.literal); i >= 0 {
		return []int{i, i + len(p.literal)}
	}
	return nil
}

// A found is what a path leads to.
type found struct {
	Target
	counts bool
}

// A pathFinder finds out about the paths of one goroutine, most of which come again.
type pathFinder struct {
	*Paths
	patterns []pathPattern // those for requests, then those for investigations
	beside   bool          // the log has the DOI beside the path
	literal  bool          // the patterns are, so that a path is found out about as soon as looked up
	known    access.Cache[found]
}

func newPathFinder(p *Paths) *pathFinder {
	f := &pathFinder{Paths: p, literal: len(p.Table) == 0, known: access.Cache[found]{Most: 1 << 15}}
	for _, r := range p.Requests {
		f.patterns = append(f.patterns, newPathPattern(r, true))
	}
	for _, r := range p.Investigations {
		f.patterns = append(f.patterns, newPathPattern(r, false))
	}
	for _, p := range f.patterns {
		f.literal = f.literal && p.literal != ""
	}
	return f
}

// target returns what the path of an address leads to; false if it is not counted.
func (f *pathFinder) target(address string) (t Target, ok bool, err error) {
	path := pathOf(address)
	if f.beside && f.literal {
		return f.find(path)
	}
	key := access.KeyOf(path)
	if to, known := f.known.Get(key); known {
		return to.Target, to.counts, nil
	}
	if t, ok, err = f.find(path); err == nil {
		f.known.Put(key, found{t, ok})
	}
	return t, ok, err
}

// Finder returns a function that returns the Target of a URL or a path, or nil if an access to it
// is not counted. Its errors are those of a [ParseLine]. The function caches its results, and
// only one goroutine may use it.
func (p *Paths) Finder() func(address string) (*Target, error) {
	find := newPathFinder(p).target
	return func(address string) (*Target, error) {
		if t, ok, err := find(address); ok && err == nil {
			return &t, nil
		} else {
			return nil, err
		}
	}
}

// find finds out what a path leads to; false if it is not counted.
func (f *pathFinder) find(path string) (t Target, ok bool, err error) {
	if t, ok = f.inTable(tidy(path)); !ok {
		p, matched, at := f.pattern(path)
		if p == nil {
			return t, false, nil
		}
		if f.beside {
			return Target{Request: p.request}, true, nil
		}
		t.Request = p.request
		if t.DOI, ok = f.text(matched, at); !ok {
			return t, false, datacite.Invalidf("", datacite.CodeNoDataset,
				"path is %.200q, whose dataset is not in the table", matched)
		}
	}
	if f.beside {
		return Target{Request: t.Request}, true, nil // without a part of a line
	}
	if t.DOI == "" {
		return t, false, nil
	}
	name, err := doi.Parse(t.DOI)
	if err != nil {
		return t, false, datacite.Invalidf("", notDOI(t.DOI),
			"path is %.200q and has %.100q, which is not a DOI", path, t.DOI)
	}
	t.DOI = strings.Clone(name) // it is a part of a line
	return t, true, nil
}

func (f *pathFinder) inTable(path string) (target Target, ok bool) {
	if len(f.Table) == 0 {
		return target, false
	}
	target, ok = f.Table[decoded(path)]
	return target, ok
}

// pattern returns the pattern that decides about a path, or nil, the path as it matches:
// tidied, or as it is logged; and where.
func (f *pathFinder) pattern(path string) (*pathPattern, string, []int) {
	tidied := tidy(path)
	for i := range f.patterns {
		p := &f.patterns[i]
		if at := p.find(tidied); at != nil {
			return p, tidied, at
		}
		if tidied != path {
			if at := p.find(path); at != nil {
				return p, path, at
			}
		}
	}
	return nil, path, nil
}

// text returns the text that a path has for a DOI where a pattern matched it; false if
// Paths.DOIs does not have it.
func (f *pathFinder) text(path string, at []int) (text string, ok bool) {
	group := at[min(2, len(at)-2):] // the first one, or all that matched
	if group[0] >= 0 {
		text = decoded(path[group[0]:group[1]])
	}
	if f.DOIs == nil {
		return text, true
	}
	name, ok := f.DOIs[text]
	return name, ok
}

// tidy takes off what makes no difference: a slash at the end, and the session id that
// Java servers write into paths.
func tidy(path string) string {
	if before, session, ok := strings.Cut(path, ";jsessionid="); ok {
		_, rest, more := strings.Cut(session, "/")
		if path = before; more {
			path += "/" + rest
		}
	}
	for len(path) > 1 && path[len(path)-1] == '/' {
		path = path[:len(path)-1]
	}
	return path
}

// decoded is a path or a part of one, percent-decoded if it can be.
func decoded(path string) string {
	if plain, err := url.PathUnescape(path); err == nil {
		return plain
	}
	return path
}

// pathOf returns the path of a URL, whole or relative.
func pathOf(address string) string {
	address, _, _ = strings.Cut(address, "?")
	address, _, _ = strings.Cut(address, "#")
	if _, rest, ok := strings.Cut(address, "://"); ok {
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			return rest[i:]
		}
		return "/"
	}
	return address
}
