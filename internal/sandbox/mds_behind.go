package sandbox

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// The DOI service as the deployed metadata store uses it.

var (
	errBlank   = fail(http.StatusUnprocessableEntity, "Can't be blank")
	errInvalid = fail(http.StatusUnprocessableEntity, "Is invalid")

	deployedURLForm  = regexp.MustCompile(`\A(ftp|http|https)://\S+\z`)
	deployedFileForm = regexp.MustCompile(`\A(ftp|http|https|gs|s3|dos)://\S+\z`)
)

const (
	// notFoundBehind is the store's text where it has none of its own for 404.
	notFoundBehind = "Not found"

	// patience is how long the store waits for the service behind it.
	patience = time.Minute
)

// ask puts a question to the service behind the store, and its refusals into
// the store's words.
func (s *mdsRoom) ask(c *storeCall, unknown string, work func() (reply, error)) (reply, error) {
	res, err := c.fault.between(work)
	if err == nil {
		res.body = unread(res.body)
		return res, nil
	}
	if said, ok := errors.AsType[*answered](err); ok {
		return reply{}, said
	}
	f := asFault(err)
	switch f.status {
	case http.StatusUnauthorized:
		return reply{}, answer(f.status, errBadLogin.title)
	case http.StatusForbidden:
		return reply{}, answer(f.status, errDenied.title)
	case http.StatusNotFound:
		return reply{}, answer(f.status, unknown)
	}
	return reply{}, answer(f.status, string(unread([]byte(f.title))))
}

// unread is a text from behind as the store hands it on. The answer comes
// compressed, the store no longer knows its encoding then, and puts "?" for each
// byte that is not ASCII.
func unread(text []byte) []byte {
	if isASCII(string(text)) {
		return text
	}
	out := slices.Clone(text)
	for i, b := range out {
		if b >= utf8.RuneSelf {
			out[i] = '?'
		}
	}
	return out
}

// between is what comes of the work when something happens between the store
// and the service behind it.
func (f *Fault) between(work func() (reply, error)) (reply, error) {
	if f == nil || !f.Behind {
		return work()
	}
	switch f.Kind {
	case DropBefore, DropDuring:
		time.Sleep(min(f.Delay, patience))
		return reply{}, f.lost()
	case Status:
		time.Sleep(min(f.Delay, patience))
		return reply{}, f.page()
	}
	res, err := work()
	time.Sleep(min(f.Delay, patience))
	switch f.Kind {
	case StatusAfter:
		return reply{}, f.page()
	case DropAfter, CutAnswer:
		return reply{}, f.lost()
	}
	if f.Delay >= patience {
		return reply{}, f.lost()
	}
	return res, err
}

// lost is what the store makes of an answer that does not come: 408 if it has
// waited long enough, else 403.
func (f *Fault) lost() error {
	if f.Delay >= patience {
		return fail(http.StatusRequestTimeout, "Request timeout")
	}
	return errDenied
}

// page is what the store makes of a page of HTML: the status, and for a text
// the page as its language writes a list.
func (f *Fault) page() error {
	if f.Delay >= patience || f.status() == http.StatusRequestTimeout {
		return fail(http.StatusRequestTimeout, "Request timeout")
	}
	title := fmt.Sprintf("%d %s", f.status(), http.StatusText(f.status()))
	return fail(f.status(), `["html", {"head"=>{"title"=>%q}, "body"=>{"center"=>{"h1"=>%q}}}]`, title, title)
}

// mayChange says why an account may not change a record: somebody is refused, nobody
// has no right to ask.
func mayChange(account *Account, allowed bool) error {
	switch {
	case account == nil:
		return errBadLogin
	case !allowed:
		return errDenied
	}
	return nil
}

// behindXML is the XML of a DOI, or of whatever else the name led to.
func (s *mdsRoom) behindXML(account *Account, w way) (reply, error) {
	rec := s.find(w.doi)
	switch {
	case rec == nil:
		return reply{}, errNoRecord
	case w.part == "get-url":
		res, err := s.behindURL(account, w)
		if len(res.body) > 0 {
			res.body = encode(object{"url": string(res.body)})
		}
		return res, err
	case w.id != "":
		return reply{}, errNoRecord
	case w.part != "":
		return reply{status: http.StatusOK, body: encode(object{"data": []any{}}), plain: true}, nil
	case !rec.visible(account):
		return reply{}, errNoRecord
	}
	return reply{status: http.StatusOK, body: rec.xml, plain: true}, nil
}

