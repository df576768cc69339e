package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/datacite-go/datacite-go/doi"
	"github.com/datacite-go/datacite-go/examples/platform/dataset"
	"github.com/datacite-go/datacite-go/examples/platform/sqlite"
)

// A Query says which datasets somebody wants to find.
type Query struct {
	Words string // see parse
	Page  Page
}

// A Page is a part of a list.
type Page struct{ Number, Size int } // the first has the number 1; one after the last means the last

// within returns the page with a number that there is in a list, and how much is before it.
func (p Page) within(total int) (page Page, before int) {
	p.Number = min(max(p.Number, 1), max(1, (total+p.Size-1)/p.Size))
	return p, (p.Number - 1) * p.Size
}

// A List is a page of datasets.
type List struct {
	Datasets []*dataset.Dataset
	Total    int // on all pages
	Page     Page
	Cut      bool // the query had too many words, and the last ones are ignored
}

// Pages is how many there are.
func (l List) Pages() int { return (l.Total + l.Page.Size - 1) / l.Page.Size }

// Search returns a page of the datasets that have a published version, chosen by what their
// latest one says: those with all words in the title first, then the newest. A rank by how often
// words occur would read every place of each. Nothing else of a dataset can be searched for, but
// the DOIs of all its published versions.
func (s *Store) Search(ctx context.Context, q Query) (list List, err error) {
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // list and total are of the same moment
	if err != nil {
		return list, err
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	match, cut := parse(q.Words)
	list.Cut = cut
	switch {
	case match != "":
		err = list.fill(ctx, tx, q.Page, "f.dataset",
			" FROM search JOIN found f ON f.dataset = search.rowid WHERE search MATCH ?1",
			"f.dataset IN (SELECT rowid FROM search WHERE search MATCH '{title} : (' || ?1 || ')') DESC, f.published DESC, "+
				"f.dataset DESC", match)
	case strings.TrimSpace(q.Words) == "":
		err = list.fill(ctx, tx, q.Page, "dataset", " FROM found", "published DESC, dataset DESC")
	default: // nothing that can be found, such as emoji
		list.Page = Page{1, q.Page.Size}
	}
	return list, err
}

// fill reads a page of the datasets whose ids a part of a statement chooses.
func (l *List) fill(ctx context.Context, db sqlite.Querier, page Page, id, chosen, order string, args ...any) error {
	total, err := sqlite.Column[int](ctx, db, "SELECT count(*)"+chosen, args...)
	if err != nil {
		return err
	}
	before := 0
	l.Total = total[0]
	l.Page, before = page.within(l.Total)
	ids, err := sqlite.Column[int64](ctx, db, "SELECT "+id+chosen+" ORDER BY "+order+" LIMIT ? OFFSET ?",
		append(slices.Clone(args), page.Size, before)...)
	if err != nil {
		return err
	}
	l.Datasets, err = inOrder(ctx, db, ids)
	return err
}

// Of returns a page of the datasets of a curator, the newest first.
func (s *Store) Of(ctx context.Context, owner string, page Page) (list List, err error) {
	err = list.fill(ctx, s.db, page, "id", " FROM dataset WHERE owner = ?", "id DESC", owner)
	return list, err
}

// A Landing is a landing page that everybody sees.
type Landing struct{ DOI, Changed string }

// Published returns the landing pages of the versions that are published, the newest first.
func (s *Store) Published(ctx context.Context, most int) ([]Landing, error) {
	return sqlite.All(ctx, s.db, func(row *sql.Rows, p *Landing) error { return row.Scan(&p.DOI, &p.Changed) },
		`SELECT v.doi, d.changed FROM version v JOIN dataset d ON d.id = v.dataset WHERE v.state = 'published' ORDER BY `+
			`v.id DESC LIMIT ?`, most)
}

// inOrder returns datasets in the order of their ids.
func inOrder(ctx context.Context, db sqlite.Querier, ids []int64) ([]*dataset.Dataset, error) {
	list, err := json.Marshal(append([]int64{}, ids...))
	if err != nil {
		return nil, err
	}
	all, err := datasets(ctx, db, "WHERE d.id IN (SELECT value FROM json_each(?))", string(list))
	slices.SortFunc(all, func(a, b *dataset.Dataset) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	return all, err
}

// indexForm is the form of what index stores. Whoever changes it adds 1, and the next
// Open builds the index again.
const indexForm = 2

// index makes the index agree with a dataset, in the transaction that changes what
// everybody sees of it.
func index(ctx context.Context, tx *sql.Tx, id int64) error {
	if err := sqlite.Do(ctx, tx, `DELETE FROM search WHERE rowid = ?1; DELETE FROM found WHERE dataset = ?1`,
		id); err != nil {
		return err
	}
	all, err := datasets(ctx, tx, "WHERE d.id = ?", id)
	if err != nil || len(all) == 0 {
		return err
	}
	d := all[0]
	v := d.Latest()
	if v == nil || v.State != dataset.Published {
		return nil
	}
	names, text := []string{}, append(v.About.Texts(), v.Year(), d.DOI)
	for _, c := range v.About.Creators {
		names = append(names, c.Given, c.Family)
	}
	for _, v := range d.Public() {
		if v.State == dataset.Published {
			text = append(text, v.DOI)
		}
	}
	if err := sqlite.Do(ctx, tx, `INSERT INTO search (rowid, title, names, text) VALUES (?, ?, ?, ?)`,
		id, fold(v.About.Title), fold(strings.Join(names, " ")), fold(strings.Join(text, "\n"))); err != nil {
		return err
	}
	return sqlite.Do(ctx, tx, `INSERT INTO found VALUES (?, ?)`, id, v.Published)
}

// reindex builds an index of another form again.
func (s *Store) reindex(ctx context.Context) error {
	return sqlite.Change(ctx, s.db, func(tx *sql.Tx) error {
		current, err := sqlite.Column[int](ctx, tx, `SELECT form FROM indexed`)
		if err != nil || slices.Equal(current, []int{indexForm}) {
			return err
		}
		if err := sqlite.Do(ctx, tx, `INSERT INTO search (search) VALUES ('delete-all'); DELETE FROM found`); err != nil {
			return err
		}
		ids, err := sqlite.Column[int64](ctx, tx, `SELECT id FROM dataset`)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := index(ctx, tx, id); err != nil {
				return err
			}
		}
		return sqlite.Do(ctx, tx, `INSERT OR REPLACE INTO indexed (id, form) VALUES (1, ?)`, indexForm)
	})
}

// What one search may cost: a word may be in all datasets, and one of a few letters is the
// beginning of many words.
const (
	maxWords = 12
	maxNames = 5
	shortest = 3 // letters of a word that is also found at the beginning of longer ones
)

var quotes = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`)

// parse reads what somebody typed as an expression of FTS5, as query.Typed does it for searches
// at DataCite: all words must match, those in quotes side by side; a DOI in any form finds its
// dataset, and several DOIs those of any of them. Everything else is literal. It also tells
// whether words at the end are ignored, since there are too many. Anything can be typed: no
// text is an error.
func parse(text string) (match string, cut bool) {
	names, text := doi.Find(text)
	cut = len(names) > maxNames
	var all, any []string
	for _, name := range names[:min(len(names), maxNames)] {
		any = append(any, `"`+fold(doi.Key(name))+`"`)
	}
	if len(any) > 0 {
		all = append(all, strings.Join(any, " OR "))
	}
	left := maxWords
	add := func(text string, quoted bool) {
		words := strings.Fields(fold(text))
		if len(words) > left {
			words, cut = words[:left], true
		}
		if len(words) == 0 {
			return
		}
		term := `"` + strings.Join(words, " ") + `"`
		if !quoted && utf8.RuneCountInString(words[len(words)-1]) >= shortest {
			term += "*"
		}
		if !slices.Contains(all, term) {
			all, left = append(all, term), left-len(words)
		}
	}
	parts := strings.Split(quotes.Replace(text), `"`)
	for i, part := range parts {
		if quoted := i%2 == 1 && i < len(parts)-1; quoted { // the last quote may be open
			add(part, true)
			continue
		}
		for word := range strings.FieldsSeq(strings.ReplaceAll(part, " AND ", " ")) {
			add(word, false)
		}
	}
	if len(all) > 0 {
		match = "(" + strings.Join(all, ") AND (") + ")"
	}
	return match, cut
}

// letters are those that have no accent to leave out.
var letters = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th",
	"ħ", "h", "ı", "i", "ς", "σ")

// fold brings a text into the form in which it is compared with others: words without
// case or accents, so that Muller is found in Müller.
func fold(text string) string {
	text = norm.NFKD.String(strings.ToLower(strings.ToValidUTF8(text, " ")))
	text = strings.Map(func(r rune) rune {
		if '\u0300' <= r && r <= '\u036f' { // accents
			return -1
		}
		return r
	}, text)
	return strings.Join(tokens(letters.Replace(norm.NFC.String(text))), " ")
}

// tokens are the words of a text. A character of a script that has no spaces between
// words is one of its own: a word is then found as a phrase.
func tokens(text string) []string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			b.WriteString(" " + string(r) + " ")
		case unicode.IsLetter(r), unicode.IsNumber(r):
			b.WriteRune(r)
		default:
			b.WriteByte(' ')
		}
	}
	return strings.Fields(b.String())
}
