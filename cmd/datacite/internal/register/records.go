package register

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/record"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/sheet"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/shell"
	"github.com/datacite-go/datacite-go/cmd/datacite/internal/table"
	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
)

// records are those of files that are no tables.
type records struct {
	*command
	files  []string
	ctx    context.Context // of the look at DOIs that exist
	client *dois.Client
	stored map[string]*dois.Record // of records with faults, since they are read several times
}

// lift removes the faults of a record whose DOI exists: what it does not speak of stays, and what is stored may
// stay though it would not be accepted as new.
func (s *records) lift(r *row) {
	mayStand := func(f datacite.Finding) bool {
		return f.Warning || f.Path == "url" && r.URL == "" ||
			r.isJSON && !slices.Contains([]datacite.Code{datacite.CodeConflict, datacite.CodeEncoding, datacite.CodeSyntax},
				f.Code)
	}
	if r.Err() == nil || r.DOI == "" || r.isForeign() || slices.ContainsFunc(r.Findings, func(f datacite.Finding) bool {
		return !mayStand(f)
	}) {
		return
	}
	key := doi.Key(r.DOI)
	found, known := s.stored[key]
	if !known {
		var err error
		if found, err = s.client.Get(s.ctx, r.DOI, &dois.GetOptions{Detail: true}); err != nil &&
			!errors.Is(err, datacite.ErrNotFound) {
			s.WarnOnce("warning: whether %s exists cannot be asked: %s", r.DOI, shell.Message(err))
		}
		s.stored[key] = found
	}
	if found == nil {
		return
	}
	r.Findings = slices.DeleteFunc(r.Findings, func(f datacite.Finding) bool {
		switch name, _, _ := strings.Cut(strings.ReplaceAll(f.Path, "[", "."), "."); {
		case f.Warning:
			return false
		case name == "url":
			return r.URL == "" && found.URL != ""
		default:
			return r.isJSON && !slices.Contains(r.desired.Clear, name) &&
				(f.Code == datacite.CodeMissing && isAbsent(name, r.Record) || isStored(name, f.Path, r.Record, &found.Record))
		}
	})
}

// isAbsent reports whether a record does not speak of a member.
func isAbsent(name string, r *metadata.Record) bool { return membersOf(r)[name] == nil }

// isStored reports whether a member of a record, or the item of its list that a path leads to, is among
// the stored ones.
func isStored(name, path string, said, stored *metadata.Record) bool {
	is, was := membersOf(said)[name], membersOf(stored)[name]
	var items, before []json.RawMessage
	if i := 0; json.Unmarshal(is, &items) == nil && json.Unmarshal(was, &before) == nil {
		if n, err := fmt.Sscanf(path, name+"[%d]", &i); n == 1 && err == nil && i < len(items) {
			return slices.ContainsFunc(before, func(item json.RawMessage) bool { return bytes.Equal(item, items[i]) })
		}
	}
	return is != nil && bytes.Equal(is, was)
}

func membersOf(r *metadata.Record) (members map[string]json.RawMessage) {
	data, err := json.Marshal(r)
	if err != nil || json.Unmarshal(data, &members) != nil {
		return nil // a record is always JSON
	}
	return members
}

func (s *records) name() string {
	if len(s.files) == 1 {
		return s.files[0]
	}
	return shell.Count(len(s.files), "file")
}

func (s *records) layout() sheet.Layout { return sheet.Layout{} }

func (s *records) mode() fs.FileMode {
	const readable = 0o644
	return readable
}

func (s *records) results() (columns, others []string) {
	return []string{"doi", "url", "state"}, append([]string{"file"}, table.ResultColumns...)
}

