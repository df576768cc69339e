package record

import (
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/datacitetest/internal/wire"
)

// Wrong is one thing wrong with a record: the member, and why.
type Wrong [2]string

// Invalid is 422 with one entry for each thing wrong.
func Invalid(name string, all ...Wrong) *wire.Failure {
	f := wire.Fail(http.StatusUnprocessableEntity, "%s: %s", all[0][0], all[0][1])
	var entries []any
	for _, w := range all {
		entries = append(entries, object{"source": w[0], "uid": name, "title": w[1]})
	}
	f.Body = object{"errors": entries}
	return f
}

// Settle finishes a change: times, and the entry in the handle system.
func (rec *Record) Settle(now time.Time, delay time.Duration) {
	rec.Updated = now
	rec.Version = max(rec.Version, 0)
	if rec.State != Draft {
		rec.Register(now, delay)
	}
}

// AfterEvent is the state after an event. An event that does not apply to the state
// changes nothing.
func AfterEvent(state, event string) string {
	switch {
	case event == "publish", event == "show" && state == Registered:
		return Findable
	case event == "register" && state == Draft, event == "hide" && state == Findable:
		return Registered
	}
	return state
}

// metadataMembers are the attributes that may be written. A sent attribute is
// replaced as a whole; other attributes are silently ignored.
var metadataMembers = append(slices.DeleteFunc(slices.Clone(columns), func(name string) bool { return name == "url" }), "version", "alternateIdentifiers")

// Write stores what was sent. Attributes win over XML sent with them.
func (rec *Record) Write(o object) error {
	encoded := wire.String(o["xml"])
	if encoded != "" {
		if err := rec.writeXML(encoded); err != nil {
			return err
		}
	}
	changed := maps.Clone(o)
	maps.DeleteFunc(changed, func(name string, _ any) bool { return !slices.Contains(metadataMembers, name) })
	if len(changed) > 0 {
		if err := rec.writeMembers(changed); err != nil {
			return err
		}
		if encoded == "" {
			rec.XML = nil // it no longer matches the record
		}
	}
	if encoded != "" || len(changed) > 0 {
		rec.Version++
	}
	if v, sent := o["url"]; sent {
		rec.URL = wire.String(v)
	}
	if reason, sent := o["reason"]; sent {
		rec.Attributes = maps.Clone(rec.Attributes)
		rec.Attributes["reason"] = reason
	}
	return nil
}

func (rec *Record) writeMembers(changed object) error {
	for name, v := range changed {
		v, err := memberValue(name, v)
		if err != nil {
			return Invalid(rec.DOI, Wrong{name, err.Error()})
		}
		changed[name] = v
	}
	// One is an alias of the other, even when null (datacite_dois_controller.rb:853-873).
	others, sent := changed["alternateIdentifiers"]
	delete(changed, "alternateIdentifiers")
	if _, both := changed["identifiers"]; sent && !both {
		changed["identifiers"] = nil
		if list, ok := others.([]any); ok {
			changed["identifiers"] = renamed(list, "alternateIdentifier", "identifier")
		}
	}
	attributes := maps.Clone(rec.Attributes)
	if _, sent := changed["identifiers"]; sent {
		delete(attributes, "alternateIdentifiers")
	}
	maps.Copy(attributes, changed)
	maps.DeleteFunc(attributes, func(_ string, v any) bool { return v == nil })
	rec.Attributes = attributes
	return nil
}

func (rec *Record) writeXML(encoded string) error {
	source, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil {
		return Invalid(rec.DOI, Wrong{"xml", "is not base64"})
	}
	if wire.Pieces(source) > wire.MaxPieces {
		return wire.ErrTooMuch
	}
	f, err := Recognise(source)
	if err == nil {
		err = rec.SetMetadata(f, source)
	}
	if err != nil {
		return Invalid(rec.DOI, Wrong{"xml", err.Error()})
	}
	return nil
}
