package usage

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
	"github.com/datacite-go/datacite-go/internal/jsonlex"
	"github.com/datacite-go/datacite-go/internal/lazy"
)

type object = map[string]any

// public is the public address of reports, whatever address they are fetched from.
const public = "https://api.datacite.org/reports/"

// doiOrg begins a DOI that is written as a URL.
const doiOrg = "https://doi.org/"

// URL is the address that the workers fetch a report from.
func URL(id string) string { return public + id }

// A Report is a usage report as GET shows it.
type Report struct {
	ID       string
	Header   []byte   // JSON
	Datasets []byte   // JSON
	Subsets  [][]byte // gzip
}

// reader reads the datasets of a report.
type reader struct {
	url    string // of the report
	header object
}

// message is one instance as a worker passes it on.
type message struct {
	report string // URL
	object string // DOI as a URL; "" if it is not read as one
	views  bool   // else downloads
	exact  bool   // metric and access method are in lower case
	count  any
	begin  any // begin-date of the header
}

// errStopped stops reading a report.
var errStopped = errors.New("the worker fails")

// read passes on the messages of a report, part by part, until an error stops the worker.
func read(url string, report Report, send func([]message)) error {
	r := reader{url: url}
	if err := json.Unmarshal(report.Header, &r.header); err != nil {
		return err
	}
	packed, err := r.isCompressed()
	if err != nil {
		return err
	}
	if !packed {
		messages, err := r.datasets(jsonlex.OfBytes(report.Datasets).Tolerate(true))
		send(messages)
		return err
	}
	r.url = URL(report.ID)
	for _, subset := range report.Subsets {
		messages, err := r.subset(subset)
		if err != nil {
			return err
		}
		send(messages)
	}
	return nil
}

// isCompressed says whether any exception has the code 69. A list of only nulls is empty.
func (r reader) isCompressed() (found bool, err error) {
	list, ok := r.header["exceptions"].([]any)
	if !ok && !wire.IsAbsent(r.header["exceptions"]) {
		return false, errStopped
	}
	if !slices.ContainsFunc(list, func(v any) bool { return v != nil && v != false }) {
		return false, nil
	}
	for _, exception := range list {
		o, ok := exception.(object)
		if !ok {
			return false, errStopped
		}
		found = found || o["code"] == 69.0
	}
	return found, nil
}

// subset reads a whole subset before any of it counts. The last member report-datasets
// wins; without one the list is empty. Only the first gzip member is read.
func (r reader) subset(packed []byte) (messages []message, err error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	l := jsonlex.New(io.LimitReader(z, wire.MaxInflated)).Tolerate(true)
	isList := true
	for name := range l.Members() {
		if string(name) != "report-datasets" {
			l.Skip()
			continue
		}
		if messages, isList = nil, l.Kind() == '['; !isList {
			l.Skip()
			continue
		}
		messages, _ = r.datasets(l)
	}
	if l.End(); !isList {
		return nil, errStopped
	}
	return messages, l.Err()
}

// Limits of the embedded service: views and downloads of one part, and bytes of a dataset.
const (
	maxMessages = 2 * wire.MaxDatasets
	maxDataset  = 1 << 20
)

// datasets reads a list of datasets. A malformed one is skipped.
func (r reader) datasets(l *jsonlex.Lexer) (messages []message, err error) {
	l.List()
	for i := 0; l.Element(i); i++ {
		l.Hold()
		l.Skip()
		if text := l.Held(); len(text) <= maxDataset {
			messages = r.dataset(messages, text)
		}
		if len(messages) > maxMessages {
			l.Fail(errStopped)
		}
	}
	return messages, l.Err()
}

// maxInstances of a dataset, or members of an instance that is not in a list.
const maxInstances = 8

// dataset adds the messages of a dataset: of its first DOI and first performance, all or
// none.
func (r reader) dataset(messages []message, text []byte) []message {
	var dataset object
	if json.Unmarshal(text, &dataset) != nil {
		return messages
	}
	begin, ok := r.beginDate()
	instances := first(dataset["performance"])["instance"]
	if one, isOne := instances.(object); isOne && len(one) <= maxInstances {
		instances = []any{one}
	}
	list, isList := instances.([]any)
	if !ok || !isList || len(list) > maxInstances {
		return messages
	}
	id, _ := first(dataset["dataset-id"])["value"].(string)
	name, whole := doiURL(id), messages
	for _, v := range list {
		if _, isText := v.(string); isText {
			continue // no members, which is not an error
		}
		instance, ok := v.(object)
		if !ok {
			return messages
		}
		relation := wire.String(instance["metric-type"]) + "-" + wire.String(instance["access-method"])
		m := message{report: r.url, object: name, count: instance["count"], begin: begin}
		if m.views, m.exact, ok = shown(relation); ok {
			whole = append(whole, m)
		}
	}
	return whole
}

// beginDate is the begin-date of the header, in which created is required.
func (r reader) beginDate() (begin any, ok bool) {
	period, isObject := r.header["reporting-period"].(object)
	_, created := r.header["created"]
	return period["begin-date"], created && (isObject || r.header["reporting-period"] == nil)
}

// The relations of events that a record shows. The service stores others but never
// shows them, so they are left out here.
const (
	viewed     = "unique-dataset-investigations-regular"
	downloaded = "unique-dataset-requests-regular"
)

// shown says which of the two relations a metric is. One in capitals has the same key, but
// the record does not show it.
func shown(relation string) (views, exact, ok bool) {
	lower := strings.ToLower(relation)
	return lower == viewed, lower == relation, lower == viewed || lower == downloaded
}

// first is the first item of a list if it is an object, else nil.
func first(v any) object {
	if list, ok := v.([]any); ok && len(list) > 0 {
		o, _ := list[0].(object)
		return o
	}
	return nil
}

var doiForm = lazy.Regexp(`\A(?:https?://(?:dx\.)?doi.org/)?(?:doi:)?(10\.[0-9]{4,5}/.+)\z`)

// spelled removes zero-width spaces, and replaces the one capital whose small letter is two
// characters.
var spelled = strings.NewReplacer("\u200b", "", "İ", "i̇")

// doiURL is a DOI as a URL, as in events, "" if the text is not read as a DOI.
func doiURL(id string) string {
	parts := doiForm().FindStringSubmatch(id)
	if parts == nil {
		return ""
	}
	var url strings.Builder
	url.WriteString(doiOrg)
	name := strings.ToLower(spelled.Replace(parts[1]))
	for i := range len(name) {
		if c := name[i]; c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("-._~!$&'()*+,;=:@/?#", c) >= 0 {
			url.WriteByte(c)
		} else {
			fmt.Fprintf(&url, "%%%02x", c)
		}
	}
	return url.String()
}