func (s *records) rows(bool) iter.Seq2[*row, error] {
	return func(yield func(*row, error) bool) {
		c := checks{dois: map[string]string{}, urls: map[string]string{}, named: map[string]string{}}
		for _, file := range s.files {
			for r, err := range s.ofFile(file) {
				if err == nil {
					s.complete(r, file)
					c.row(r)
					s.lift(r)
				}
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
}

// complete gives a record what the flags say.
func (s *records) complete(r *row, file string) {
	if s.doi != "" {
		if r.DOI != "" && !doi.Same(r.DOI, s.doi) {
			r.fault("doi", fmt.Sprintf("the record names %s, and %s would be registered; give --doi %[1]s, or take the name "+
				"out of the record", r.DOI, s.doi))
		}
		r.DOI = s.doi
	}
	prefix := s.prefix
	if r.DOI != "" {
		prefix, _, _ = strings.Cut(r.DOI, "/")
	}
	if r.prefix != "" && prefix != "" && r.prefix != prefix {
		r.fault("prefix", fmt.Sprintf("is %s, and the DOI would be below %s; give --prefix %[1]s, or take it out of the "+
			"record", r.prefix, prefix))
	}
	if s.url != "" {
		suffix := ""
		if _, after, found := strings.Cut(r.DOI, "/"); found {
			suffix = after
		}
		if suffix == "" && (strings.Contains(s.url, "{doi}") || strings.Contains(s.url, "{suffix}")) {
			r.fault("doi", "--url needs a DOI, and the record has none")
		}
		name := filepath.Base(file)
		r.URL = strings.NewReplacer("{doi}", r.DOI, "{suffix}", suffix, "{file}",
			strings.TrimSuffix(name, filepath.Ext(name))).Replace(s.url)
	}
	if r.document.Data != nil && r.document.ContentType != mds.XMLType && s.state != string(datacite.StateFindable) {
		r.fault("state", "metadata in this format make findable DOIs only; give DataCite XML or JSON")
	}
	if slices.Contains([]string{typeBibTeX, typeCiteproc, typeRIS}, r.document.ContentType) {
		r.Findings = append(r.Findings, datacite.Finding{File: r.File, Code: datacite.CodeLossy, Warning: true,
			Reason: "this format has no identifiers and affiliations of people, no languages and no general type: a DOI that " +
				"has them loses them; give DataCite XML or JSON"})
	}
}

// ofFile are the records of one file.
func (s *records) ofFile(name string) iter.Seq2[*row, error] {
	return func(yield func(*row, error) bool) {
		file, err := os.Open(name)
		if err != nil {
			yield(nil, err)
			return
		}
		defer file.Close()
		src := bufio.NewReader(file)
		skipMark(src)
		start, _ := src.Peek(512)
		begin := bytes.TrimSpace(start)
		if len(begin) == 0 || begin[0] != '{' && begin[0] != '[' {
			yield(s.other(name, src))
			return
		}
		if one, err := s.foreignJSON(name); one != nil || err != nil {
			yield(one, err)
			return
		}
		values := json.NewDecoder(src)
		for n := 1; ; {
			var value json.RawMessage
			err := values.Decode(&value)
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(nil, fmt.Errorf("%s: record %d: %w", name, n, err))
				return
			}
			for r, err := range each(value) {
				one, err := readJSON(fmt.Sprintf("%s, record %d", name, n), r, err)
				if n++; !yield(one, err) || err != nil {
					return
				}
			}
		}
	}
}

func skipMark(src *bufio.Reader) {
	mark := []byte("\ufeff")
	if start, _ := src.Peek(len(mark)); bytes.Equal(start, mark) {
		_, _ = src.Discard(len(mark)) // it is there
	}
}

// foreignJSON reads a file with a single record in another JSON format than that of the DOI
// query, nil if it is none.
func (s *records) foreignJSON(name string) (*row, error) {
	const most = 10 << 20
	info, err := os.Stat(name)
	if err != nil || info.Size() > most {
		return nil, err
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	doc, err := detect(data)
	if err != nil {
		return nil, nil // it is the format of the DOI query
	}
	return &row{Row: &table.Row{File: name}, document: doc}, nil
}

// other reads a record that is not JSON.
func (s *records) other(name string, src io.Reader) (*row, error) {
	data, err := io.ReadAll(src)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		return nil, fmt.Errorf("%s is compressed; give the file that gunzip makes of it", name)
	}
	doc, err := detect(data)
	if utf16 := bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")); err != nil &&
		utf16 {
		return nil, fmt.Errorf("%s is text in UTF-16; save it as UTF-8, and a table as .xlsx or as \"CSV UTF-8\"", name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %w", name, err)
	}
	r := &row{Row: &table.Row{File: name}, document: doc}
	if doc.ContentType != mds.XMLType {
		return r, nil
	}
	found, err := metadata.FindingsXML(bytes.NewReader(doc.Data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r.add(found)
	if r.Record, err = metadata.ParseXML(bytes.NewReader(doc.Data)); err != nil {
		if r.Err() == nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return r, nil
	}
	r.DOI = r.Record.DOI
	r.checkYear()
	return r, nil
}

// add adds the findings of a record, with its file.
func (r *row) add(found []datacite.Finding) {
	for _, f := range found {
		if slices.Contains([]datacite.Code{datacite.CodeIdentifier, datacite.CodeJSON, datacite.CodeNotInJSON,
			datacite.CodeNotInXML}, f.Code) {
			continue // the request names the DOI; what is sent is XML
		}
		f.File, f.Reason = r.File, strings.Replace(f.Reason, "metadata.Upgrade makes a record",
			"datacite upgrade makes a document", 1)
		r.Findings = append(r.Findings, f)
	}
}

// checkYear refuses a year of two digits, which the service takes as the year 26.
func (r *row) checkYear() {
	if year := r.Record.PublicationYear; len(year) == 4 && strings.HasPrefix(string(year), "00") && year != "0000" {
		r.fault("publicationYear", fmt.Sprintf("%s is a year of two digits; write all four", year[2:]))
	}
}

// each returns the records in a JSON value: the attributes of one, one as the service writes it,
// or a page or list of them.
func each(value json.RawMessage) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		var walk func(json.RawMessage) bool
		walk = func(value json.RawMessage) bool {
			var list []json.RawMessage
			if json.Unmarshal(value, &list) == nil {
				return !slices.ContainsFunc(list, func(one json.RawMessage) bool { return !walk(one) })
			}
			var shape struct{ Data json.RawMessage }
			if err := json.Unmarshal(value, &shape); err != nil {
				return yield(nil, err)
			}
			if shape.Data != nil {
				return walk(shape.Data)
			}
			return yield(value, nil)
		}
		walk(value)
	}
}

// readJSON reads a record with the names of the DOI query. What it does not speak of stays as it is stored.
func readJSON(place string, data json.RawMessage, err error) (*row, error) {
	var given dois.Record
	if err == nil {
		err = given.UnmarshalJSON(data)
	}
	var src *record.Source
	if err == nil {
		src, err = record.Read(&given)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s", place, shell.Message(err))
	}
	r := &row{
		Row:     &table.Row{File: place, DOI: src.DOI, URL: src.URL, State: string(src.State), Record: &given.Record},
		desired: src.Desired(),
		isJSON:  true,
		prefix:  src.Prefix,
	}
	r.add(src.Left)
	r.add(r.Record.Findings())
	r.checkYear()
	return r, nil
}
