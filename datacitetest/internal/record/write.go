package record

import (
	"net/http"
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

// Missing names the mandatory properties that a record lacks.
func Missing(o object) []string {
	var names []string
	for _, name := range []string{"creators", "titles"} {
		if items, _ := o[name].([]any); len(items) == 0 {
			names = append(names, name)
		}
	}
	publisher := nameOrObject(o["publisher"], false)
	types, _ := o["types"].(object)
	if wire.String(publisher) == "" {
		names = append(names, "publisher")
	}
	if o["publicationYear"] == nil {
		names = append(names, "publicationYear")
	}
	if wire.String(types["resourceTypeGeneral"]) == "" {
		names = append(names, "types")
	}
	return names
}