// behindURL is the URL of a DOI. Nobody may read them all, somebody those of
// the account. What is no URL, as the name led elsewhere, is no text.
func (s *mdsRoom) behindURL(account *Account, w way) (reply, error) {
	rec := s.find(w.doi)
	switch {
	case rec == nil, w.part != "get-url" && !rec.visible(account):
		return reply{}, errNoRecord
	case w.part != "get-url":
		return textReply(http.StatusOK, ""), nil
	case account != nil && !rec.owner(account):
		return reply{}, errDenied
	case rec.url == "":
		return reply{status: http.StatusNoContent, plain: true}, nil
	}
	return textReply(http.StatusOK, rec.url), nil
}

// behindNames are the registered names under the account's first prefix.
func (s *mdsRoom) behindNames(account *Account) (reply, error) {
	if err := mayChange(account, account != nil && !account.byKey); err != nil {
		return reply{}, err
	}
	var names []string
	for _, rec := range s.all() {
		prefix, _ := splitName(rec.doi)
		if !rec.gone && rec.state != draft && len(account.Prefixes) > 0 && prefix == account.Prefixes[0] {
			names = append(names, strings.ToUpper(rec.doi))
		}
	}
	if len(names) == 0 {
		return reply{status: http.StatusNoContent, plain: true}, nil
	}
	slices.Sort(names)
	return textReply(http.StatusOK, strings.Join(names, "\n")), nil
}

// changes are what the store asks for a DOI.
type changes struct {
	event    string
	url      string
	metadata []byte
	name     string // what the metadata shall call themselves
	validate bool   // a draft too
}

// changed is a DOI after a change.
type changed struct {
	doi     string
	existed bool
}

// behindChange changes a DOI, or makes one. The changes count together or not
// at all.
func (s *mdsRoom) behindChange(c *storeCall, w way, ch changes) (*changed, error) {
	if w.part != "" {
		return nil, errNoRecord
	}
	name, known := w.doi, s.find(w.doi) != nil
	if !known {
		var ok bool
		if name, ok = validate(w.doi); !ok {
			return nil, errNoRecord
		}
	}
	var done changed
	err := s.change(name, func(rec *record) (*record, error) {
		next, err := s.toChange(c, name, rec, known)
		if err != nil {
			return nil, err
		}
		if err := next.apply(ch, rec != nil, c.account); err != nil {
			return nil, err
		}
		next.updated = s.Now()
		if next.state != draft {
			next.register(s.Now(), s.ResolveDelay)
		}
		done = changed{next.doi, rec != nil}
		return next, nil
	})
	return &done, err
}

// toChange is the record to change: the one that is known, or a new one.
func (s *mdsRoom) toChange(c *storeCall, name string, rec *record, known bool) (*record, error) {
	if rec != nil && known {
		return rec, mayChange(c.account, rec.owner(c.account))
	}
	if !s.hasUser(c.username) {
		return nil, errNoRecord // it looks for the repository of that name
	}
	prefix, _ := splitName(name)
	if err := mayChange(c.account, c.account != nil && c.account.holds(prefix)); err != nil {
		return nil, err
	}
	switch {
	case rec != nil:
		return nil, fail(http.StatusUnprocessableEntity, "This DOI has already been taken")
	case !s.NewName.MatchString(name):
		return nil, errInvalid
	}
	return s.newRecord(name, c.account, "mds"), nil
}

func (s *mdsRoom) hasUser(username string) bool {
	return slices.ContainsFunc(s.Accounts, func(a Account) bool { return strings.EqualFold(a.Username, username) })
}

