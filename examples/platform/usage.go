package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"net/http"
	"sync"
	"time"

	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
)

// count stores an access to a public dataset: a request if its file is downloaded.
// Which accesses count is decided when the month is reported.
func (p *Platform) count(r *http.Request, status int, d *Dataset, request bool) error {
	e, ok := counter.FromRequest(r, status, p.config.Proxies)
	if !ok || d.State != Published {
		return nil
	}
	e.Request = request
	e.Address = p.visitors.pseudonym(e.Address, e.Time)
	return p.store.accessed(r.Context(), d.ID, e)
}

// visitors stand for the addresses of a day. The key is in memory only and lives for
// the day, so that nobody can find out later whose address it was.
type visitors struct {
	mu  sync.Mutex
	day string
	key []byte
}

// pseudonym returns the same text for the same address, during one day.
func (v *visitors) pseudonym(address string, at time.Time) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if day := at.UTC().Format(time.DateOnly); day > v.day {
		v.day, v.key = day, make([]byte, 32)
		_, _ = rand.Read(v.key) // never fails
	}
	hash := hmac.New(sha256.New, v.key)
	hash.Write([]byte(address))
	return hex.EncodeToString(hash.Sum(nil)[:16])
}

// usage yields the counts of a month, with what the report says of the datasets.
func (p *Platform) usage(ctx context.Context, month time.Time) iter.Seq2[reports.Row, error] {
	return func(yield func(reports.Row, error) bool) {
		datasets, err := p.store.datasets(ctx, "")
		if err != nil {
			yield(reports.Row{}, err)
			return
		}
		byDOI := make(map[string]*Dataset, len(datasets))
		for _, d := range datasets {
			byDOI[doi.Key(d.DOI)] = d
		}
		const after = 30 * time.Second // a double click may be that long after the end of the month
		events := p.store.accesses(ctx, month, month.AddDate(0, 1, 0).Add(after))
		for r, err := range counter.Count(events, &counter.Options{Period: reports.Month(month.Year(), month.Month())}) {
			if err == nil {
				r.Platform, r.Publisher = p.config.Name, p.config.Name
				if d := byDOI[doi.Key(r.DOI)]; d != nil { // nil: it got another DOI a moment ago
					r.Title, r.YOP = d.Title, d.Year
				}
			}
			if !yield(r, err) {
				return
			}
		}
	}
}
