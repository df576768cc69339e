package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/examples/platform/dataset"
	"github.com/datacite-go/datacite-go/examples/platform/sqlite"
	"github.com/datacite-go/datacite-go/reports/counter"
)

// operations are all that the store does, in a repository whose datasets are a draft, a published one with an older
// version, and a withdrawn one.
var operations = map[string]func(context.Context, *Store, []*dataset.Dataset) (any, error){
	"Create": func(ctx context.Context, s *Store, _ []*dataset.Dataset) (any, error) {
		return s.Create(ctx, "ada", "form", prefix, dataset.About{Title: "Stones"})
	},
	"Edit a draft": func(ctx context.Context, s *Store, d []*dataset.Dataset) (any, error) {
		return nil, s.Edit(ctx, d[0].Last(), dataset.About{Title: "Stones"})
	},
	"Edit": func(ctx context.Context, s *Store, d []*dataset.Dataset) (any, error) {
		return nil, s.Edit(ctx, d[1].Last(), dataset.About{Title: "Stones"})
	},
	"AddVersion": func(ctx context.Context, s *Store, d []*dataset.Dataset) (any, error) {
		return nil, s.AddVersion(ctx, d[1], prefix)
	},
	"Discard": func(ctx context.Context, s *Store, d []*dataset.Dataset) (any, error) {
		return nil, s.Discard(ctx, d[0])
	},
	"ChangeFiles": func(ctx context.Context, s *Store, d []*dataset.Dataset) (any, error) {
		return nil, s.ChangeFiles(ctx, d[0].Last(), func([]dataset.File) ([]dataset.File, error) { return nil, nil })
	},
	"Decide": func(ctx context.Context, s *Store, d []*dataset.Dataset) (any, error) {
		return nil, s.Decide(ctx, d[1], d[1].Last().As(dataset.Withdrawn, "2026-10-14", "Wrong."))
	},
	"Erase": func(ctx context.Context, s *Store, d []*dataset.Dataset) (any, error) {
		return nil, s.Erase(ctx, d[2].Last())
	},
	"SetReview": func(ctx context.Context, s *Store, d []*dataset.Dataset) (any, error) {
		return nil, s.SetReview(ctx, d[0], d[0].Last(), "x")
	},
	"Give": func(ctx context.Context, s *Store, _ []*dataset.Dataset) (any, error) {
		return s.Give(ctx, "ada", "eve")
	},
	"Rename": func(ctx context.Context, s *Store, d []*dataset.Dataset) (any, error) {
		return s.Rename(ctx, d[1].Last().DOI, prefix)
	},
	"Claim": func(ctx context.Context, s *Store, d []*dataset.Dataset) (any, error) {
		return nil, s.Claim(ctx, d[1].Last().DOI)
	},
	"Again": func(ctx context.Context, s *Store, d []*dataset.Dataset) (any, error) {
		return nil, s.Again(ctx, d[1].ID)
	},
	"TryNow": func(ctx context.Context, s *Store, d []*dataset.Dataset) (any, error) {
		return nil, s.TryNow(ctx, d[0].ID)
	},
	"Settled": func(ctx context.Context, s *Store, d []*dataset.Dataset) (any, error) {
		return nil, s.Settled(ctx, d[1])
	},
	"Failed": func(ctx context.Context, s *Store, d []*dataset.Dataset) (any, error) {
		return nil, s.Failed(ctx, d[1], "no answer", time.Unix(7, 0))
	},
	"Checked": func(ctx context.Context, s *Store, _ []*dataset.Dataset) (any, error) {
		return nil, s.Checked(ctx, time.Unix(7, 0), []Finding{{Text: "a", DOI: "b"}})
	},
	"Accessed": func(ctx context.Context, s *Store, d []*dataset.Dataset) (any, error) {
		at := func(number int, t time.Time) Access { return Access{d[1].ID, number, counter.Event{Time: t}} }
		return s.Accessed(ctx, at(1, time.Date(2027, 1, 2, 0, 0, 0, 0, time.UTC)), at(2, october), at(2, september))
	},
	"Missed": func(ctx context.Context, s *Store, _ []*dataset.Dataset) (any, error) {
		return nil, s.Missed(ctx, map[string]int64{"2026-10": 2})
	},
	"Counted": func(ctx context.Context, s *Store, _ []*dataset.Dataset) (any, error) {
		return nil, s.Counted(ctx, september, used)
	},
	"Display": func(ctx context.Context, s *Store, _ []*dataset.Dataset) (any, error) {
		return nil, s.Display(ctx, used)
	},
	"Reported": func(ctx context.Context, s *Store, _ []*dataset.Dataset) (any, error) {
		return nil, s.Reported(ctx, october.AddDate(0, 1, 0), Report{ID: "x", Complete: true}, used)
	},

	"Dataset": func(ctx context.Context, s *Store, d []*dataset.Dataset) (any, error) { return s.Dataset(ctx, d[1].ID) },
	"Find": func(ctx context.Context, s *Store, d []*dataset.Dataset) (any, error) {
		return three(s.Find(ctx, strings.TrimPrefix(d[1].Last().DOI, prefix+"/")))
	},
	"Numbered": func(ctx context.Context, s *Store, d []*dataset.Dataset) (any, error) {
		return three(s.Numbered(ctx, d[1].ID, 1))
	},
	"UnderReview": func(ctx context.Context, s *Store, _ []*dataset.Dataset) (any, error) {
		return three(s.UnderReview(ctx, "secret"))
	},
	"AllPublic": func(ctx context.Context, s *Store, _ []*dataset.Dataset) (any, error) { return s.AllPublic(ctx) },
	"Of":        func(ctx context.Context, s *Store, _ []*dataset.Dataset) (any, error) { return s.Of(ctx, "ada", all) },
	"Search": func(ctx context.Context, s *Store, _ []*dataset.Dataset) (any, error) {
		return s.Search(ctx, Query{Words: "ice", Page: all})
	},
	"Newest": func(ctx context.Context, s *Store, _ []*dataset.Dataset) (any, error) {
		return s.Search(ctx, Query{Page: all})
	},
	"Published": func(ctx context.Context, s *Store, _ []*dataset.Dataset) (any, error) { return s.Published(ctx, 9) },
	"Waiting":   func(ctx context.Context, s *Store, _ []*dataset.Dataset) (any, error) { return s.Waiting(ctx, 9) },
	"Due": func(ctx context.Context, s *Store, _ []*dataset.Dataset) (any, error) {
		now, _, err := s.Due(ctx)
		return now, err
	},
	"Findings": func(ctx context.Context, s *Store, _ []*dataset.Dataset) (any, error) { return three(s.Findings(ctx)) },
	"AccessesOn": func(ctx context.Context, s *Store, _ []*dataset.Dataset) (any, error) {
		return s.AccessesOn(ctx, "2026-10-15")
	},
	"AllMissed": func(ctx context.Context, s *Store, _ []*dataset.Dataset) (any, error) { return s.AllMissed(ctx) },
	"Accesses": func(ctx context.Context, s *Store, _ []*dataset.Dataset) (any, error) {
		return gathered(s.Accesses(ctx, october, october.AddDate(0, 1, 0)))
	},
	"Months": func(ctx context.Context, s *Store, _ []*dataset.Dataset) (any, error) { return s.Months(ctx) },
	"Usage": func(ctx context.Context, s *Store, _ []*dataset.Dataset) (any, error) {
		return three(s.Usage(ctx, prefix+"/a"))
	},
	"Reports": func(ctx context.Context, s *Store, _ []*dataset.Dataset) (any, error) { return s.Reports(ctx) },
	"Final":   func(ctx context.Context, s *Store, _ []*dataset.Dataset) (any, error) { return s.Final(ctx, september) },
	"Totals":  func(ctx context.Context, s *Store, _ []*dataset.Dataset) (any, error) { return s.Totals(ctx) },
}