// apply makes the changes to a record, and checks what comes of them, in the
// order of the service.
func (rec *record) apply(ch changes, existed bool, account *Account) error {
	before := string(rec.xml)
	if ch.metadata != nil {
		if err := rec.setDeployed(ch.metadata, ch.name, existed); err != nil {
			return err
		}
		rec.version++
	}
	if ch.url != "" {
		rec.url = ch.url
	}
	rec.state = afterEvent(rec.state, ch.event)
	validate := ch.validate || rec.state != draft
	switch {
	case rec.url != "" && !deployedURLForm.MatchString(rec.url):
		return fail(http.StatusUnprocessableEntity, "URL is not valid")
	case validate && !rec.hasMetadata():
		return errBlank
	}
	if validate {
		if err := rec.checkDeployed(existed); err != nil {
			return err
		}
	}
	if rec.state != draft && ch.url != "" && account.refusal(ch.url) == noDomain {
		return fail(http.StatusUnprocessableEntity, "%s", noDomain)
	}
	if string(rec.xml) != before {
		return rec.checkKept()
	}
	return nil
}

// setDeployed takes over metadata: the format is looked for once more.
func (rec *record) setDeployed(body []byte, name string, existed bool) error {
	if !utf8.Valid(body) {
		return fail(http.StatusInternalServerError, `{"status"=>400, "title"=>"invalid byte sequence in UTF-8"}`)
	}
	text := strings.TrimSpace(strings.ReplaceAll(string(body), string(byteOrderMark), ""))
	f := behindFormat(text)
	switch f {
	case kernel:
		return rec.setKernel(text, name)
	case emptyRecord, crossref:
		return rec.setUnread(existed)
	}
	b, err := readForeign(f, []byte(text))
	if err == nil && f == ris && yearIn.FindString(b.year) == "" {
		err = errInvalid // it stumbles over the year, and takes the text for XML
	}
	if err != nil {
		return err
	}
	rec.attributes = b.attributes()
	if f == crosscite || f == dataciteJSON {
		rec.attributes["schemaVersion"] = schemaOf(objectIn([]byte(text)))
	}
	rec.xml = b.xml(strings.ToUpper(name))
	return nil
}

// schemaOf is the version that DataCite's own JSON names.
func schemaOf(o object) string {
	return text(first(o, "schema_version", "schema-version", "schemaVersion"))
}

func (rec *record) setKernel(text, name string) error {
	doc := repaired(text)
	if id := doc.identifier(); id != nil {
		id.children = []*node{{markup: escapeText(strings.ToUpper(name)), isText: true}}
	}
	rec.xml = doc.bytes()
	rec.attributes = object{}
	if parsed, err := parseXML(rec.xml); err == nil {
		rec.attributes = attributesOf(parsed.root)
	}
	rec.attributes["schemaVersion"] = doc.namespace()
	return nil
}

// setUnread is for metadata that the service cannot read, and does not say so:
// a new record has none, one that existed keeps what it had.
func (rec *record) setUnread(existed bool) error {
	if existed && rec.attributes["titles"] != nil {
		return nil
	}
	rec.attributes = object{}
	rec.xml = brief{}.xml(strings.ToUpper(rec.doi))
	return nil
}

// The versions of the schema that the service knows; documents of others it
// does not check.
var (
	checkedSchemas = []string{"4.0", "4.1", "4.2", "4.3", "4"}
	oldSchemas     = []string{"2.1", "2.2", "3.0", "3.1", "3"}
)

// checkDeployed checks metadata against the version of the schema that they
// name. Without one a new record is not checked.
func (rec *record) checkDeployed(existed bool) error {
	version := text(rec.attributes["schemaVersion"])
	number := strings.TrimPrefix(version, kernelSpaces+"-")
	switch {
	case rec.xml == nil && len(missing(rec.attributes)) > 0:
		return errBlank
	case rec.xml == nil:
		return nil
	case slices.Contains(oldSchemas, number):
		return fail(http.StatusUnprocessableEntity, "DOI %s: Schema %s is no longer supported", rec.doi, version)
	case slices.Contains(checkedSchemas, number), version == "" && existed:
		return rec.checkSchema()
	}
	return nil
}

const noDeclaration = "No matching global declaration available for the validation root."

// checkSchema checks the XML of a record against kernel 4.
func (rec *record) checkSchema() error {
	doc, err := parseXML(rec.xml)
	if err != nil {
		return fail(http.StatusUnprocessableEntity, "DOI %s: %s at line 1, column 0", rec.doi, noDeclaration)
	}
	err = checkRecord(doc.root)
	if v, ok := errors.AsType[*violation](err); ok {
		_, why, _ := strings.Cut(err.Error(), ": ")
		return fail(http.StatusUnprocessableEntity, "DOI %s: %s at line %d, column 0", rec.doi, why, v.line)
	}
	if err != nil {
		return fail(http.StatusUnprocessableEntity, "DOI %s: %s at line %d, column 0", rec.doi, noDeclaration, doc.root.line)
	}
	return nil
}

