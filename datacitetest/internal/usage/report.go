package usage

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

type object = map[string]any

// public is where the service has its reports, whatever address they are fetched from.
const public = "https://api.datacite.org/reports/"

// doiOrg begins a DOI that is written as a URL.
const doiOrg = "https://doi.org/"

// URL is the address that the workers fetch a report from.
func URL(id string) string { return public + id }

// report is what the datasets of a report have in common.
type report struct {
	url    string
	header object
}

// message is what the workers pass on of one instance.
type message struct {
	report string // URL
	object string // DOI as a URL; "" if it is not read as one
	views  bool   // else downloads
	exact  bool   // metric and access method are in lower case
	count  any
	begin  any // begin-date of the header
}

// errStopped ends the work on a report or on a dataset.
var errStopped = errors.New("the worker fails")

// read sends the messages of a report as GET shows it, until something stops the worker.
func read(url string, shown []byte, send func(message)) error {
	var doc struct {
		Report struct {
			ID       string                  `json:"id"`
			Header   object                  `json:"report-header"`
			Datasets json.RawMessage         `json:"report-datasets"`
			Subsets  []struct{ Gzip []byte } `json:"report-subsets"`
		} `json:"report"`
	}
	if err := json.Unmarshal(shown, &doc); err != nil {
		return err
	}
	r := report{url, doc.Report.Header}
	packed, err := r.isCompressed()
	if err != nil {
		return err
	}
	if !packed {
		return r.datasets(decoder(bytes.NewReader(doc.Report.Datasets)), send)
	}
	r.url = URL(doc.Report.ID)
	for _, subset := range doc.Report.Subsets {
		var messages []message
		if err := r.subset(subset.Gzip, &messages); err != nil {
			return err
		}
		for _, m := range messages {
			send(m)
		}
	}
	return nil
}

func decoder(r io.Reader) *json.Decoder {
	d := json.NewDecoder(r)
	d.UseNumber()
	return d
}

// isCompressed says whether any exception has the code 69. Nulls alone are no exceptions.
func (r report) isCompressed() (found bool, err error) {
	list, ok := r.header["exceptions"].([]any)
	if !ok && !isBlank(r.header["exceptions"]) {
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

// isBlank tells what counts as nothing.
func isBlank(v any) bool {
	switch v := v.(type) {
	case string:
		return wire.IsBlank(v)
	case object:
		return len(v) == 0
	}
	return v == nil || v == false
}

// subset reads all of a subset before any of it counts. The last list of datasets is the
// one, and no list is an empty one. After the first gzip member nothing is read.
func (r report) subset(packed []byte, messages *[]message) error {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	z.Multistream(false)
	d := decoder(io.LimitReader(z, wire.MaxInflated))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return errStopped
	}
	for d.More() {
		name, err := d.Token()
		if err == nil && name == "report-datasets" {
			*messages = nil
			err = r.datasets(d, func(m message) { *messages = append(*messages, m) })
		} else if err == nil {
			err = d.Decode(new(json.RawMessage))
		}
		if err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errStopped
	}
	return nil
}

// datasets reads a list of datasets. One that is broken ends only itself.
func (r report) datasets(d *json.Decoder, send func(message)) error {
	if start, err := d.Token(); err != nil || start != json.Delim('[') {
		return errStopped
	}
	for d.More() {
		var dataset any
		if err := d.Decode(&dataset); err != nil {
			return err
		}
		messages, err := r.dataset(dataset)
		if err != nil {
			continue
		}
		for _, m := range messages {
			send(m)
		}
	}
	_, err := d.Token()
	return err
}

// maxInstances of a dataset, or members of an instance that is not in a list.
const maxInstances = 8

// dataset gives the messages of a dataset: those of its first DOI and its first
// performance.
func (r report) dataset(v any) (messages []message, err error) {
	dataset, _ := v.(object)
	doi, _ := first(dataset["dataset-id"])["value"].(string)
	period, isObject := r.header["reporting-period"].(object)
	if _, created := r.header["created"]; !created || !isObject && r.header["reporting-period"] != nil {
		return nil, errStopped
	}
	instances := first(dataset["performance"])["instance"]
	if one, ok := instances.(object); ok && len(one) <= maxInstances {
		instances = []any{one}
	}
	list, ok := instances.([]any)
	if !ok || len(list) > maxInstances {
		return nil, errStopped
	}
	for _, v := range list {
		if _, ok := v.(string); ok {
			continue // a text has no members, and that is no error
		}
		instance, ok := v.(object)
		if !ok {
			return nil, errStopped
		}
		metric := wire.String(instance["metric-type"]) + "-" + wire.String(instance["access-method"])
		m := message{report: r.url, object: doiURL(doi), count: instance["count"], begin: period["begin-date"]}
		if m.views, m.exact, ok = shown(metric); ok {
			messages = append(messages, m)
		}
	}
	return messages, nil
}

// The relations of events that a record shows. All others are kept and shown nowhere, so
// they are left out here.
const (
	viewed     = "unique-dataset-investigations-regular"
	downloaded = "unique-dataset-requests-regular"
)

// shown says which of the two relations it is: in capitals it is one for the key of the
// event, but the record does not show it.
func shown(relation string) (views, exact, ok bool) {
	lower := strings.ToLower(relation)
	return lower == viewed, lower == relation, lower == viewed || lower == downloaded
}

// first is the object at the start of a list, nil without one.
func first(v any) object {
	if list, ok := v.([]any); ok && len(list) > 0 {
		o, _ := list[0].(object)
		return o
	}
	return nil
}

var doiForm = regexp.MustCompile(`\A(?:https?://(?:dx\.)?doi.org/)?(?:doi:)?(10\.[0-9]{4,5}/.+)\z`)

// doiURL is a DOI as events name it, "" if they do not read it as one.
func doiURL(id string) string {
	parts := doiForm.FindStringSubmatch(id)
	if parts == nil {
		return ""
	}
	var url strings.Builder
	url.WriteString(doiOrg)
	name := strings.ToLower(strings.NewReplacer("\u200b", "", "İ", "i̇").Replace(parts[1]))
	for i := range len(name) {
		if c := name[i]; c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("-._~!$&'()*+,;=:@/?#", c) >= 0 {
			url.WriteByte(c)
		} else {
			fmt.Fprintf(&url, "%%%02x", c)
		}
	}
	return url.String()
}
