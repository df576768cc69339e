package counter_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/reports"
	"github.com/datacite-go/datacite-go/reports/counter"
)

// A platform stores accesses in its database while it serves them, and counts a month.
func ExampleHandler() {
	db, err := sql.Open("memory", "") // SQLite, PostgreSQL, …
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`CREATE TABLE accesses (at TIMESTAMP, event TEXT)`); err != nil {
		log.Fatal(err)
	}

	mux := http.NewServeMux()
	mux.HandleFunc("GET /data/{id}", func(w http.ResponseWriter, r *http.Request) {
		counter.Accessed(r, func(e *counter.Event) { e.DOI, e.Request = "10.5072/"+r.PathValue("id"), true })
		fmt.Fprintln(w, "year,rain")
	})
	site := counter.Handler(mux, func(ctx context.Context, e counter.Event) error {
		text, err := json.Marshal(e)
		if err != nil {
			return err
		}
		_, err = db.ExecContext(ctx, `INSERT INTO accesses (at, event) VALUES (?, ?)`, e.Time.Unix(), text)
		return err
	}, &counter.HandlerOptions{Pseudonyms: &counter.Pseudonyms{}})
	for range 2 { // a double click
		site.ServeHTTP(httptest.NewRecorder(), browser("https://data.example.org/data/abc"))
	}

	now := time.Now().UTC()
	month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	events := accesses(db, month, month.AddDate(0, 1, 0).Add(30*time.Second)) // a double click may follow the month
	for row, err := range counter.Count(events, &counter.Options{Period: reports.Month(now.Year(), now.Month())}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row.DOI, row.Metric, row.Count)
	}
	// Output:
	// 10.5072/abc total-dataset-investigations 1
	// 10.5072/abc total-dataset-requests 1
	// 10.5072/abc unique-dataset-investigations 1
	// 10.5072/abc unique-dataset-requests 1
}

// accesses yields the accesses from a time until another one.
func accesses(db *sql.DB, from, until time.Time) iter.Seq2[counter.Event, error] {
	return func(yield func(counter.Event, error) bool) {
		rows, err := db.Query(`SELECT event FROM accesses WHERE at >= ? AND at < ?`, from.Unix(), until.Unix())
		if err != nil {
			yield(counter.Event{}, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			var text []byte
			var e counter.Event
			err := rows.Scan(&text)
			if err == nil {
				err = json.Unmarshal(text, &e)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(counter.Event{}, err)
		}
	}
}

func browser(address string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, address, nil)
	r.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0")
	return r
}

func init() { sql.Register("memory", &memory{}) }

// memory is a database with one table, of times and texts.
type memory struct{ rows [][]driver.Value }

func (m *memory) Open(string) (driver.Conn, error) { return m, nil }
func (m *memory) Begin() (driver.Tx, error)        { return nil, errors.ErrUnsupported }
func (m *memory) Close() error                     { return nil }

func (m *memory) Prepare(query string) (driver.Stmt, error) { return statement{m, query}, nil }

type statement struct {
	*memory
	query string
}

func (s statement) NumInput() int { return strings.Count(s.query, "?") }

func (s statement) Exec(values []driver.Value) (driver.Result, error) {
	if strings.HasPrefix(s.query, "INSERT") {
		s.memory.rows = append(s.memory.rows, values)
	}
	return driver.ResultNoRows, nil
}

func (s statement) Query(between []driver.Value) (driver.Rows, error) {
	found := &selected{}
	for _, row := range s.memory.rows {
		if at := row[0].(int64); between[0].(int64) <= at && at < between[1].(int64) {
			found.texts = append(found.texts, row[1])
		}
	}
	return found, nil
}

type selected struct{ texts []driver.Value }

func (s *selected) Columns() []string { return []string{"event"} }
func (s *selected) Close() error      { return nil }

func (s *selected) Next(to []driver.Value) error {
	if len(s.texts) == 0 {
		return io.EOF
	}
	to[0], s.texts = s.texts[0], s.texts[1:]
	return nil
}