// checkKept checks metadata once more as they are stored: they must be
// DataCite's, and unless the DOI is a draft sound by the schema they name.
func (rec *record) checkKept() error {
	space := repaired(string(rec.xml)).namespace()
	switch {
	case space == "":
		return errInvalid
	case rec.state != draft && space != kernelNamespace:
		return errInvalid
	case rec.state != draft && rec.checkSchema() != nil:
		return errInvalid
	}
	return nil
}

// behindDelete removes a draft.
func (s *mdsRoom) behindDelete(account *Account, w way) error {
	if w.part != "" {
		return errNoRecord
	}
	return s.change(w.doi, func(rec *record) (*record, error) {
		if rec == nil {
			return nil, errNoRecord
		}
		if err := mayChange(account, rec.owner(account)); err != nil {
			return nil, err
		}
		if rec.state != draft {
			return nil, fail(http.StatusMethodNotAllowed, "Method not allowed")
		}
		return nil, nil
	})
}

// behindMedia are the files of a DOI for whoever asks, the newest first, 25 at
// most. If the name led to the DOI itself, its URL passes for a file.
func (s *mdsRoom) behindMedia(w way) ([]string, error) {
	rec := s.find(w.doi)
	if rec == nil || w.id != "" {
		return nil, errNoRecord
	}
	if w.part != "media" {
		return []string{"=" + rec.url}, nil
	}
	var lines []string
	for _, m := range slices.Backward(rec.media) {
		if len(lines) < 25 {
			lines = append(lines, m.kind+"="+m.url)
		}
	}
	return lines, nil
}

func (s *mdsRoom) behindAddMedium(account *Account, w way, m medium) error {
	if w.part != "media" || w.id != "" {
		return errNoRecord
	}
	return s.change(w.doi, func(rec *record) (*record, error) {
		if rec == nil {
			return nil, errNoRecord
		}
		if err := mayChange(account, rec.owner(account)); err != nil {
			return nil, err
		}
		if isBlank(m.kind) {
			m.kind = "text/plain"
		}
		switch {
		case isBlank(m.url):
			return nil, errBlank
		case !deployedFileForm.MatchString(m.url):
			return nil, errInvalid
		}
		rec.media = append(slices.Clone(rec.media), m)
		return rec, nil
	})
}

// xml writes a record as the deployed service makes it of another format.
func (b brief) xml(name string) []byte {
	var out strings.Builder
	out.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
		`<resource xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns="` + kernelNamespace +
		`" xsi:schemaLocation="` + kernelNamespace + ` http://schema.datacite.org/meta/kernel-4/metadata.xsd">` + "\n")
	out.WriteString(`  <identifier identifierType="DOI">` + escapeText(name) + "</identifier>\n")
	list := func(wrapper string, texts []string, element func(text string) string) {
		if len(texts) == 0 {
			out.WriteString("  <" + wrapper + "/>\n")
			return
		}
		out.WriteString("  <" + wrapper + ">\n")
		for _, text := range texts {
			out.WriteString("    " + element(escapeText(text)) + "\n")
		}
		out.WriteString("  </" + wrapper + ">\n")
	}
	list("creators", b.creators, func(text string) string {
		return "<creator>\n      <creatorName>" + text + "</creatorName>\n    </creator>"
	})
	list("titles", b.titles, func(text string) string { return "<title>" + text + "</title>" })
	single := func(name, text string) {
		if text = escapeText(text); text == "" {
			out.WriteString("  <" + name + "/>\n")
		} else {
			out.WriteString("  <" + name + ">" + text + "</" + name + ">\n")
		}
	}
	single("publisher", b.publisher)
	single("publicationYear", yearIn.FindString(b.year))
	if b.kind != "" {
		out.WriteString(`  <resourceType resourceTypeGeneral="` + valueEscapes.Replace(b.kind) + `"/>` + "\n")
	}
	out.WriteString("  <sizes/>\n  <formats/>\n  <version/>\n</resource>\n")
	return []byte(out.String())
}
