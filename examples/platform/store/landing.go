package store

import (
	"context"
	"time"

	"github.com/datacite-go/datacite-go/examples/platform/dataset"
)

// A Landing is a landing page that everybody sees.
type Landing struct {
	dataset.Version        // as far as it says where the page is, and from when on its files are public
	changed         string // the last change that everybody sees; "" if it is from before that was kept
}

// Changed is when the page changed: by a curator, or since the embargo ended.
func (p Landing) Changed(now time.Time) string {
	if p.changed != "" && !p.Embargoed(now) {
		return max(p.changed, p.About.Embargo)
	}
	return p.changed
}

// Published returns the landing pages of the versions that are published, the newest first.
func (s *Store) Published(ctx context.Context, most int) (all []Landing, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT v.doi, d.changed, coalesce(json_extract(v.about, '$.Embargo'), '')
		FROM version v JOIN dataset d ON d.id = v.dataset WHERE v.state = 'published' ORDER BY v.id DESC LIMIT ?`, most)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var p Landing
		if err := rows.Scan(&p.DOI, &p.changed, &p.About.Embargo); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, rows.Err()
}