// results are what those of the operations return that return no datasets.
var results = map[string]any{
	"Create": int64(4), "Give": int64(3), "Rename": prefix + "/new-1", "Accessed": 2, "AccessesOn": 1,
	"AllMissed": map[string]int64{"2026-10": 1}, "Months": []time.Time{october}, "Final": true,
	"Findings": []any{time.Unix(1, 0), []Finding{{Text: "differs"}}}, "Usage": []any{Used{8, 4}, Used{6, 2}},
	"Reports": []Report{{"2026-10", "october", 1, false, Used{7, 3}}, {"2026-09", "september", 2, true, Used{1, 1}}},
	"Totals": Totals{Datasets: 3, Waiting: 3, Accesses: 1, Files: 1, Bytes: 1, Counted: Used{8, 4},
		Displayed: Used{6, 2}},
}

var (
	september = time.Date(2026, time.September, 1, 0, 0, 0, 0, time.UTC)
	october   = september.AddDate(0, 1, 0)
	used      = map[string]Used{prefix + "/a": {7, 3}}
)

func three[A, B any](a A, b B, err error) (any, error) { return []any{a, b}, err }

func gathered[T any](seq iter.Seq2[T, error]) (all []T, err error) {
	for one, err := range seq {
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// stock fills a store, and returns its datasets in the order of operations.
func stock(t *testing.T, s *Store) {
	ctx := t.Context()
	id, err := s.Create(ctx, "ada", "", prefix, dataset.About{Title: "Draft"})
	require.NoError(t, err)
	f, err := s.Receive("a.csv", strings.NewReader("a"), 9)
	require.NoError(t, err)
	require.NoError(t, s.ChangeFiles(ctx, s.get(t, id).Last(), func([]dataset.File) ([]dataset.File, error) {
		return []dataset.File{f}, nil
	}))
	require.NoError(t, s.Release(ctx, []dataset.File{f}))
	draft := s.get(t, id)
	require.NoError(t, s.SetReview(ctx, draft, draft.Last(), "secret"))
	for _, title := range []string{"Ice", "Ice that is gone"} {
		d := s.publish(t, dataset.About{Title: title, Description: "Cold"})
		if title == "Ice" {
			require.NoError(t, s.AddVersion(ctx, d, prefix))
			d = s.get(t, d.ID)
		}
		require.NoError(t, s.Decide(ctx, d,
			d.Last().As(map[string]dataset.State{"Ice": dataset.Published}[title], "2026-10-13", "")))
	}
	d := s.get(t, 3)
	require.NoError(t, s.Decide(ctx, d, d.Last().As(dataset.Withdrawn, "2026-10-14", "Wrong.")))
	require.NoError(t, s.Missed(ctx, map[string]int64{"2026-10": 1}))
	_, err = s.Accessed(ctx, Access{2, 2, counter.Event{Time: october.AddDate(0, 0, 14)}})
	require.NoError(t, err)
	require.NoError(t, s.Display(ctx, map[string]Used{prefix + "/a": {6, 2}}))
	require.NoError(t, s.Reported(ctx, september, Report{ID: "september", Datasets: 2, Complete: true},
		map[string]Used{prefix + "/a": {1, 1}}))
	require.NoError(t, s.Reported(ctx, october, Report{ID: "october", Datasets: 1}, used))
	require.NoError(t, s.Checked(ctx, time.Unix(1, 0), []Finding{{Text: "differs"}}))
	require.NoError(t, sqlite.Do(ctx, s.db, `UPDATE version SET numbered = 1`))
}

// The accesses of a month are there until its report and that of a later month are complete.
func TestAccessesOfReportedMonthsGo(t *testing.T) {
	s := open(t)
	stock(t, s)
	for months, want := range []int{1, 0} {
		require.NoError(t, s.Reported(t.Context(), october.AddDate(0, months, 0), Report{Complete: true}, nil))
		n, err := s.AccessesOn(t.Context(), "2026-10-15")
		require.NoError(t, err)
		assert.Equal(t, want, n)
	}
}

// What cannot be read or stored is an error, and then nothing is stored: for each table that the database lacks, an
// operation fails without an effect, or does all that it does with it.
func TestWholeOrNotAtAll(t *testing.T) {
	base := filepath.Join(t.TempDir(), "data")
	s, err := Open(base)
	require.NoError(t, err)
	stock(t, s)
	tables, err := sqlite.Column[string](t.Context(), s.db,
		`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'search_%'`)
	require.NoError(t, err)
	require.NoError(t, errors.Join(s.Close(), os.Truncate(filepath.Join(base, "reserve"), 0))) // so that copies are small
	fresh := func() (*Store, []*dataset.Dataset) {
		folder := filepath.Join(t.TempDir(), "data")
		require.NoError(t, os.CopyFS(folder, os.DirFS(base)))
		require.NoError(t, os.Chmod(folder, 0o700))
		s, err := Open(folder)
		require.NoError(t, err)
		return s, []*dataset.Dataset{s.get(t, 1), s.get(t, 2), s.get(t, 3)}
	}
	for name, operation := range operations {
		do := func(s *Store, d []*dataset.Dataset) (any, error) {
			n := 0
			s.choose = func(prefix string) string { n++; return fmt.Sprint(prefix, "/new-", n) }
			return operation(t.Context(), s, d)
		}
		t.Run(name, func(t *testing.T) {
			s, datasets := fresh()
			before := s.dump(t, tables)
			wanted, err := do(s, datasets)
			require.NoError(t, err)
			after := s.dump(t, tables)
			require.NoError(t, s.Close())
			if result, given := results[name]; given {
				assert.Equal(t, result, wanted)
			}
			failed := 0
			s, datasets = fresh()
			for _, table := range tables {
				require.NoError(t, sqlite.Do(t.Context(), s.db, "ALTER TABLE "+table+" RENAME TO away"))
				got, err := do(s, datasets)
				require.NoError(t, sqlite.Do(t.Context(), s.db, "ALTER TABLE away RENAME TO "+table))
				now := s.dump(t, tables)
				switch {
				case table == "file" && now == after: // it is stored, and then it is not known whether files may go
				case err != nil:
					failed++
					assert.Equal(t, before, now, "without %s", table)
				default:
					assert.Equal(t, wanted, got, "without %s", table)
					assert.Equal(t, after, now, "without %s", table)
				}
				if before != now {
					require.NoError(t, s.Close())
					s, datasets = fresh()
				}
			}
			assert.Positive(t, failed)
			require.NoError(t, s.Close())
		})
	}
}

// dump is all that tables have, but for the moments of changes.
func (s *Store) dump(t *testing.T, tables []string) string {
	t.Helper()
	var b strings.Builder
	for _, table := range tables {
		columns, err := sqlite.Column[string](t.Context(), s.db,
			`SELECT group_concat(name, '||"|"||') FROM pragma_table_info(?) WHERE name NOT IN ('changed', 'due')`, table)
		require.NoError(t, err)
		rows, err := sqlite.Column[string](t.Context(), s.db,
			"SELECT concat_ws('|', "+strings.ReplaceAll(columns[0], `||"|"||`, ", ")+") FROM "+table)
		require.NoError(t, err)
		fmt.Fprintln(&b, table, rows)
	}
	return b.String()
}
